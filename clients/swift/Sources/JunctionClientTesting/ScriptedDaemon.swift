import Glibc
public import JunctionClient

/// A scripted daemon for tests, with one script for each connection. It listens on a real socket in a temporary
/// directory.
///
/// ```swift
/// let daemon = ScriptedDaemon { connection in
///     let request = connection.request()
///     connection.refuse(request, #"{"code":-32003,"message":"no user is signed in","data":{"kind":"notSignedIn"}}"#)
/// }
/// let app = App(junction: daemon.client)
/// ```
public final class ScriptedDaemon: Sendable {
    /// The script of one connection, which runs on a separate thread. The connection ends with the script.
    public typealias Script = @Sendable (ScriptedConnection) -> Void

    /// The path of the socket.
    public let path: String
    private let directory: String

    /// Makes a scripted daemon, which listens at once unless `listening` is false.
    ///
    /// - Parameter scripts: the scripts of the connections, in order. After the last one, no connection is accepted.
    public convenience init(listening: Bool = true, _ scripts: Script...) {
        self.init(listening: listening, scripts)
    }

    /// Makes a scripted daemon from an array of scripts.
    public init(listening: Bool = true, _ scripts: [Script]) {
        var template = Array("/tmp/junction-client-XXXXXX".utf8CString)
        directory = mkdtemp(&template).map { String(cString: $0) } ?? ""
        path = "\(directory)/d.sock"
        if listening { listen(scripts) }
    }

    deinit {
        unlink(path)
        rmdir(directory)
    }

    /// Starts listening, with these scripts for the next connections.
    public func listen(_ scripts: Script...) {
        listen(scripts)
    }

    private func listen(_ scripts: [Script]) {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let bound = try? SocketPath(path).withAddress { bind(listener, $0, $1) }
        precondition(bound == 0 && Glibc.listen(listener, 16) == 0, "The scripted daemon cannot listen at \(path)")
        // The thread keeps the daemon alive until each script has its connection, even if the test has released it.
        try? startThread { [self] in
            for script in scripts {
                let connection = accept(listener, nil, nil)
                try? startThread {
                    script(ScriptedConnection(connection))
                    close(connection)
                }
            }
            withExtendedLifetime(self) { _ = close(listener) }
        }
    }

    /// A client of this daemon.
    public var client: JunctionClient { JunctionClient(socket: path) }
}
