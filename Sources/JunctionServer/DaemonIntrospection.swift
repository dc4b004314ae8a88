package import JunctionProtocol

/// What the socket tells about the daemon around the session; the wiring knows it. Called on the event loop.
package protocol DaemonIntrospection: Sendable {
    /// Which daemon this is, and since when it runs.
    func info() -> DaemonDescription
    /// The counters in Prometheus text format.
    func metricsText() -> String
    /// Looks the installation over, and answers once, on the event loop.
    ///
    /// - Parameter user: who is counted for the requests that leave for the provider.
    func diagnose(by user: UInt32, _ answer: @escaping @Sendable (Diagnosis) -> Void)
    /// The OpenRPC document as JSON.
    func discoveryDocument() -> [UInt8]
}
