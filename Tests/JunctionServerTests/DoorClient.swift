import Glibc
import JunctionJSON
import Testing

/// A local program that speaks HTTP byte by byte. A read that takes too long is an error, never a hang.
///
/// Used by one thread after the other.
final class DoorClient: @unchecked Sendable {
    private let descriptor: Int32
    private var received: [UInt8] = []
    /// A server lives as long as its clients.
    private let server: AnyObject

    init(_ path: String, of server: AnyObject) throws {
        self.server = server
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        guard connectSocket(descriptor, to: path) == 0 else { throw TestClient.Failure(doing: "connect", errno) }
    }

    deinit { Glibc.close(descriptor) }

    struct Answer {
        var status: Int
        var headers: [(name: String, value: String)]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
        /// The kind of an error of the daemon's own.
        var kind: String? { header("junction-error") }
    }

    // MARK: Sending

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw TestClient.Failure(doing: "send", errno) }
            sent += count
        }
    }

    /// Has the kernel keep so much of what was sent and not read yet, as far as it lets programs.
    func makeRoom(_ count: Int32) {
        var count = count
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &count, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends what the kernel takes at once, and returns how much that was.
    func sendWhatFits(_ bytes: [UInt8]) -> Int {
        let count = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        return max(count, 0)
    }

    /// Sends one request as programs do.
    func request(_ method: String, _ target: String, _ headers: String..., body: String? = nil) throws {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: junction\r\n"
        for header in headers { text += header + "\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
        try send(text + "\r\n" + (body ?? ""))
    }

    /// Asks, and returns the answer.
    func ask(_ method: String, _ target: String, _ headers: String..., body: String? = nil) throws -> Answer {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: junction\r\n"
        for header in headers { text += header + "\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
        try send(text + "\r\n" + (body ?? ""))
        return try answer(toHead: method == "HEAD")
    }

    /// Ends the sending; what is answered can still be read.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    // MARK: Receiving

    /// The next answer, with all of its body.
    func answer(toHead: Bool = false) throws -> Answer {
        var answer = try head()
        guard !toHead, answer.status >= 200, answer.status != 204, answer.status != 304 else { return answer }
        if let length = answer.header("content-length").flatMap(Int.init) {
            answer.body = try bytes(length)
        } else if answer.header("transfer-encoding") == "chunked" {
            while let chunk = try chunk() { answer.body += chunk }
        }
        return answer
    }

    /// The head of the next answer.
    func head() throws -> Answer {
        let status = try line()
        var answer = Answer(status: Int(status.split(separator: " ")[1]) ?? 0, headers: [], body: [])
        while case let line = try line(), !line.isEmpty {
            let parts = line.split(separator: ":", maxSplits: 1)
            answer.headers.append((String(parts[0]), String(parts[1].drop { $0 == " " })))
        }
        return answer
    }

    /// The next chunk; nothing after the last.
    func chunk() throws -> [UInt8]? {
        let count = try #require(Int(try line(), radix: 16))
        let chunk = try bytes(count)
        #expect(try line() == "")
        return count > 0 ? chunk : nil
    }

    func line() throws -> String {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = received[..<end]
                received.removeSubrange(...end)
                #expect(line.last == UInt8(ascii: "\r"))
                return String(decoding: line.dropLast(), as: UTF8.self)
            }
            guard try readMore() else { throw TestClient.Failure(doing: "read a line of an answer", ECONNRESET) }
        }
    }

    func bytes(_ count: Int) throws -> [UInt8] {
        while received.count < count {
            guard try readMore() else { throw TestClient.Failure(doing: "read all of a body", ECONNRESET) }
        }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }

    /// Reads and drops so much.
    func skip(_ count: Int) throws {
        var left = count
        while left > 0 {
            if received.isEmpty, try !readMore() { throw TestClient.Failure(doing: "read all of a body", ECONNRESET) }
            let skipped = min(left, received.count)
            received.removeFirst(skipped)
            left -= skipped
        }
    }

    /// Whether the connection ends here, with nothing more to read.
    func isAtEnd() throws -> Bool {
        try received.isEmpty && !readMore()
    }

    private func readMore() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &chunk, chunk.count)
        // Whoever closes with something unread is heard of so, after everything that was said.
        if count < 0, errno == ECONNRESET { return false }
        guard count >= 0 else { throw TestClient.Failure(doing: "read", errno) }
        received += chunk[..<count]
        return count > 0
    }
}
