import CLinux
import Glibc

/// A handle of one process (pidfd). It never refers to another process that gets the same number later.
final class ProcessHandle: Sendable {
    private let descriptor: Int32

    /// Opens the process that connected; `nil` if that process cannot be determined.
    ///
    /// - Parameters:
    ///   - socket: the connection.
    ///   - number: the process id that the kernel recorded when the process connected; `nil` if so much time has passed
    ///     that another process may have the number.
    convenience init?(connectedTo socket: Int32, numbered number: Int32?) {
        switch PeerProcessAnswer(clinux_peer_process(socket)) {
        case .opened(let descriptor): self.init(owning: descriptor)
        case .notSupported:
            // The process may end between connecting and this call, and another process may get its number in that
            // moment.
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

    /// Whether the process has ended. From then on, another process may have its number.
    var hasEnded: Bool { clinux_process_has_ended(descriptor) != 0 }

    deinit { _ = close(descriptor) }
}

extension ProcessHandle: Equatable {
    static func == (left: ProcessHandle, right: ProcessHandle) -> Bool { left === right }
}

/// The kernel's answer to the request to open the process behind a connection (`SO_PEERPIDFD`).
enum PeerProcessAnswer: Equatable {
    case opened(Int32)
    /// The kernel does not have this option (before Linux 6.5). The process has to be opened by its number.
    case notSupported
    /// The kernel cannot open the process, for example because it was reaped (before Linux 6.16). Another process may
    /// have its number by now, so the daemon does not open a process by that number.
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
