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
    private let isTerminal: Bool
    private let deliver: @Sendable ([UInt8]) -> Void
    private var ownLevel: Logger.Level?

    /// - Parameter deliver: takes the bytes of one line, its ending included.
    package init(isTerminal: Bool, threshold: LogThreshold, deliver: @escaping @Sendable ([UInt8]) -> Void) {
        self.isTerminal = isTerminal
        self.threshold = threshold
        self.deliver = deliver
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let text = LogText(event, base: metadata, provider: metadataProvider)
        let prefix = isTerminal ? "\(event.level): " : "<\(event.level.priority)>"
        deliver(Array((prefix + text.line(leavingOut: [JournalHandler.messageIdentifierKey]) + "\n").utf8))
    }
}

extension LineHandler {
    /// Writes one line, and waits until it is taken.
    package static func write(_ line: [UInt8], to descriptor: Int32) {
        var rest = line[...]
        // Usually one write, which keeps the lines of several processes apart.
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, -1)
            } else if errno != EINTR {
                // A line that cannot be written is lost: there is nowhere left to complain.
                return
            }
        }
    }
}
