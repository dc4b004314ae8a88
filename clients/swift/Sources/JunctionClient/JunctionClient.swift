@_exported public import JunctionProtocol
import Synchronization

/// The one signed-in user of this device, as the daemon keeps it, for a local app.
///
/// `JunctionClient()` is ready to use: it connects when something is asked first, and again after the daemon was
/// restarted. One client serves any number of tasks over one connection.
///
/// ```swift
/// let junction = JunctionClient()
/// let token = try await junction.accessToken()
/// for try await snapshot in junction.watch() { print(snapshot.state) }
/// ```
public final class JunctionClient: Sendable {
    let path: SocketPath
    private let line: SharedLine
    /// How long one call may take, its repetitions included.
    private let limit: Duration?

    /// Makes a client; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - socket: where the daemon listens. By default `$JUNCTIOND_SOCKET`, then
    ///     `$XDG_RUNTIME_DIR/junctiond/junctiond.sock` if it exists, then `/run/junctiond/junctiond.sock`.
    ///   - timeout: how long each call may take. The daemon keeps limits of its own towards the provider, so that without one
    ///     only a daemon that is stopped is waited for without end.
    public convenience init(socket: String? = nil, timeout: Duration? = nil) {
        let path = SocketPath.resolve(socket)
        self.init(path, SharedLine(to: path), timeout)
    }

    private init(_ path: SocketPath, _ line: SharedLine, _ limit: Duration?) {
        (self.path, self.line, self.limit) = (path, line, limit)
    }

    /// The same client, over the same connection, whose calls may take so long; `nil`: as long as they take.
    ///
    /// ```swift
    /// let token = try await junction.timeout(.seconds(2)).accessToken()
    /// ```
    ///
    /// A call that takes longer is `timedOut`; the daemon finishes what it was asked. `watch()` and `handleRenewals` are not
    /// calls, and go on.
    public func timeout(_ limit: Duration?) -> JunctionClient {
        JunctionClient(path, line, limit)
    }

    /// The state of the session from now on: the present snapshot first, then one for each change.
    ///
    /// It goes on over restarts of the daemon, with the snapshot that the new one begins with; a daemon that is not
    /// there yet is waited for. A task that is slow gets the newest snapshot only.
    public func watch() -> SnapshotUpdates {
        SnapshotUpdates(of: line.watch)
    }

    /// The same as `watch()`, but with a snapshot only for each change of the state. Neither a renewal nor a switch of users is one.
    ///
    /// Its other members are as they were at that change; `status()` has the present ones.
    ///
    /// ```swift
    /// for try await snapshot in junction.states() {
    ///     switch snapshot.state {
    ///     case .established: showMainScreen()
    ///     case .establishing: showLoadingScreen()
    ///     default: showLoginScreen()
    ///     }
    /// }
    /// ```
    public func states() -> SnapshotUpdates {
        SnapshotUpdates(of: line.states)
    }
}

extension JunctionClient {
    /// Asks the daemon on the connection that there is, or on a new one; while it restarts, again where that is harmless.
    func perform<Definition: MethodDefinition>(
        _ method: Definition.Type,
        _ params: Definition.Params
    ) async throws(JunctionError) -> Definition.Answer {
        try await repeating(method, params) { connection, deadline, _ throws(JunctionError) in
            try await connection.perform(method, params, by: deadline)
        }
    }

    /// Asks on the connection that there is, or on a new one; again when it is lost, if that is harmless for the method.
    func repeating<Definition: MethodDefinition, Value>(
        _ method: Definition.Type,
        _ params: Definition.Params,
        _ ask: (SharedConnection, CallDeadline, inout Repetition) async throws(JunctionError) -> Value
    ) async throws(JunctionError) -> Value {
        let deadline = CallDeadline(in: limit)
        var repetition = Repetition(of: method, params)
        while true {
            do throws(JunctionError) {
                return try await ask(line.usableConnection(), deadline, &repetition)
            } catch {
                guard let pause = repetition.pause(after: error) else { throw error }
                try await deadline.sleep(for: pause)
            }
        }
    }

    /// Asks the daemon what takes no parameters.
    func perform<Definition: MethodDefinition>(
        _ method: Definition.Type
    ) async throws(JunctionError) -> Definition.Answer where Definition.Params == NoParams {
        try await perform(method, NoParams())
    }
}
