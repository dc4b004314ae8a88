import Glibc
package import Logging

/// Logs plain lines, for terminals, containers and other supervisors.
///
/// Where nobody looks on, each line begins with its priority, as `sd-daemon(3)` has it: `<5>Signed in`. On a terminal
/// it begins with the level's name.
package struct LineHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    package var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }

    private let threshold: LogThreshold
    private let descriptor: Int32
    private let isTerminal: Bool
    private var ownLevel: Logger.Level?

    package init(writingTo descriptor: Int32, isTerminal: Bool, threshold: LogThreshold) {
        self.descriptor = descriptor
        self.isTerminal = isTerminal
        self.threshold = threshold
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let text = LogText(event, base: metadata, provider: metadataProvider)
        let prefix = isTerminal ? "\(event.level): " : "<\(event.level.priority)>"
        let line = Array((prefix + text.line(leavingOut: [JournalHandler.messageIdentifierKey]) + "\n").utf8)
        // One write a line keeps lines of several threads apart. A line that cannot be written is lost: there is
        // nowhere left to complain.
        _ = write(descriptor, line, line.count)
    }
}
