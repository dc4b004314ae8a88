import JunctionJSON
package import JunctionProtocol

/// The states of the session, across restarts of the daemon, for one thread.
package struct SnapshotFeed {
    private var reconnection: Reconnection
    private let changes: SessionSubscribe.Changes
    private var connection: Connection?

    /// Makes a feed from the daemon at `path`. Waits end when the interruption comes.
    package init(from path: SocketPath, patience: Patience, unless interruption: Interruption? = nil) {
        self.init(Reconnection(to: path, patience: patience, unless: interruption), .all)
    }

    init(_ reconnection: Reconnection, _ changes: SessionSubscribe.Changes) {
        self.reconnection = reconnection
        self.changes = changes
    }

    /// Whether the daemon has answered on the present connection.
    package var isConnected: Bool { connection != nil }

    /// Waits for the next snapshot: the present one first, and then each one that differs. A slow thread receives only
    /// the newest snapshot.
    ///
    /// - Parameter connectionEnded: called at once when the connection is lost.
    /// - Throws: `timedOut` at the deadline, after which `next` can be called again; `cancelled` when the interruption
    ///   comes; and errors that a new connection would not change.
    package mutating func next(
        by deadline: Deadline = .never,
        connectionEnded: () -> Void = {}
    ) throws(JunctionError) -> Connection.Answered<Snapshot> {
        while true {
            do throws(JunctionError) {
                return connection == nil ? try subscribe(by: deadline) : try nextChange(by: deadline)
            } catch {
                // At the deadline, the connection is kept, so that no change is missed.
                if error.kind == .timedOut, connection != nil { throw error }
                if connection != nil, error.kind != .cancelled { connectionEnded() }
                connection = nil
                try reconnection.wait(after: error, by: deadline)
            }
        }
    }

    /// Sends a call on the connection of the last snapshot.
    package mutating func perform<Definition: MethodDefinition>(
        _ method: Definition.Type,
        _ params: Definition.Params,
        by deadline: Deadline = .never
    ) throws(JunctionError) -> Connection.Answered<Definition.Answer> {
        guard connection != nil else { throw .connectionLost }
        return try connection!.perform(method, params, by: deadline)
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
