import Glibc

/// The destination of log lines, which depends on what standard error is connected to.
package enum LogDestination: Equatable, Sendable {
    case journal
    case lines(descriptor: Int32, isTerminal: Bool)

    /// Finds the destination behind a descriptor, usually standard error.
    ///
    /// - Parameter journalStream: the value of `JOURNAL_STREAM`. A process inherits the variable even if its stream is
    ///   another one, so the descriptor leads to the journal only if device and inode agree.
    package init(descriptor: Int32, journalStream: String?) {
        let leadsToJournal = journalStream != nil && journalStream == LogDestination.identity(of: descriptor)
        self =
            leadsToJournal
            ? .journal : .lines(descriptor: descriptor, isTerminal: isatty(descriptor) == 1)
    }

    /// Writes one entry, and waits until it is written. If the reader has stopped reading, this waits for ever.
    package func write(_ entry: LogEntry) {
        switch (self, entry) {
        case (_, .fields(let fields)): JournalEntry.send(fields)
        case (.lines(let descriptor, _), .line(let line)): LogLine.write(line, to: descriptor)
        case (.journal, .line): preconditionFailure("The journal takes fields")
        }
    }

    private static func identity(of descriptor: Int32) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        return "\(status.st_dev):\(status.st_ino)"
    }
}
