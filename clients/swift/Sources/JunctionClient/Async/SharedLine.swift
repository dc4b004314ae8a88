import Synchronization

/// What the calls of one client go over, and of each that was made of it: one connection, made when something is asked.
final class SharedLine: Sendable {
    private let path: SocketPath
    private let connection = Mutex<SharedConnection?>(nil)
    /// What its `watch()` loops look at.
    let watch: SharedWatch
    /// What its `states()` loops look at.
    let states: SharedWatch

    init(to path: SocketPath) {
        self.path = path
        watch = SharedWatch(at: path, .all)
        states = SharedWatch(at: path, .state)
    }

    deinit {
        connection.withLock { $0?.close() }
    }

    /// The connection there is; a new one when there is none, or when it is over.
    func usableConnection() throws(JunctionError) -> SharedConnection {
        try connection.withLock { (connection) throws(JunctionError) -> SharedConnection in
            if let connection, connection.isUsable { return connection }
            let fresh = try SharedConnection(to: path)
            connection = fresh
            return fresh
        }
    }
}
