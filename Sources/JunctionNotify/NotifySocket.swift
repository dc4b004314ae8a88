import CLinux
import Glibc

/// The service manager's notify socket (`sd_notify`): a datagram socket with a path or an abstract name.
package struct NotifySocket: Sendable {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// - Parameter name: the value of `NOTIFY_SOCKET`: a path, or `@` and an abstract name. The result is `nil` for any
    ///   other value and for one that is too long.
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
        // The length ends an abstract name, so one more byte would name another socket.
        length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + bytes.count)
    }

    /// Sends one datagram without waiting. Each message has its own socket: messages are rare, and the service manager
    /// may restart between two of them.
    ///
    /// - Parameter descriptor: a descriptor to send with the message.
    /// - Returns: the errno if sending failed, or zero.
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

    /// Returns when a datagram can be sent, or when there is no receiver.
    package func waitForRoom() {
        // Only a connected socket reports whether the receiver's queue has space.
        let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard sender >= 0, withSocketAddress({ connect(sender, $0, $1) }) == 0 else {
            if sender >= 0 { close(sender) }
            poll(nil, 0, Self.longPause)
            return
        }
        defer { close(sender) }
        var room = pollfd(fd: sender, events: Int16(POLLOUT), revents: 0)
        // The time limit covers a service manager that was replaced meanwhile: the connected socket may be the old
        // one's.
        poll(&room, 1, Self.patience)
        // A queue with space does not imply free kernel memory. The pause keeps the caller from retrying in a tight
        // loop.
        poll(nil, 0, Self.pause)
    }

    /// The waiting times, in milliseconds.
    private static let pause: Int32 = 10
    private static let longPause: Int32 = 250
    private static let patience: Int32 = 10_000

    private func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
