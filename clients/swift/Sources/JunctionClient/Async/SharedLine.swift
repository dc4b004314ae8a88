import Synchronization

/// The connection of a client and of all clients that were derived from it with `timeout(_:)`. It is made for the first
/// call.
final class SharedLine: Sendable {
    private let path: SocketPath
    private let connection = Mutex<SharedConnection?>(nil)
    /// The subscription of the `watch()` loops.
    let watch: SharedWatch
    /// The subscription of the `states()` loops.
    let states: SharedWatch

    init(to path: SocketPath) {
        self.path = path
        watch = SharedWatch(at: path, .all)
        states = SharedWatch(at: path, .state)
    }

    deinit {
        connection.withLock { $0?.close() }
    }

    /// Returns the present connection, or a new one if there is none or it has ended.
    func usableConnection() throws(JunctionError) -> SharedConnection {
        try connection.withLock { (connection) throws(JunctionError) -> SharedConnection in
            if let connection, connection.isUsable { return connection }
            let fresh = try SharedConnection(to: path)
            connection = fresh
            return fresh
        }
    }
}
