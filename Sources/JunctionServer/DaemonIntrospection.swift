package import JunctionProtocol

/// Information about the daemon apart from the session. The daemon module implements it. Called on the event loop.
package protocol DaemonIntrospection: Sendable {
    /// Returns the version and the start time of the daemon.
    func info() -> DaemonDescription
    /// The keys of the settings that were changed and take effect at the next restart.
    var pendingRestart: [String] { get }
    /// Reads the configuration again. Calls `answer` once, on the event loop, with the settings that wait for a
    /// restart.
    func reload(_ answer: @escaping @Sendable (Result<[String], WireError>) -> Void)
    /// Returns the metrics in Prometheus text format. `counters` are the server's own.
    func metricsText(_ counters: ServerCounters) -> String
    /// Checks the installation, and calls `answer` once, on the event loop.
    ///
    /// - Parameters:
    ///   - user: the user to whom the requests to the provider are charged.
    ///   - counters: the server's own counters.
    func diagnose(by user: UInt32, _ counters: ServerCounters, _ answer: @escaping @Sendable (Diagnosis) -> Void)
}
