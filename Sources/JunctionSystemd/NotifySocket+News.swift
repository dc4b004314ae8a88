import Glibc
import JunctionNotify

extension NotifySocket {
    func send(_ news: [ServiceManagerMessage]) -> Notifier.Delivery {
        deliver(news.map(\.text).joined(separator: "\n"))
    }

    /// Sends one datagram, with a descriptor if there is one.
    ///
    /// If queue space, descriptors or memory are short, the result is `congested`: another attempt may succeed.
    func deliver(_ text: String, with descriptor: Int32? = nil) -> Notifier.Delivery {
        switch send(text, with: descriptor) {
        case 0: .sent
        case EAGAIN, ENOBUFS, EMFILE, ENFILE, ENOMEM: .congested
        case let failure: .failed(errno: failure)
        }
    }
}
