/// Hosts on this machine. Plain http to them stays off the network, and requests to them use no proxy. The daemon and
/// the network helper share this check so that they agree.
package enum Loopback {
    /// Returns whether a host is a loopback address or `localhost`.
    package static func isHost(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        guard let address = NetworkAddress(host) else { return false }
        return switch address.bytes.count {
        case 4: address.bytes[0] == 127
        default: address.bytes.dropLast().allSatisfy { $0 == 0 } && address.bytes.last == 1
        }
    }
}
