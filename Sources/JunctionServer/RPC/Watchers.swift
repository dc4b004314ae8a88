import JunctionProtocol
import NIOCore

/// The connections of one kind that receive new states.
final class Watchers<Member: Watcher> {
    private var connections: [ObjectIdentifier: Member] = [:]
    /// The newest state that has been told, and the line that tells it: one for all.
    private var notification: Notification?

    private struct Notification {
        var state: SentState
        var line: ByteBuffer
        /// The same with the codes of a sign-in that awaits approval, for those who may manage the session.
        var lineWithCodes: ByteBuffer?
    }

    var count: Int { connections.count }

    /// Adds a connection. Its caller sends it the state `told`; the connection gets later ones.
    func add(_ connection: Member, _ changes: SessionSubscribe.Changes, told: SentState) {
        connection.watch = .on(changes, told: told)
        connections[ObjectIdentifier(connection)] = connection
    }

    func remove(_ connection: Member) {
        guard connection.watch != .off else { return }
        connection.watch = .off
        connections[ObjectIdentifier(connection)] = nil
    }

    /// Tells everybody a new state. Who does not read is not told now, but gets the newest state when it does.
    ///
    /// - Parameter withCodes: the same for those who may manage the session, where there are codes.
    func announce(_ snapshot: Snapshot, withCodes: Snapshot? = nil) {
        guard !connections.isEmpty else { return notification = nil }
        notification = Notification(
            state: SentState(snapshot),
            line: Member.line(telling: snapshot),
            lineWithCodes: withCodes.map(Member.line)
        )
        for connection in connections.values { catchUp(connection) }
    }

    /// Sends a connection the newest state, unless it knows that already or cannot receive it now.
    func catchUp(_ connection: Member) {
        guard let notification, case .on(let changes, let told) = connection.watch,
            notification.state.isNew(to: changes, after: told)
        else { return }
        // A right that was granted by unit ends with the process, although another process may hold the connection.
        guard connection.caller.may(.status) else { return connection.rightWithdrawnSoon() }
        let line = notification.lineWithCodes.flatMap { connection.caller.seesCodes ? $0 : nil } ?? notification.line
        // `post` may end the connection.
        if connection.post(line), connection.watch != .off { connection.watch = .on(changes, told: notification.state) }
    }
}

/// A connection that can receive new states.
protocol Watcher: CallerConnection {
    var watch: Watch { get set }
    /// The bytes that notify a watcher of a new state.
    static func line(telling snapshot: Snapshot) -> ByteBuffer
    /// Sends shared bytes. Returns false if the peer does not read, or its answer to the subscription is still to be sent.
    func post(_ line: ByteBuffer) -> Bool
}

/// Whether a connection receives new states, which of them, and the last one that it received.
enum Watch: Equatable {
    case off
    case on(SessionSubscribe.Changes, told: SentState)
}

/// As much of a state as decides whether a watcher has to receive it.
struct SentState: Equatable {
    private let revision: UInt64
    private let state: Snapshot.State

    init(_ snapshot: Snapshot) {
        (revision, state) = (snapshot.revision, snapshot.state)
    }

    /// Whether a watcher of these changes that received `told` last has to receive this state.
    func isNew(to changes: SessionSubscribe.Changes, after told: Self) -> Bool {
        guard told.revision < revision else { return false }
        return switch changes {
        case .all: true
        case .state: told.state != state
        }
    }
}
