import JunctionProtocol

extension JunctionClient {
    /// Returns the daemon's version and start time.
    public func info() async throws(JunctionError) -> DaemonDescription {
        try await perform(DaemonInfo.self)
    }

    /// Makes the daemon read its configuration again. If the daemon refuses the new configuration, this throws, and the
    /// old one stays in force.
    ///
    /// - Returns: the keys of the settings that take effect at the next restart of the daemon.
    public func reload() async throws(JunctionError) -> [String] {
        try await perform(DaemonReload.self).pendingRestart
    }

    /// Returns this program's identity and capabilities for the daemon, and where the capabilities come from.
    public func whoami() async throws(JunctionError) -> CallerDescription {
        try await perform(AccessWhoami.self)
    }

    /// Returns the daemon's metrics in Prometheus text format.
    public func metrics() async throws(JunctionError) -> String {
        try await perform(DaemonMetrics.self).text
    }

    /// Checks the installation.
    public func diagnose() async throws(JunctionError) -> Diagnosis {
        try await perform(DaemonDiagnose.self)
    }
}
