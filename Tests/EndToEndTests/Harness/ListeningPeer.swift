import Foundation

/// Listens where a daemon would, and hears what a client says first.
final class ListeningPeer {
    let path: String
    private let listener: Int32

    init(at path: String) throws {
        self.path = path
        listener = makeSocket(AF_UNIX, SOCK_STREAM)
        guard UnixAddress(path).withPointer({ bind(listener, $0, $1) }) == 0, listen(listener, 8) == 0 else {
            throw Program.Failure(description: "There is no listener: \(String(cString: strerror(errno)))")
        }
    }

    /// The next connection, whoever makes it.
    func nextConnection() -> Int32 {
        accept(listener, nil, nil)
    }

    /// The first line of a connection on which something is said.
    func firstLine() throws -> String? {
        while true {
            let connection = nextConnection()
            guard connection >= 0 else { return nil }
            defer { close(connection) }
            if let line = try LineReader(connection).next() { return line }
        }
    }

    deinit { close(listener) }
}
