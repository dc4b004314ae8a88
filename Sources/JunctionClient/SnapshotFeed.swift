import JunctionJSON
package import JunctionProtocol

/// The state of the session from now on, over any restart of the daemon, for one thread that waits.
package struct SnapshotFeed {
    /// What to do when no daemon listens.
    package enum Patience: Sendable {
        /// Fail at first; once there was a daemon, wait for it to come back.
        case onceConnected
        /// Wait for it, from the start.
        case always
    }

    private let path: SocketPath
    private let interruption: Interruption?
    private var patience: Patience
    private var backoff: Backoff
    private let steadiness: Duration
    private var subscription: Subscription?

    private struct Subscription {
        var connection: Connection
        /// From when on it counts as one that lasted.
        var steadyFrom: Deadline
    }

    /// Looks at the daemon that listens at `path`.
    package init(from path: SocketPath, patience: Patience, unless interruption: Interruption? = nil) {
        self.init(from: path, patience: patience, backoff: Backoff(), unless: interruption)
    }

    /// Looks at the daemon that listens at `path`, until the interruption comes.
    ///
    /// - Parameter steadiness: how long a connection has to last for the next one to come at once. A daemon that dies
    ///   as soon as it has answered is not come back to any faster for having answered.
    init(
        from path: SocketPath,
        patience: Patience,
        backoff: Backoff,
        steadiness: Duration = Backoff.longest,
        unless interruption: Interruption?
    ) {
        self.path = path
        self.steadiness = steadiness
        self.patience = patience
        self.backoff = backoff
        self.interruption = interruption
    }

    /// The present snapshot at first, and after that each one that differs; whoever is slow gets the newest only.
    ///
    /// - Throws: `timedOut` at the deadline, `cancelled` when the interruption comes, and whatever a new connection
    ///   would not change.
    package mutating func next(by deadline: Deadline = .never) throws(JunctionError) -> Connection.Answered<Snapshot> {
        while true {
            do throws(JunctionError) {
                return subscription == nil ? try subscribe(by: deadline) : try nextChange(by: deadline)
            } catch {
                if let subscription, subscription.steadyFrom.hasPassed { backoff.succeeded() }
                subscription = nil
                guard error.isWorthReconnecting, patience == .always else { throw error }
                try pause(atLeast: error.retryAfter, by: deadline)
            }
        }
    }

    private mutating func subscribe(by deadline: Deadline) throws(JunctionError) -> Connection.Answered<Snapshot> {
        var connection = try Connection(to: path, unless: interruption)
        let present = try connection.perform(SessionSubscribe.self, NoParams(), by: deadline)
        subscription = Subscription(connection: connection, steadyFrom: .after(steadiness))
        patience = .always
        return present
    }

    private mutating func nextChange(by deadline: Deadline) throws(JunctionError) -> Connection.Answered<Snapshot> {
        while true {
            guard let change = try subscription?.connection.nextNotification(by: deadline) else {
                throw .connectionLost
            }
            guard change.name.stringEquals(SessionChanged.name) else { continue }
            guard let json = change.params?["snapshot"] else { throw .unreadable("a change without its snapshot") }
            return try Connection.Answered(reading: json)
        }
    }

    private mutating func pause(atLeast retryAfter: Duration?, by deadline: Deadline) throws(JunctionError) {
        let delay = max(backoff.nextDelay(chance: .random(in: 0...1)), retryAfter ?? .zero)
        if deadline.hasPassed { throw .timedOut }
        guard delay > .zero else { return }
        do throws(JunctionError) {
            try waitForInput(from: nil, until: deadline.orAfter(delay), unless: interruption)
        } catch {
            guard error.kind == .timedOut, !deadline.hasPassed else { throw error }
        }
    }
}
