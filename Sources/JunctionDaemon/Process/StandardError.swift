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
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
