import Glibc
public import JunctionClient

/// A daemon that does what a test tells it to, one script a connection, over a real socket in a folder of its own.
///
/// ```swift
/// let daemon = ScriptedDaemon { connection in
///     let request = connection.request()
///     connection.refuse(request, #"{"code":-32003,"message":"nobody is signed in","data":{"kind":"notSignedIn"}}"#)
/// }
/// let app = App(junction: daemon.client)
/// ```
public final class ScriptedDaemon: Sendable {
    /// What is done on one connection, on a thread of its own; the connection ends with it.
    public typealias Script = @Sendable (ScriptedConnection) -> Void

    /// Where it listens.
    public let path: String
    private let directory: String

    /// Makes a place to listen at, and listens unless told to wait.
    ///
    /// - Parameter scripts: the connections get them in turn, and after the last one none is accepted.
    public convenience init(listening: Bool = true, _ scripts: Script...) {
        self.init(listening: listening, scripts)
    }

    /// The same with the scripts in an array.
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

    /// Comes up, with these scripts for the connections that come next.
    public func listen(_ scripts: Script...) {
        listen(scripts)
    }

    private func listen(_ scripts: [Script]) {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let bound = try? SocketPath(path).withAddress { bind(listener, $0, $1) }
        precondition(bound == 0 && Glibc.listen(listener, 16) == 0, "The scripted daemon cannot listen at \(path)")
        // The thread keeps the daemon alive until each script has its connection, also when the test has not.
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
