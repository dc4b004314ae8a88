import Glibc
package import JunctionJSON

/// The daemon's end of one connection, for the thread that runs its script.
public final class ScriptedConnection {
    private let descriptor: Int32
    private var received: [UInt8] = []

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Blocks until the client has sent one more line; `nil` after the client has gone.
    public func line() -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            received += chunk[..<count]
        }
    }

    /// Blocks until the client has sent one more request or answer; `nil` after the client has gone, or if the line was
    /// not JSON.
    public func request() -> ScriptedRequest? {
        message().map(ScriptedRequest.init)
    }

    /// Blocks until the client has sent one more message, and returns its JSON.
    package func message() -> JSONValue? {
        line().flatMap { try? JSONValue.parse(Array($0.utf8)) }
    }

    /// Sends one line.
    public func send(_ line: String) {
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let sent = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            bytes = bytes.dropFirst(sent)
        }
    }

    /// Answers a request.
    ///
    /// - Parameter result: JSON, for example from `docs/protocol.md`.
    public func answer(_ request: ScriptedRequest?, _ result: String) {
        send(#"{"jsonrpc":"2.0","id":\#(request?.id ?? "null"),"result":\#(result)}"#)
    }

    /// Answers a request with an error.
    ///
    /// - Parameter error: JSON with `code`, `message` and `data`.
    public func refuse(_ request: ScriptedRequest?, _ error: String) {
        send(#"{"jsonrpc":"2.0","id":\#(request?.id ?? "null"),"error":\#(error)}"#)
    }

    /// Stops receiving. From now on, sending fails for the client.
    public func stopListening() {
        _ = shutdown(descriptor, Int32(SHUT_RD))
    }

    /// Blocks until the client has gone, even after `stopListening`.
    public func waitForEnd() {
        var waited = pollfd(fd: descriptor, events: 0, revents: 0)
        while waited.revents & Int16(POLLHUP) == 0 { poll(&waited, 1, -1) }
    }
}

/// One request or answer of the client.
public struct ScriptedRequest: Sendable {
    /// The method; `nil` in an answer.
    public let method: String?
    /// The parameters as JSON.
    public let params: String?
    /// The id for the answer, as JSON; `nil` in a notification.
    public let id: String?

    package init(_ message: JSONValue) {
        func text(_ value: JSONValue?) -> String? { value.map { String(decoding: $0.rawText, as: UTF8.self) } }
        method = message["method"]?.string
        params = text(message["params"])
        id = text(message["id"])
    }
}
