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

    package init(to destination: LogDestination, level: Logger.Level) throws(SystemFailure) {
        let threshold = LogThreshold(level)
        (self.destination, self.threshold) = (destination, threshold)
        queue = try LogQueue(write: destination.write) { count in
            let logger = Logger(label: "log") { _ in
                EntryHandler(destination, threshold: threshold, deliver: destination.write)
            }
            logger.error(
                "Log lines were lost, because the reader of the log was too slow",
                metadata: .of(nil, [.count: "\(count)"])
            )
        }
    }

    /// The least important level that is logged. A change affects every logger at once.
    package var level: Logger.Level {
        get { threshold.level }
        nonmutating set { threshold.level = newValue }
    }

    package func logger(_ topic: String) -> Logger {
        let queue = queue
        return Logger(label: topic) { _ in EntryHandler(destination, threshold: threshold) { queue.put($0) } }
    }

    /// Writes the queued lines, unless the reader does not take them in time. Later lines are lost.
    ///
    /// - Returns: whether every line was written.
    @discardableResult
    package func close(within patience: Duration = DaemonLog.patience) -> Bool { queue.close(within: patience) }
}
