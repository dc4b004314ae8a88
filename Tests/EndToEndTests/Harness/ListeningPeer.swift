import Foundation

/// Listens where a daemon would, and hears what a client says first.
final class ListeningPeer {
    let path: String
    private let listener: Int32

    /// - Parameter backlog: how many callers may wait to be accepted, besides the first one.
    init(at path: String, backlog: Int32 = 8) throws {
        self.path = path
        listener = makeSocket(AF_UNIX, SOCK_STREAM)
        guard UnixAddress(path).withPointer({ bind(listener, $0, $1) }) == 0, listen(listener, backlog) == 0 else {
            throw Program.Failure(description: "There is no listener: \(String(cString: strerror(errno)))")
        }
    }

    /// Takes up all the room that there is for callers.
    func fill() throws -> [Int32] {
        var callers: [Int32] = []
        while true {
            let caller = makeSocket(AF_UNIX, SOCK_STREAM)
            _ = fcntl(caller, F_SETFL, O_NONBLOCK)
            guard UnixAddress(path).withPointer({ connect(caller, $0, $1) }) == 0 else {
                let number = errno
                close(caller)
                guard number == EAGAIN else { throw Program.Failure(description: "No caller: \(number)") }
                return callers
            }
            callers.append(caller)
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
