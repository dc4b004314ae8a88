import JunctionProtocol

// The daemon itself.
extension JunctionClient {
    /// Which daemon this is, and since when it runs.
    public func info() async throws(JunctionError) -> DaemonDescription {
        try await perform(DaemonInfo.self)
    }

    /// Who this program is to the daemon, what it may do, and what gave it that.
    public func whoami() async throws(JunctionError) -> CallerDescription {
        try await perform(AccessWhoami.self)
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
