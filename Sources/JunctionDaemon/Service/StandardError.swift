import Glibc
import JunctionSystemd

/// Messages on standard error before the log exists.
package enum StandardError {
    /// Writes one line with the program's name. If the journal reads standard error, the line has the priority of an
    /// error (`sd-daemon(3)`).
    ///
    /// - Parameter journalStream: `JOURNAL_STREAM` of the environment, if there is one.
    package static func say(_ line: String, journalStream: String? = nil) {
        let isJournal = LogDestination(descriptor: STDERR_FILENO, journalStream: journalStream) == .journal
        let bytes = Array("\(isJournal ? "<3>" : "")\(Version.name): \(line)\n".utf8)
        // A line that cannot be written is lost, because there is no other place to report the failure.
        write(bytes, until: .now + patience)
    }

    package static func explain(_ error: UsageError) {
        write(Array(error.text.utf8), until: .now + patience)
    }

    /// As long as the wait for the log: a reader that has stopped must not delay the end.
    private static let patience: Duration = .seconds(2)

    /// Other processes may share the descriptor and rely on blocking writes. So this function polls it and does not set
    /// O_NONBLOCK.
    private static func write(_ bytes: [UInt8], until end: ContinuousClock.Instant) {
        var rest = bytes[...]
        while !rest.isEmpty, hasRoom(until: end) {
            // A pipe that polls as writable takes this many bytes without blocking.
            let written = rest.prefix(Int(PIPE_BUF)).withUnsafeBytes {
                Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
            }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }

    private static func hasRoom(until end: ContinuousClock.Instant) -> Bool {
        var target = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        while true {
            let left = max(.zero, ContinuousClock.now.duration(to: end)) / .milliseconds(1)
            let ready = poll(&target, 1, Int32(left))
            guard ready < 0, errno == EINTR else { return ready > 0 }
        }
    }
}
