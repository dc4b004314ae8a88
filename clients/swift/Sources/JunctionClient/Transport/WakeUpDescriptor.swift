import Glibc

/// Wakes a thread that waits in `poll`, from any other thread.
final class WakeUpDescriptor: Sendable {
    /// Readable after `ring` was called.
    let descriptor: Int32
    private let writeEnd: Int32

    init() throws(JunctionError) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .system("a wake-up socket", errno) }
        (descriptor, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    func ring() {
        // If the buffer is full, `ring` was called already.
        _ = send(writeEnd, "!", 1, Int32(MSG_NOSIGNAL))
    }

    /// Makes the descriptor unreadable again.
    func silence() {
        var bytes: (UInt64, UInt64) = (0, 0)
        while recv(descriptor, &bytes, MemoryLayout.size(ofValue: bytes), 0) > 0 {}
    }
}
