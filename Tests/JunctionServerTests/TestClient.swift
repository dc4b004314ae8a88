import JunctionJSON
import JunctionTesting
import Testing

/// A local program that uses the JSON-RPC socket.
///
/// One thread may send while another one receives.
final class TestClient: Sendable {
    let socket: TestSocket
    /// Keeps the server alive as long as its clients.
    private let server: (any AnyObject & Sendable)?

    init(_ path: String, of server: (any AnyObject & Sendable)? = nil) throws {
        socket = try TestSocket(.path(path))
        self.server = server
    }

    /// Adopts a socket that another process may have connected.
    init(adopting descriptor: Int32) {
        socket = TestSocket(adopting: descriptor)
        server = nil
    }

    // MARK: Sending

    func send(_ text: String) throws { try socket.send(text) }

    func send(_ bytes: [UInt8]) throws { try socket.send(bytes) }

    func sendLine(_ line: String) throws { try socket.send(line + "\n") }

    /// Ends the output. Answers can still be read.
    func finish() { socket.finishSending() }

    // MARK: Receiving

    /// Returns the next line; `nil` at the end of the connection.
    func receiveLine() throws -> String? {
        if let line = try socket.lines.next() { return line }
        guard !socket.lines.wasReset else { throw TestFailure(description: "The connection was reset") }
        return nil
    }

    /// Returns the next line as JSON. Fails if there is none.
    func receiveValue() throws -> JSONValue {
        try JSONValue.parse(Array(try #require(try receiveLine()).utf8))
    }

    func call(_ method: String, _ params: String = "{}", id: String = "1") throws -> JSONValue {
        try sendLine(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#)
        return try receiveValue()
    }

    /// Calls a method that must succeed.
    func result(of method: String, _ params: String = "{}") throws -> JSONValue {
        let answer = try call(method, params)
        return try #require(answer["result"], "\(answer.text)")
    }

    /// Calls a method that must fail, and returns the error.
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
