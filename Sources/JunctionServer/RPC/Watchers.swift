import JunctionProtocol
import NIOCore

/// The connections of one kind that receive new states.
final class Watchers<Member: Watcher> {
    private var connections: [ObjectIdentifier: Member] = [:]
    /// The newest state, and its notification, which all connections share.
    private var notification: Notification?

    private struct Notification {
        var state: SentState
        var line: ByteBuffer
        /// The notification with the codes of a sign-in that awaits approval, for callers that may manage the session.
        var lineWithCodes: ByteBuffer?
    }

    var count: Int { connections.count }

    /// Adds a connection. The caller sends the state `told`, and the connection receives later states.
    func add(_ connection: Member, _ changes: SessionSubscribe.Changes, told: SentState) {
        connection.watch = .on(changes, told: told)
        connections[ObjectIdentifier(connection)] = connection
    }

    func remove(_ connection: Member) {
        guard connection.watch != .off else { return }
        connection.watch = .off
        connections[ObjectIdentifier(connection)] = nil
    }

    /// Sends a new state to all connections. A connection that does not read receives the newest state when it reads
    /// again.
    ///
    /// - Parameter withCodes: the state for callers that may manage the session, if there are codes.
    func announce(_ snapshot: WireSnapshot, withCodes: WireSnapshot? = nil) {
        guard !connections.isEmpty else { return notification = nil }
        notification = Notification(
            state: SentState(snapshot),
            line: Member.line(telling: snapshot),
            lineWithCodes: withCodes.map(Member.line)
        )
        for connection in connections.values { catchUp(connection) }
    }

    /// Sends a connection the newest state, unless it already has that state or cannot receive it now.
    func catchUp(_ connection: Member) {
        guard let notification, case .on(let changes, let told) = connection.watch,
            notification.state.isNew(to: changes, after: told)
        else { return }
        // A right that was granted to a unit ends with the process, although another process may hold the connection.
        guard connection.caller.may(.status) else { return connection.rightWithdrawnSoon() }
        let line = notification.lineWithCodes.flatMap { connection.caller.seesCodes ? $0 : nil } ?? notification.line
        // `sendNotification` may end the connection.
        if connection.sendNotification(line), connection.watch != .off {
            connection.watch = .on(changes, told: notification.state)
        }
    }
}

protocol Watcher: CallerConnection {
    var watch: Watch { get set }
    /// Returns the bytes that notify a watcher of a new state.
    static func line(telling snapshot: WireSnapshot) -> ByteBuffer
    /// Sends shared bytes. Returns false if the peer does not read, or if the answer to its subscription has not been
    /// sent yet.
    func sendNotification(_ line: ByteBuffer) -> Bool
}

/// Whether a connection receives new states, which of them, and the last one that it received.
enum Watch: Equatable {
    case off
    case on(SessionSubscribe.Changes, told: SentState)
}

/// The part of a state that decides whether a watcher receives it.
struct SentState: Equatable {
    private let revision: UInt64
    private let state: WireSnapshot.State

    init(_ snapshot: WireSnapshot) {
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
