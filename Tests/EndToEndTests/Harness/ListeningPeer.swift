import Foundation
import JunctionTesting

/// A listener that stands in for a daemon.
extension TestListener {
    /// Opens connections until the backlog is full, and returns them.
    func fill() throws -> [TestSocket] {
        var clients: [TestSocket] = []
        while true {
            let client = address.makeSocket()
            _ = fcntl(client, F_SETFL, O_NONBLOCK)
            clients.append(TestSocket(adopting: client))
            guard address.connect(client) else {
                guard errno == EAGAIN else { throw TestFailure("connect", errno: errno) }
                return clients
            }
        }
    }

    /// Accepts connections until one sends a line, and returns the line.
    func firstLine() throws -> String? {
        while let connection = accept() {
            if let line = try connection.lines.next() { return line }
        }
        return nil
    }
}
