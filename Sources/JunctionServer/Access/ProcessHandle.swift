import CLinux
import Glibc

/// One process, and no other one that gets its number later.
final class ProcessHandle: Sendable {
    private let descriptor: Int32

    /// Opens the process that connected; `nil` if it cannot be known which process that was.
    ///
    /// - Parameters:
    ///   - socket: the connection.
    ///   - number: the process id that the kernel noted when the process connected, or `nil` if so much time has passed
    ///     that another process may have the number.
    convenience init?(connectedTo socket: Int32, numbered number: Int32?) {
        switch PeerProcessAnswer(clinux_peer_process(socket)) {
        case .opened(let descriptor): self.init(owning: descriptor)
        case .notSupported:
            // A process may end between connecting and this call, and its number may go to another process in that moment.
            guard let number else { return nil }
            self.init(of: number)
        case .unknown: return nil
        }
    }

    /// Opens the process that has this number now.
    convenience init?(of number: Int32) {
        self.init(owning: clinux_open_process(number))
    }

    private init?(owning descriptor: Int32) {
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    /// Whether it has ended; from then on its number may be another process's.
    var hasEnded: Bool { clinux_process_has_ended(descriptor) != 0 }

    deinit { _ = close(descriptor) }
}

extension ProcessHandle: Equatable {
    static func == (left: ProcessHandle, right: ProcessHandle) -> Bool { left === right }
}

/// What the kernel answers when it is asked to open the process behind a connection (`SO_PEERPIDFD`).
enum PeerProcessAnswer: Equatable {
    /// The process is open, as this descriptor.
    case opened(Int32)
    /// The kernel does not have this option (before Linux 6.5). The process has to be opened by its number.
    case notSupported
    /// The kernel cannot open it, for example because the process was reaped (before Linux 6.16). Its number may be another
    /// process's by now, so that nothing is opened by the number.
    case unknown

    /// - Parameter result: a descriptor, or a negative `errno`.
    init(_ result: Int32) {
        self =
            switch result {
            case 0...: .opened(result)
            case -ENOPROTOOPT: .notSupported
            default: .unknown
            }
    }
}
