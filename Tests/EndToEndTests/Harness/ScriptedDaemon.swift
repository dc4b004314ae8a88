import JunctionTesting

/// Reads one line of each connection, says the same to each, and ends it.
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
