import CLinux
import Glibc

/// The service manager's end of the notify protocol: a datagram socket, by path or by abstract name.
package struct NotifySocket: Sendable {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// - Parameter name: what `NOTIFY_SOCKET` says, a path, or `@` and an abstract name; `nil` for anything else, or too long.
    package init?(_ name: String) {
        var bytes = Array(name.utf8)
        switch bytes.first {
        case UInt8(ascii: "/"): bytes.append(0)
        case UInt8(ascii: "@"): bytes[0] = 0
        default: return nil
        }
        guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // An abstract name ends where the length says: a byte more would be another name.
        length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + bytes.count)
    }

    /// Sends one datagram, without waiting. A socket a message: they are rare, and this way the service manager may restart in
    /// between.
    ///
    /// - Parameter descriptor: goes with the message, if there is one.
    /// - Returns: the errno of what failed, or zero.
    package func send(_ text: String, with descriptor: Int32? = nil) -> Int32 {
        let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard sender >= 0 else { return errno }
        defer { close(sender) }
        let bytes = Array(text.utf8)
        return withSocketAddress { address, length in
            if let descriptor {
                return clinux_send_descriptor(sender, bytes, bytes.count, address, length, descriptor)
            }
            let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
            return sendto(sender, bytes, bytes.count, flags, address, length) < 0 ? errno : 0
        }
    }

    /// Returns when there is space for a datagram, or nobody to send one to.
    package func waitForRoom() {
        // Only a connected socket knows how full the other one is.
        let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard sender >= 0, withSocketAddress({ connect(sender, $0, $1) }) == 0 else {
            if sender >= 0 { close(sender) }
            poll(nil, 0, Self.longPause)
            return
        }
        defer { close(sender) }
        var room = pollfd(fd: sender, events: Int16(POLLOUT), revents: 0)
        // The limit is for a service manager that has been replaced meanwhile: the one that we look at may be the old one.
        poll(&room, 1, Self.patience)
        // Space in its queue is no memory in the kernel: whoever finds none shall not ask as fast as it can.
        poll(nil, 0, Self.pause)
    }

    /// In milliseconds.
    private static let pause: Int32 = 10
    private static let longPause: Int32 = 250
    private static let patience: Int32 = 10_000

    private func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
