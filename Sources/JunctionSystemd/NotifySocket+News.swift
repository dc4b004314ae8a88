import Glibc
import JunctionNotify

extension NotifySocket {
    /// Sends the news in one datagram, without waiting.
    func send(_ news: [ServiceManagerMessage]) -> Notifier.Delivery {
        deliver(news.map(\.text).joined(separator: "\n"))
    }

    /// Sends one message, with a descriptor if there is one.
    ///
    /// What is short for a moment, space in the queue, descriptors or memory, is worth another try.
    func deliver(_ text: String, with descriptor: Int32? = nil) -> Notifier.Delivery {
        switch send(text, with: descriptor) {
        case 0: .sent
        case EAGAIN, ENOBUFS, EMFILE, ENFILE, ENOMEM: .congested
        case let failure: .failed(errno: failure)
        }
    }
}
