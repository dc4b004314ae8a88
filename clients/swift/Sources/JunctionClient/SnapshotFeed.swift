import JunctionJSON
package import JunctionProtocol

/// The state of the session from now on, over any restart of the daemon, for one thread that waits.
package struct SnapshotFeed {
    private var reconnection: Reconnection
    private let changes: SessionSubscribe.Changes
    private var connection: Connection?

    /// Looks at the daemon that listens at `path`, until the interruption comes.
    package init(from path: SocketPath, patience: Patience, unless interruption: Interruption? = nil) {
        self.init(Reconnection(to: path, patience: patience, unless: interruption), .all)
    }

    init(_ reconnection: Reconnection, _ changes: SessionSubscribe.Changes) {
        self.reconnection = reconnection
        self.changes = changes
    }

    /// The present snapshot at first, and after that each one that differs; whoever is slow gets the newest only.
    ///
    /// - Parameter connectionEnded: told at once when the daemon has gone.
    /// - Throws: `timedOut` at the deadline, after which it can be called again, `cancelled` when the interruption comes, and whatever a new connection
    ///   would not change.
    package mutating func next(
        by deadline: Deadline = .never,
        connectionEnded: () -> Void = {}
    ) throws(JunctionError) -> Connection.Answered<Snapshot> {
        while true {
            do throws(JunctionError) {
                return connection == nil ? try subscribe(by: deadline) : try nextChange(by: deadline)
            } catch {
                // Whoever has waited long enough for a change still has the connection, and misses nothing on it.
                if error.kind == .timedOut, connection != nil { throw error }
                if connection != nil { connectionEnded() }
                connection = nil
                try reconnection.wait(after: error, by: deadline)
            }
        }
    }

    private mutating func subscribe(by deadline: Deadline) throws(JunctionError) -> Connection.Answered<Snapshot> {
        var fresh = try reconnection.connect(by: deadline)
        let params = SessionSubscribe.Params(changes: changes == .all ? nil : changes)
        let present = try fresh.perform(SessionSubscribe.self, params, by: deadline)
        reconnection.connectionBegan()
        connection = fresh
        return present
    }

    private mutating func nextChange(by deadline: Deadline) throws(JunctionError) -> Connection.Answered<Snapshot> {
        while true {
            guard let change = try connection?.nextNotification(by: deadline) else { throw .connectionLost }
            guard change.name.stringEquals(SessionChanged.name) else { continue }
            guard let json = change.params?["snapshot"] else { throw .unreadable("a change without its snapshot") }
            return try Connection.Answered(reading: json)
        }
    }
}
