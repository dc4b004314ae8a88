/// The settings of the server, from the configuration.
package struct ServerSettings: Sendable {
    package var policy: AccessPolicy
    /// The limits of one local user.
    package var limits = CallerLimits()
    package var exposesApi = true
    /// How long the server waits for peers.
    package var timeouts = Timeouts()
    /// Returns the system unit of a process, or `nil` if it is in none. Throws if the unit cannot be determined.
    package var unitOfProcess: @Sendable (Int32) throws -> String? = { _ in nil }
    /// Whether callers' units are always looked up, for the audit log, and not only while a rule of the policy names a
    /// unit.
    package var alwaysFindsUnits = false

    /// How long the server waits for peers.
    package struct Timeouts: Equatable, Sendable {
        /// For the answer to `session.authenticate`.
        package var question: Duration = .seconds(60)
        /// For a peer to end a line that it has begun.
        package var line: Duration = .seconds(60)
        /// For a peer to read some of its answers. Over JSON-RPC the server checks twice before it closes the connection,
        /// over HTTP once.
        package var reading: Duration = .seconds(30)
        /// For space for a long answer to `api.request`, while other answers are kept.
        package var room: Duration = .seconds(600)
        /// For a peer to close its side after it got the reason why it is no longer served.
        package var linger: Duration = .seconds(1)
        /// For a token, while the service manager loads a credential for a unit. The unit does not start meanwhile.
        package var credential: Duration = .seconds(20)
        /// For a connection to end after its beginning; no limit if `nil`.
        package var connection: Duration?
        /// For the pending answers when the daemon ends.
        package var drain: Duration = .seconds(5)

        package init() {}
    }

    /// Makes settings with the documented defaults.
    package init(policy: AccessPolicy) {
        self.policy = policy
    }
}

extension ServerSettings.Timeouts {
    func time(for deadline: ConnectionMachine.Deadline) -> Duration {
        switch deadline {
        case .linger: linger
        case .reading: reading
        case .line: line
        }
    }
}
