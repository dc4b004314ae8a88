import CLinux
import Glibc

/// One process, and no other one that gets its number later.
final class ProcessHandle: Sendable {
    private let descriptor: Int32

    /// The very process that connected, whether it is still there or not; nothing where the kernel cannot say (before 6.5),
    /// and where it has gone.
    convenience init?(connectedTo socket: Int32) {
        self.init(owning: clinux_peer_process(socket))
    }

    /// The process that has this number now.
    ///
    /// For a kernel that does not name the one that connected. What remains there: a process that ends between connecting
    /// and this, and whose number goes to another process in that moment.
    convenience init?(of process: Int32) {
        self.init(owning: clinux_open_process(process))
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
