import Glibc
import JunctionJSON
import Synchronization
import Testing

/// A local program with a plain blocking socket. A read that takes too long is an error, never a hang.
///
/// One thread may send while another one receives.
final class TestClient: Sendable {
    private let descriptor: Int32
    private let received = Mutex<[UInt8]>([])
    /// A server lives as long as its clients.
    private let server: (any AnyObject & Sendable)?

    init(_ path: String, of server: (any AnyObject & Sendable)? = nil) throws {
        self.server = server
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        limitWaiting()
        guard connectSocket(descriptor, to: path) == 0 else { throw Failure(doing: "connect", errno) }
    }

    /// Takes over a socket that another process may have connected.
    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
        server = nil
        limitWaiting()
    }

    private func limitWaiting() {
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(doing what: String, _ code: Int32) {
            description = "\(what): \(String(cString: strerror(code)))"
        }
    }

    // MARK: Sending

    /// Sends bytes as they are.
    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(doing: "send", errno) }
            sent += count
        }
    }

    /// Sends one line.
    func say(_ line: String) throws {
        try send(line + "\n")
    }

    /// Sends as much as the kernel takes at once, and returns how much that was.
    func sendWhatFits(_ bytes: [UInt8]) -> Int {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            guard count > 0 else { break }
            sent += count
        }
        return sent
    }

    /// Ends the sending; what is answered can still be read.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    // MARK: Receiving

    /// The next line; nothing at the end of the connection.
    func hear() throws -> String? {
        try received.withLock { received in
            while true {
                if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: received[..<end], as: UTF8.self)
                    received.removeSubrange(...end)
                    return line
                }
                var chunk = [UInt8](repeating: 0, count: 65_536)
                let count = read(descriptor, &chunk, chunk.count)
                guard count >= 0 else { throw Failure(doing: "read", errno) }
                guard count > 0 else { return received.isEmpty ? nil : String(decoding: received, as: UTF8.self) }
                received += chunk[..<count]
            }
        }
    }

    /// The next line, which has to be there, as JSON.
    func hearValue() throws -> JSONValue {
        try JSONValue.parse(Array(try #require(try hear()).utf8))
    }

    /// Calls a method, and returns the whole answer.
    func call(_ method: String, _ params: String = "{}", id: String = "1") throws -> JSONValue {
        try say(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#)
        return try hearValue()
    }

    /// Calls a method that has to succeed.
    func result(of method: String, _ params: String = "{}") throws -> JSONValue {
        let answer = try call(method, params)
        return try #require(answer["result"], "\(answer.text)")
    }

    /// Calls a method that has to fail, and returns the error.
    func error(of method: String, _ params: String = "{}") throws -> JSONValue {
        let answer = try call(method, params)
        return try #require(answer["error"], "\(answer.text)")
    }
}

extension JSONValue {
    var text: String { String(decoding: rawText, as: UTF8.self) }
    var code: Int64? { self["code"]?.integer }
    var state: String? { self["state"]?.string }
}

func connectSocket(_ descriptor: Int32, to path: String) -> Int32 {
    withAddress(of: path) { connect(descriptor, $0, $1) }
}

func bindSocket(_ descriptor: Int32, to path: String) -> Int32 {
    withAddress(of: path) { bind(descriptor, $0, $1) }
}

private func withAddress(of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}
