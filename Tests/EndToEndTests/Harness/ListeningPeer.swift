import Foundation
import JunctionTesting

/// Listens where a daemon would.
extension TestListener {
    /// Takes up all the space that there is for clients.
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

    /// The first line of a connection on which something is said.
    func firstLine() throws -> String? {
        while let connection = accept() {
            if let line = try connection.lines.next() { return line }
        }
        return nil
    }
}
