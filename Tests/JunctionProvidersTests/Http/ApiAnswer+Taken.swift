import JunctionSession

extension ApiAnswer {
    /// The body, taken as it comes, as whoever gathers it does.
    func taken() async throws(Unavailability) -> [UInt8] {
        guard let stream else { return body }
        var all: [UInt8] = []
        while true {
            while stream.take(atMost: .max, { all += $0 }) != nil {}
            switch stream.end {
            case .complete: return all
            case .broken(let why): throw why
            case nil: await stream.arrived()
            }
        }
    }
}
