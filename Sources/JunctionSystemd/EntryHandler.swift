package import Logging

/// Logs each event as one entry, in the form of its destination.
package struct EntryHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    package var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }

    private let destination: LogDestination
    private let threshold: LogThreshold
    private let deliver: @Sendable (LogEntry) -> Void
    private var ownLevel: Logger.Level?

    /// - Parameter deliver: receives each entry, and passes it to the destination's `write` at once or later.
    package init(
        _ destination: LogDestination,
        threshold: LogThreshold,
        deliver: @escaping @Sendable (LogEntry) -> Void
    ) {
        self.destination = destination
        self.threshold = threshold
        self.deliver = deliver
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let text = LogText(event, base: metadata, provider: metadataProvider)
        switch destination {
        case .journal: deliver(.fields(JournalEntry.fields(of: event, text)))
        case .lines(_, let isTerminal): deliver(.line(LogLine.bytes(of: event, text, isTerminal: isTerminal)))
        }
    }
}
