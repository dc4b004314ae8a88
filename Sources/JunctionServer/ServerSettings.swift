/// What the configuration says about the socket.
package struct ServerSettings: Sendable {
    /// Who may do what.
    package var policy: AccessPolicy
    /// How much one local user may take up.
    package var limits: CallerLimits
    /// Whether `api.request` may be called at all.
    package var exposesApi: Bool
    /// How long to wait for others.
    package var patience: Patience
    /// Finds the system unit of a process, or that it is in none; an error means that it cannot be learnt.
    package var unitOfProcess: @Sendable (Int32) throws -> String?
    /// Whether callers' units are looked up for the audit, too, or only while a rule of the policy names a unit.
    package var alwaysFindsUnits: Bool

    /// How long the server waits for others.
    package struct Patience: Equatable, Sendable {
        /// For the answer to `session.authenticate`.
        package var question: Duration = .seconds(60)
        /// For a peer to end a line that it has begun.
        package var line: Duration = .seconds(60)
        /// For a peer to read some of the answers that wait for it; it is looked at twice before it is given up.
        package var reading: Duration = .seconds(30)
        /// For space for a long answer to `api.request`, when others keep theirs.
        package var room: Duration = .seconds(600)
        /// For a peer that was told why it is served no longer to go.
        package var farewell: Duration = .seconds(1)
        /// For a connection to end, from its beginning; without a limit if absent.
        package var connection: Duration?
        /// For the answers that are missing when the daemon ends.
        package var drain: Duration = .seconds(5)

        /// Waits as long as the interface says.
        package init() {}
    }

    /// Puts settings together; what is left out is as the interface says.
    package init(
        policy: AccessPolicy,
        limits: CallerLimits = CallerLimits(),
        exposesApi: Bool = true,
        patience: Patience = Patience(),
        unitOfProcess: @escaping @Sendable (Int32) throws -> String? = { _ in nil },
        alwaysFindsUnits: Bool = false
    ) {
        self.policy = policy
        self.limits = limits
        self.exposesApi = exposesApi
        self.patience = patience
        self.unitOfProcess = unitOfProcess
        self.alwaysFindsUnits = alwaysFindsUnits
    }
}

extension ServerSettings.Patience {
    /// How long a peer is waited for.
    func time(for deadline: ConnectionMachine.Deadline) -> Duration {
        switch deadline {
        case .farewell: farewell
        case .reading: reading
        case .line: line
        }
    }
}
