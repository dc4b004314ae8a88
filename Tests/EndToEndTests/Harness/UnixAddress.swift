import Foundation

/// A Unix socket address.
struct UnixAddress {
    private var address = sockaddr_un()

    init(_ path: String) {
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            precondition(path.utf8.count < room.count, "The path is too long for a socket: \(path)")
            room.copyBytes(from: path.utf8)
        }
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// A socket that no child process inherits.
func makeSocket(_ domain: Int32, _ type: __socket_type) -> Int32 {
    socket(domain, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0)
}

extension Int32 {
    /// Sends all of it, or as much as the other side takes before it goes away.
    func sendAll(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(self, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
