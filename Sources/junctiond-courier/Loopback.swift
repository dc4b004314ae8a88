/// What is on this machine: no proxy has any business in between.
enum Loopback {
    /// Whether a host is a loopback address, or the name of one.
    static func isHost(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        guard let address = NetworkAddress(host) else { return false }
        return switch address.bytes.count {
        case 4: address.bytes[0] == 127
        default: address.bytes.dropLast().allSatisfy { $0 == 0 } && address.bytes.last == 1
        }
    }
}
