import Glibc
import JunctionSystemd

/// Where the daemon speaks to whoever started it, before there is a log.
package enum StandardError {
    /// Writes one line, under the program's name; where the journal reads it, as an error (`sd-daemon(3)`).
    ///
    /// - Parameter journalStream: `JOURNAL_STREAM` of the environment, if there is one.
    package static func say(_ line: String, journalStream: String? = nil) {
        let isJournal = LogDestination(descriptor: STDERR_FILENO, journalStream: journalStream) == .journal
        let bytes = Array("\(isJournal ? "<3>" : "")\(Version.name): \(line)\n".utf8)
        // A line that cannot be written is lost: there is nowhere left to complain.
        write(bytes, until: .now + patience)
    }

    /// Tells whoever typed a command line what is wrong with it.
    package static func explain(_ error: UsageError) {
        write(Array(error.text.utf8), until: .now + patience)
    }

    /// As long as the log is waited for: who has stopped reading holds up no end.
    private static let patience: Duration = .seconds(2)

    /// Whoever shares the descriptor may count on its waiting, so it is asked, and not told, to have space.
    private static func write(_ bytes: [UInt8], until end: ContinuousClock.Instant) {
        var rest = bytes[...]
        while !rest.isEmpty, hasRoom(until: end) {
            // What a pipe that has space takes without waiting.
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
