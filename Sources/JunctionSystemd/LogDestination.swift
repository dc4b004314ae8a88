import Glibc
package import Logging

/// Where log lines go: it depends on what standard error is connected to.
package enum LogDestination: Equatable, Sendable {
    case journal
    case lines(descriptor: Int32, isTerminal: Bool)

    /// Looks at a descriptor, usually standard error.
    ///
    /// - Parameter journalStream: `JOURNAL_STREAM`, which is inherited even where the stream is not: only when device
    ///   and inode agree does the descriptor lead to the journal.
    package init(descriptor: Int32, journalStream: String?) {
        let leadsToJournal = journalStream != nil && journalStream == LogDestination.identity(of: descriptor)
        self =
            leadsToJournal
            ? .journal : .lines(descriptor: descriptor, isTerminal: isatty(descriptor) == 1)
    }

    /// The handler for every logger of the process.
    ///
    /// - Parameter deliver: takes what is to be written, and hands it to `write` sooner or later.
    package func handler(
        threshold: LogThreshold,
        deliver: @escaping @Sendable (LogEntry) -> Void
    ) -> any LogHandler {
        switch self {
        case .journal:
            JournalHandler(threshold: threshold) { deliver(.fields($0)) }
        case .lines(_, let isTerminal):
            LineHandler(isTerminal: isTerminal, threshold: threshold) { deliver(.line($0)) }
        }
    }

    /// Writes one entry, and waits until it is taken: for ever, if whoever reads has stopped.
    package func write(_ entry: LogEntry) {
        switch (self, entry) {
        case (_, .fields(let fields)): JournalHandler.send(fields)
        case (.lines(let descriptor, _), .line(let line)): LineHandler.write(line, to: descriptor)
        case (.journal, .line): preconditionFailure("The journal takes fields")
        }
    }

    private static func identity(of descriptor: Int32) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        return "\(status.st_dev):\(status.st_ino)"
    }
}
