/// What is on this machine: plain http shows nothing to a network there, and no proxy has any business in between. Daemon and
/// courier ask the same, so that neither takes for this machine what the other does not.
package enum Loopback {
    /// Whether a host is a loopback address, or the name of one.
    package static func isHost(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        guard let address = NetworkAddress(host) else { return false }
        return switch address.bytes.count {
        case 4: address.bytes[0] == 127
        default: address.bytes.dropLast().allSatisfy { $0 == 0 } && address.bytes.last == 1
        }
    }
}
