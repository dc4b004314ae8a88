@_exported public import JunctionProtocol
import Synchronization

/// A client of the daemon, which keeps the one signed-in user of this device.
///
/// `JunctionClient()` is ready to use. It connects at the first call, and again after the daemon was restarted. One
/// client serves any number of tasks over one connection.
///
/// ```swift
/// let junction = JunctionClient()
/// let token = try await junction.accessToken()
/// for try await snapshot in junction.watch() { print(snapshot.state) }
/// ```
public final class JunctionClient: Sendable {
    let path: SocketPath
    private let line: SharedLine
    /// How long one call may take, including its repetitions.
    private let limit: Duration?

    /// Makes a client, without connecting.
    ///
    /// - Parameters:
    ///   - socket: the path of the daemon's socket. By default that of `instance`, then `$JUNCTIOND_SOCKET`, then that
    ///     of `$JUNCTIOND_INSTANCE`, then that of the instance `junctiond`.
    ///   - instance: the name of one of several installations on this machine. Its socket is
    ///     `$XDG_RUNTIME_DIR/junctiond/NAME.sock` if that exists, else `/run/junctiond/NAME.sock`. If the name is not
    ///     allowed, or there is also a `socket`, each call throws `invalidSocketPath`.
    ///   - timeout: how long each call may take. The daemon has its own limits for the provider. So without a timeout,
    ///     a call waits without end only if the daemon is suspended.
    public convenience init(socket: String? = nil, instance: String? = nil, timeout: Duration? = nil) {
        let path = SocketPath.resolve(socket, instance: instance)
        self.init(path, SharedLine(to: path), timeout)
    }

    private init(_ path: SocketPath, _ line: SharedLine, _ limit: Duration?) {
        (self.path, self.line, self.limit) = (path, line, limit)
    }

    /// Returns a client over the same connection whose calls may take at most `limit`; `nil` means no limit.
    ///
    /// ```swift
    /// let token = try await junction.timeout(.seconds(2)).accessToken()
    /// ```
    ///
    /// A call that takes longer throws `timedOut`, but the daemon still carries it out. The limit does not apply to
    /// `watch()`, `states()` and `handleRenewals`.
    public func timeout(_ limit: Duration?) -> JunctionClient {
        JunctionClient(path, line, limit)
    }

    /// Returns the states of the session: the present snapshot first, then one for each change.
    ///
    /// The sequence continues across restarts of the daemon, with the first snapshot of the new one, and waits for a
    /// daemon that does not run yet. A slow task receives only the newest snapshot.
    public func watch() -> SnapshotUpdates {
        SnapshotUpdates(of: line.watch)
    }

    /// Returns the same as `watch()`, but only the snapshots with a new `state`. A renewal or a switch of users does
    /// not change the `state`.
    ///
    /// The other members are those at that change. `status()` returns the present ones.
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
    /// Makes a call on the present connection, or on a new one. While the daemon restarts, the call is repeated where
    /// that is harmless.
    func perform<Definition: MethodDefinition>(
        _ method: Definition.Type,
        _ params: Definition.Params
    ) async throws(JunctionError) -> Definition.Answer {
        try await repeating(method, params) { connection, deadline, _ throws(JunctionError) in
            try await connection.perform(method, params, by: deadline)
        }
    }

    /// Calls `ask` with the present connection, or a new one. If the connection is lost, `ask` is repeated where that
    /// is harmless.
    func repeating<Definition: MethodDefinition, Value>(
        _ method: Definition.Type,
        _ params: Definition.Params,
        _ ask: (SharedConnection, Deadline, inout Repetition) async throws(JunctionError) -> Value
    ) async throws(JunctionError) -> Value {
        let deadline = limit.map(Deadline.after) ?? .never
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

    /// Makes a call without parameters.
    func perform<Definition: MethodDefinition>(
        _ method: Definition.Type
    ) async throws(JunctionError) -> Definition.Answer where Definition.Params == NoParams {
        try await perform(method, NoParams())
    }
}
