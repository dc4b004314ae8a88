import JunctionTesting

/// A listener that reads one line of each connection, sends a fixed answer and closes the connection.
final class ScriptedDaemon {
    let path: String
    private let listener: TestListener

    init(at path: String, saying words: String) throws {
        self.path = path
        listener = try TestListener(.path(path))
        listener.serve { connection in
            _ = try? connection.lines.next()
            try? connection.send(words)
        }
    }

    deinit { listener.stop() }
}
