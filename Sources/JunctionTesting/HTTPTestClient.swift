import Foundation

/// A client connection for HTTP/1.1 that works on bytes. It shares no code with the project and never repeats a
/// request.
///
/// Not thread-safe: only one thread may use it at a time.
package final class HTTPTestClient: @unchecked Sendable {
    package let socket: TestSocket
    private let peer: AnyObject?

    package struct Answer: Sendable {
        package var status: Int
        package var headers: [(name: String, value: String)]
        package var body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }

        /// - Parameter name: The name in lower case.
        package func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
    }

    /// The peer closed the connection before the answer was complete.
    package struct Ended: Error {
        package init() {}
    }

    /// - Parameter peer: An object that is kept alive as long as this connection.
    package init(_ address: TestAddress, to peer: AnyObject? = nil) throws {
        socket = try TestSocket(address)
        self.peer = peer
    }

    // MARK: Sending

    /// Sends one request, with `Content-Length` if there is a body.
    package func request(
        _ method: String,
        _ target: String,
        headers: [String],
        host: String = "junction",
        body: [UInt8]? = nil
    ) throws {
        let length = body.map { ["Content-Length: \($0.count)"] } ?? []
        let lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)"] + headers + length + ["", ""]
        try socket.send(Array(lines.joined(separator: "\r\n").utf8) + (body ?? []))
    }

    // MARK: Receiving

    /// Reads the next answer with its whole body.
    package func answer(toHead: Bool = false) throws -> Answer {
        var answer = try head()
        guard !toHead, answer.status >= 200, answer.status != 204, answer.status != 304 else { return answer }
        if let length = answer.header("content-length").flatMap(Int.init) {
            answer.body = try bytes(length)
        } else if answer.header("transfer-encoding") == "chunked" {
            while let chunk = try chunk() { answer.body += chunk }
        } else if answer.header("connection") == "close" {
            answer.body = try Array(socket.lines.rest())
        }
        return answer
    }

    package func head() throws -> Answer {
        let status = try line()
        var answer = Answer(
            status: status.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0,
            headers: [],
            body: []
        )
        while case let line = try line(), !line.isEmpty {
            let parts = line.split(separator: ":", maxSplits: 1)
            answer.headers.append((String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""))
        }
        return answer
    }

    /// Reads the next chunk. Returns `nil` after the last one.
    package func chunk() throws -> [UInt8]? {
        let line = try line()
        guard let count = Int(line, radix: 16) else { throw TestFailure(description: "No length of a chunk: \(line)") }
        let chunk = try bytes(count)
        guard try self.line().isEmpty else { throw TestFailure(description: "A chunk is longer than \(count)") }
        return count > 0 ? chunk : nil
    }

    package func line() throws -> String {
        guard let line = try socket.lines.next() else { throw Ended() }
        guard line.hasSuffix("\r") else { throw TestFailure(description: "A line without CR, or half a line: \(line)") }
        return String(line.dropLast())
    }

    package func bytes(_ count: Int) throws -> [UInt8] {
        let bytes = try socket.lines.bytes(count)
        guard bytes.count == count else { throw Ended() }
        return Array(bytes)
    }

    /// Returns whether the peer has closed the connection and nothing is left to read.
    package func isAtEnd() throws -> Bool {
        try socket.lines.chunk().isEmpty
    }
}
