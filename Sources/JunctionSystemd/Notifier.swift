import CLinux
import Glibc
import JunctionNotify

/// Sends messages about the service to the service manager, and never waits for it.
///
/// `sd_notify(3)` sends the same messages, but it blocks: when the service manager has 11 unread messages, the twelfth
/// stops the sending thread, which is here the thread that answers every client. So the notifier sends the datagrams
/// itself, without blocking. It uses libsystemd only for functions that do not wait.
///
/// If the service manager is too busy, the notifier keeps the messages that are still true later, and sends them when
/// the service manager reads again. Without that, a lost `READY=1` would make the service manager kill the daemon after
/// its start timeout.
package struct Notifier: Sendable {
    /// The result of sending a message. A sent message may still be ignored.
    package enum Delivery: Equatable, Sendable {
        case sent
        /// There is no service manager to notify (no `NOTIFY_SOCKET`).
        case noReceiver
        /// The service manager is busy. The notifier sends states later; the caller has to send all other messages
        /// again.
        case congested
        /// The message can never be sent, for the reason in errno.
        case failed(errno: Int32)
    }

    private enum Destination {
        case nobody
        case listener(NotifySocket, NotifyQueue)
        case unusable(errno: Int32)
    }

    private let destination: Destination

    /// Makes a notifier for the socket in `NOTIFY_SOCKET`: a path, or `@` and an abstract name.
    package init(socket name: String?) {
        destination =
            if let name {
                NotifySocket(name).map { .listener($0, NotifyQueue($0)) } ?? .unusable(errno: EAFNOSUPPORT)
            } else {
                .nobody
            }
    }

    /// Sends the messages in one datagram, so that they take effect together.
    @discardableResult
    package func tell(_ news: ServiceManagerMessage...) -> Delivery {
        switch destination {
        case .nobody: .noReceiver
        case .unusable(let errno): .failed(errno: errno)
        case .listener(let socket, let standing):
            news.contains(where: \.isStanding) ? standing.tell(news) : socket.send(news)
        }
    }

    /// Passes a copy of a descriptor to the service manager, which gives it to the next process of this service after a
    /// restart or a crash (`FDSTORE=1`).
    @discardableResult
    package func storeDescriptor(_ descriptor: Int32, named name: String) -> Delivery {
        switch destination {
        case .nobody: .noReceiver
        case .unusable(let errno): .failed(errno: errno)
        case .listener(let socket, _): socket.deliver("FDSTORE=1\nFDPOLL=0\nFDNAME=" + name, with: descriptor)
        }
    }
}
