import CLinux
import Glibc
import JunctionNotify

/// Tells the service manager how the service is doing, and never waits for it.
///
/// `sd_notify(3)` does the same with a blocking send: once 11 messages lie unread at the service manager, the twelfth
/// stops whoever sends it, here the thread that answers every client. So the datagram is sent from here, without
/// blocking; libsystemd is used where it does not wait.
///
/// What the service manager is too busy to take now is kept, as far as it is still true later, and sent when it listens: a
/// daemon whose `READY=1` is lost is killed for never having started.
package struct Notifier: Sendable {
    /// What became of a message. That it was sent does not mean that it was acted on.
    package enum Delivery: Equatable, Sendable {
        case sent
        /// No service manager asked to be told.
        case nobodyListens
        /// The service manager is busy. States are told as soon as it listens; all else is to be said again in a moment.
        case congested
        /// The system's reason why it can never be told.
        case failed(errno: Int32)
    }

    private enum Destination {
        case nobody
        case listener(NotifySocket, NotifyQueue)
        case unusable(errno: Int32)
    }

    private let destination: Destination

    /// Makes a notifier for the socket that `NOTIFY_SOCKET` names: a path, or `@` and an abstract name.
    package init(socket name: String?) {
        destination =
            if let name {
                NotifySocket(name).map { .listener($0, NotifyQueue($0)) } ?? .unusable(errno: EAFNOSUPPORT)
            } else {
                .nobody
            }
    }

    /// Sends the news in one datagram, so that they take effect together.
    @discardableResult
    package func tell(_ news: ServiceManagerMessage...) -> Delivery {
        switch destination {
        case .nobody: .nobodyListens
        case .unusable(let errno): .failed(errno: errno)
        case .listener(let socket, let standing):
            news.contains(where: \.isStanding) ? standing.tell(news) : socket.send(news)
        }
    }

    /// Gives the service manager a copy of a descriptor, which it passes to the next process of this service, after a
    /// restart or a crash (`FDSTORE=1`).
    @discardableResult
    package func entrust(_ descriptor: Int32, named name: String) -> Delivery {
        switch destination {
        case .nobody: .nobodyListens
        case .unusable(let errno): .failed(errno: errno)
        case .listener(let socket, _): socket.deliver("FDSTORE=1\nFDPOLL=0\nFDNAME=" + name, with: descriptor)
        }
    }
}
