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
    private let connection = Mutex<SharedConnection?>(nil)

    /// Makes a client; nothing is opened yet.
    ///
    /// - Parameter socket: where the daemon listens. By default `$JUNCTIOND_SOCKET`, then
    ///   `$XDG_RUNTIME_DIR/junctiond/junctiond.sock` if it exists, then `/run/junctiond/junctiond.sock`.
    public init(socket: String? = nil) {
        path = .resolve(socket)
    }

    deinit {
        connection.withLock { $0?.close() }
    }

    /// The state of the session from now on: the present snapshot first, then one for each change.
    ///
    /// It goes on over restarts of the daemon, with the snapshot that the new one begins with; a daemon that is not
    /// there yet is waited for. A task that is slow gets the newest snapshot only.
    public func watch() -> SnapshotUpdates {
        SnapshotUpdates(from: path)
    }
}

extension JunctionClient {
    /// Asks the daemon on the connection that there is, or on a new one; while it restarts, again where that is harmless.
    func perform<Definition: MethodDefinition>(
        _ method: Definition.Type,
        _ params: Definition.Params
    ) async throws(JunctionError) -> Definition.Answer {
        try await repeating(method, params) { connection, _ throws(JunctionError) in
            try await connection.perform(method, params)
        }
    }

    /// Asks on the connection that there is, or on a new one; again when it is lost, if that is harmless for the method.
    func repeating<Definition: MethodDefinition, Value>(
        _ method: Definition.Type,
        _ params: Definition.Params,
        _ ask: (SharedConnection, inout Repetition) async throws(JunctionError) -> Value
    ) async throws(JunctionError) -> Value {
        var repetition = Repetition(of: method, params)
        while true {
            do throws(JunctionError) {
                return try await ask(usableConnection(), &repetition)
            } catch {
                guard let pause = repetition.pause(after: error) else { throw error }
                guard (try? await Task.sleep(for: pause)) != nil else { throw .cancelled }
            }
        }
    }

    /// Asks the daemon what takes no parameters.
    func perform<Definition: MethodDefinition>(
        _ method: Definition.Type
    ) async throws(JunctionError) -> Definition.Answer where Definition.Params == NoParams {
        try await perform(method, NoParams())
    }

    /// The connection of this client, which is made when there is none.
    private func usableConnection() throws(JunctionError) -> SharedConnection {
        try connection.withLock { (connection) throws(JunctionError) -> SharedConnection in
            if let connection, connection.isUsable { return connection }
            let fresh = try SharedConnection(to: path)
            connection = fresh
            return fresh
        }
    }
}
