import Glibc

/// The receiving end of notify messages: a real datagram socket, closed and removed with this object.
package final class FakeServiceManager: Sendable {
    package enum Kind: Sendable {
        case path
        case abstract
    }

    /// What `NOTIFY_SOCKET` would say.
    package let name: String
    private let descriptor: Int32
    private let kind: Kind

    package init(_ kind: Kind) throws {
        let unique = "junctiond-notify-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        self.kind = kind
        name =
            switch kind {
            case .path: "/tmp/" + unique
            case .abstract: "@" + unique
            }
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var bytes = Array(name.utf8)
        if kind == .abstract { bytes[0] = 0 } else { bytes.append(0) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + bytes.count)
        let bound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard bound == 0 else { throw Failure(errno: errno) }
    }

    /// The next datagram, or `nil` when there is none.
    package func receive() -> String? {
        var buffer = [UInt8](repeating: 0, count: 8_192)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// The next datagram, waited for; `nil` when none comes.
    package func awaitDatagram() -> String? {
        isReadable(within: 60) ? receive() : nil
    }

    /// Whether a datagram is there, or comes in so many seconds.
    package func isReadable(within seconds: Int32) -> Bool {
        var coming = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&coming, 1, seconds * 1_000) == 1
    }

    /// The next datagram and the descriptor that came with it, if one did.
    package func receiveWithDescriptor() -> (text: String, descriptor: Int32?)? {
        var text = [UInt8](repeating: 0, count: 8_192)
        // One cmsghdr (16 bytes) and one descriptor, padded.
        var control = [UInt64](repeating: 0, count: 3)
        let count = text.withUnsafeMutableBytes { text in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: text.baseAddress, iov_len: text.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    (message.msg_iov, message.msg_iovlen) = (part, 1)
                    (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
                    return recvmsg(descriptor, &message, Int32(MSG_DONTWAIT) | Int32(MSG_CMSG_CLOEXEC))
                }
            }
        }
        guard count >= 0 else { return nil }
        let passed = control.withUnsafeBytes { $0.load(fromByteOffset: 16, as: Int32.self) }
        let line = String(decoding: text.prefix(count), as: UTF8.self)
        return (line, control[0] == 0 ? nil : passed)
    }

    deinit {
        close(descriptor)
        if kind == .path { unlink(name) }
    }

    package struct Failure: Error {
        package let errno: Int32
    }
}
