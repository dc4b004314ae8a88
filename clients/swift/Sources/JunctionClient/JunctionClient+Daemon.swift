import JunctionProtocol

// The daemon itself.
extension JunctionClient {
    /// Which daemon this is, and since when it runs.
    public func info() async throws(JunctionError) -> DaemonDescription {
        try await perform(DaemonInfo.self)
    }

    /// The daemon's counters, in Prometheus text format.
    public func metrics() async throws(JunctionError) -> String {
        try await perform(DaemonMetrics.self).text
    }

    /// Looks the installation over.
    public func diagnose() async throws(JunctionError) -> Diagnosis {
        try await perform(DaemonDiagnose.self)
    }
}
