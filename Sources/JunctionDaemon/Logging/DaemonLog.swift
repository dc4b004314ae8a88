package import JunctionSystemd
package import Logging

/// The log of the daemon: one destination, one threshold, and a logger for each topic.
///
/// The daemon does not set up the global logging system. A library that gets no logger writes nothing, and so cannot
/// leak a secret.
package struct DaemonLog: Sendable {
    private let destination: LogDestination
    private let threshold: LogThreshold
    private let queue: LogQueue

    /// How long the end of the process waits until the last lines are written.
    package static let patience = Duration.seconds(2)

    package init(to destination: LogDestination, level: Configuration.LogLevel) throws(SystemFailure) {
        let threshold = LogThreshold(level.swiftLog)
        (self.destination, self.threshold) = (destination, threshold)
        queue = try LogQueue(write: destination.write) { count in
            let logger = Logger(label: "log") { _ in
                destination.handler(threshold: threshold, deliver: destination.write)
            }
            logger.error(
                "Log lines were lost, because the reader of the log was too slow",
                metadata: .of(nil, [.count: "\(count)"])
            )
        }
    }

    /// The least important level that is logged. A change affects every logger at once.
    package var level: Configuration.LogLevel {
        get { Configuration.LogLevel(threshold.level) }
        nonmutating set { threshold.level = newValue.swiftLog }
    }

    package func logger(_ topic: String) -> Logger {
        let queue = queue
        return Logger(label: topic) { _ in destination.handler(threshold: threshold) { queue.put($0) } }
    }

    /// Writes the queued lines, unless the reader does not take them in time. Later lines are lost.
    ///
    /// - Returns: whether every line was written.
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
