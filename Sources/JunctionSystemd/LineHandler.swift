import Glibc
package import Logging

/// Logs plain lines, for terminals, containers and other supervisors.
///
/// On a terminal, each line begins with the name of its level. Otherwise, it begins with its priority, as in
/// `sd-daemon(3)`: `<5>Signed in`.
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

    /// - Parameter deliver: receives the bytes of one line, with its ending.
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
    /// Writes one line, and waits until all of it is written.
    package static func write(_ line: [UInt8], to descriptor: Int32) {
        var rest = line[...]
        // Usually one write is enough, which does not mix the lines of several processes.
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, -1)
            } else if errno != EINTR {
                // If a line cannot be written, it is lost: there is no other place to report that.
                return
            }
        }
    }
}
