package import JunctionSystemd
package import Logging

/// The log of the daemon: one destination, one threshold, as many loggers as there are topics.
///
/// There is no global logging system: a library that nobody gave a logger to stays silent, and so leaks nothing.
package struct DaemonLog: Sendable {
    private let destination: LogDestination
    private let threshold: LogThreshold
    private let queue: LogQueue

    /// How long the end of the process waits for the last lines to be taken.
    package static let patience = Duration.seconds(2)

    package init(to destination: LogDestination, level: Configuration.LogLevel) throws(SystemFailure) {
        let threshold = LogThreshold(level.swiftLog)
        (self.destination, self.threshold) = (destination, threshold)
        queue = try LogQueue(write: destination.write) { count in
            let logger = Logger(label: "log") { _ in
                destination.handler(threshold: threshold, deliver: destination.write)
            }
            logger.error(
                "Log lines were lost, because nobody took them as fast as they came",
                metadata: .of(nil, [.count: "\(count)"])
            )
        }
    }

    /// The least important level that is logged; a change is heard by every logger at once.
    package var level: Configuration.LogLevel {
        get { Configuration.LogLevel(threshold.level) }
        nonmutating set { threshold.level = newValue.swiftLog }
    }

    /// A logger for one topic.
    package func logger(_ topic: String) -> Logger {
        let queue = queue
        return Logger(label: topic) { _ in destination.handler(threshold: threshold) { queue.put($0) } }
    }

    /// Writes what is still to be written, unless nobody takes it. What is logged from now on is lost.
    ///
    /// - Returns: whether everything was taken.
    @discardableResult
    package func close(within patience: Duration = DaemonLog.patience) -> Bool { queue.close(within: patience) }
}

extension Configuration.LogLevel {
    fileprivate init(_ level: Logger.Level) {
        self =
            switch level {
            case .trace: .trace
            case .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
    }

    fileprivate var swiftLog: Logger.Level {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        case .critical: .critical
        }
    }
}
