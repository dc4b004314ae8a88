import JunctionProtocol
import NIOCore

/// The connections of one kind that are told of every new state.
final class Watchers<Connection: Watcher> {
    private var connections: [ObjectIdentifier: Connection] = [:]
    /// The newest state that has been told, and the line that tells it: one for all.
    private var news: News?

    private struct News {
        var revision: UInt64
        var line: ByteBuffer
        /// The same with the codes of a sign-in that awaits approval, for those who may manage the session.
        var lineWithCodes: ByteBuffer?
    }

    var count: Int { connections.count }

    /// Begins with the state that the connection has just been told.
    func add(_ connection: Connection, told revision: UInt64) {
        connection.watch = .on(told: revision)
        connections[ObjectIdentifier(connection)] = connection
    }

    func remove(_ connection: Connection) {
        guard connection.watch != .off else { return }
        connection.watch = .off
        connections[ObjectIdentifier(connection)] = nil
    }

    /// Tells everybody a new state. Who does not read is not told now, but gets the newest state when it does.
    ///
    /// - Parameter withCodes: the same for those who may manage the session, where there are codes.
    func announce(_ snapshot: Snapshot, withCodes: Snapshot? = nil) {
        guard !connections.isEmpty else { return news = nil }
        news = News(
            revision: snapshot.revision,
            line: Connection.line(telling: snapshot),
            lineWithCodes: withCodes.map(Connection.line)
        )
        for connection in connections.values { catchUp(connection) }
    }

    /// Tells a connection the newest state, unless it knows it or cannot take it now.
    func catchUp(_ connection: Connection) {
        guard let news, case .on(let told) = connection.watch, told < news.revision else { return }
        // Whoever holds the connection of a process that has ended is not the unit that it was given to.
        guard connection.caller.may(.status) else { return connection.rightIsGone() }
        let line = news.lineWithCodes.flatMap { connection.caller.may(.manage) ? $0 : nil } ?? news.line
        // The connection may have ended by that.
        if connection.post(line), connection.watch != .off { connection.watch = .on(told: news.revision) }
    }
}

/// A connection that may be told new states.
protocol Watcher: CallerConnection {
    var watch: Watch { get set }
    /// What tells a new state, as it is sent.
    static func line(telling snapshot: Snapshot) -> ByteBuffer
    /// Sends a line that many connections are told; false if the peer does not read, or must not be told it yet.
    func post(_ line: ByteBuffer) -> Bool
}

/// Whether a connection is told new states, and the revision that it was told last.
enum Watch: Equatable {
    case off
    case on(told: UInt64)
}
