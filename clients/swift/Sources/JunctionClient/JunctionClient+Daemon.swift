import JunctionProtocol

// The daemon itself.
extension JunctionClient {
    /// Which daemon this is, and since when it runs.
    public func info() async throws(JunctionError) -> DaemonDescription {
        try await perform(DaemonInfo.self)
    }

    /// Has the daemon read its configuration again. If the daemon refuses the new one, that is an error, and the old one stays in
    /// force.
    ///
    /// - Returns: the settings that were changed and wait for a restart of the daemon, by their key.
    public func reload() async throws(JunctionError) -> [String] {
        try await perform(DaemonReload.self).pendingRestart
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
