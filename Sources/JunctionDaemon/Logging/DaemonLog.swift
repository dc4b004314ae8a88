package import JunctionSystemd
package import Logging

/// The log of the daemon: one destination, one threshold, as many loggers as there are topics.
///
/// There is no global logging system: a library that nobody gave a logger to stays silent, and so leaks nothing.
package struct DaemonLog: Sendable {
    private let destination: LogDestination
    private let threshold: LogThreshold

    package init(to destination: LogDestination, level: Configuration.LogLevel) {
        self.destination = destination
        threshold = LogThreshold(level.swiftLog)
    }

    /// The least important level that is logged; a change is heard by every logger at once.
    package var level: Configuration.LogLevel {
        get { Configuration.LogLevel(threshold.level) }
        nonmutating set { threshold.level = newValue.swiftLog }
    }

    /// A logger for one topic.
    package func logger(_ topic: String) -> Logger {
        Logger(label: topic) { _ in destination.handler(threshold: threshold) }
    }
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
