package import JunctionProtocol

/// What the socket tells about the daemon around the session; the wiring knows it. Called on the event loop.
package protocol DaemonIntrospection: Sendable {
    /// Which daemon this is, and since when it runs.
    func info() -> DaemonDescription
    /// The settings that were changed and wait for a restart, by their key.
    var pendingRestart: [String] { get }
    /// Reads the configuration again, and answers once, on the event loop, with the settings that wait for a restart.
    func reload(_ answer: @escaping @Sendable (Result<[String], WireError>) -> Void)
    /// What was counted, in Prometheus text format; the socket's own counters come with the question.
    func metricsText(_ counters: ServerCounters) -> String
    /// Looks the installation over, and answers once, on the event loop.
    ///
    /// - Parameters:
    ///   - user: who is counted for the requests that leave for the provider.
    ///   - counters: the socket's own; they come with the question.
    func diagnose(by user: UInt32, _ counters: ServerCounters, _ answer: @escaping @Sendable (Diagnosis) -> Void)
    /// The OpenRPC document as JSON.
    func discoveryDocument() -> [UInt8]
}
