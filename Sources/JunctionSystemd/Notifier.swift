import CLinux
import Glibc

/// Tells the service manager how the service is doing, and never waits for it.
///
/// `sd_notify(3)` does the same with a blocking send: once 11 messages lie unread at the service manager, the twelfth
/// stops whoever sends it, here the thread that answers every client. So the datagram is sent from here, without
/// blocking; libsystemd is used where it does not wait.
package struct Notifier: Sendable {
    /// What became of a message. That it was sent does not mean that it was acted on.
    package enum Delivery: Equatable, Sendable {
        case sent
        /// No service manager asked to be told.
        case nobodyListens
        /// The service manager is busy: say it again in a moment.
        case congested
        /// The system's reason why it can never be told.
        case failed(errno: Int32)
    }

    private enum Destination {
        case nobody
        case address(SocketAddress)
        case unusable(errno: Int32)
    }

    private let destination: Destination

    /// Makes a notifier for the socket that `NOTIFY_SOCKET` names: a path, or `@` and an abstract name.
    package init(socket name: String?) {
        destination =
            if let name {
                SocketAddress(name).map(Destination.address) ?? .unusable(errno: EAFNOSUPPORT)
            } else {
                .nobody
            }
    }

    /// Sends the news in one datagram, so that they take effect together.
    @discardableResult
    package func tell(_ news: ServiceNews...) -> Delivery {
        switch destination {
        case .nobody: .nobodyListens
        case .unusable(let errno): .failed(errno: errno)
        case .address(let address): send(news.map(\.text).joined(separator: "\n"), to: address)
        }
    }

    /// Gives the service manager a copy of a descriptor, which it passes to the next process of this service, after a
    /// restart or a crash (`FDSTORE=1`).
    @discardableResult
    package func entrust(_ descriptor: Int32, named name: String) -> Delivery {
        switch destination {
        case .nobody: .nobodyListens
        case .unusable(let errno): .failed(errno: errno)
        case .address(let address): send("FDSTORE=1\nFDPOLL=0\nFDNAME=" + name, to: address, with: descriptor)
        }
    }

    /// A socket a message: they are rare, and this way the service manager may restart in between.
    private func send(_ text: String, to address: SocketAddress, with descriptor: Int32? = nil) -> Delivery {
        let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard sender >= 0 else { return .failed(errno: errno) }
        defer { close(sender) }
        let bytes = Array(text.utf8)
        let failure = address.withSocketAddress { address, length in
            if let descriptor {
                return clinux_send_descriptor(sender, bytes, bytes.count, address, length, descriptor)
            }
            let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
            return sendto(sender, bytes, bytes.count, flags, address, length) < 0 ? errno : 0
        }
        switch failure {
        case 0: return .sent
        case EAGAIN, ENOBUFS: return .congested
        default: return .failed(errno: failure)
        }
    }
}

/// The address of a Unix socket, by path or by abstract name.
private struct SocketAddress {
    private var address = sockaddr_un()
    private let length: socklen_t

    init?(_ name: String) {
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

    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
