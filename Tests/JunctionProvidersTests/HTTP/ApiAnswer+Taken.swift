import JunctionSession
import NIOCore

extension ApiAnswer {
    /// Returns the whole body. Takes it on the event loop of the connection, as the server does.
    func taken(on loop: any EventLoop) async throws -> [UInt8] {
        guard let stream else { return body }
        var all: [UInt8] = []
        while true {
            while let part = try await loop.submit({ stream.take(atMost: .max) { Array($0) } }).get() { all += part }
            switch stream.end {
            case .complete: return all
            case .broken(let why): throw why
            case nil: await stream.arrived()
            }
        }
    }
}
