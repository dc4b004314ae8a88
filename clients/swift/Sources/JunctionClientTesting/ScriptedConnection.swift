import Glibc
package import JunctionJSON

/// The daemon's end of one connection, for the thread that runs its script.
public final class ScriptedConnection {
    private let descriptor: Int32
    private var received: [UInt8] = []

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Blocks until the client has said one more line; nothing once it has gone.
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

    /// Blocks until the client has asked or answered one more thing; nothing once it has gone, or when that was no JSON.
    public func request() -> ScriptedRequest? {
        message().map(ScriptedRequest.init)
    }

    /// The same, for whoever can look into it.
    package func message() -> JSONValue? {
        line().flatMap { try? JSONValue.parse(Array($0.utf8)) }
    }

    /// Says one line.
    public func send(_ line: String) {
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let sent = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            bytes = bytes.dropFirst(sent)
        }
    }

    /// Answers what was asked.
    ///
    /// - Parameter result: JSON, for example of `docs/protocol.md`.
    public func answer(_ request: ScriptedRequest?, _ result: String) {
        send(#"{"jsonrpc":"2.0","id":\#(request?.id ?? "null"),"result":\#(result)}"#)
    }

    /// Answers what was asked with an error.
    ///
    /// - Parameter error: JSON with `code`, `message` and `data`.
    public func refuse(_ request: ScriptedRequest?, _ error: String) {
        send(#"{"jsonrpc":"2.0","id":\#(request?.id ?? "null"),"error":\#(error)}"#)
    }

    /// Takes nothing more; what the client sends from now on, it cannot send.
    public func stopListening() {
        _ = shutdown(descriptor, Int32(SHUT_RD))
    }

    /// Blocks until the client has gone, though nothing can come from it any more.
    public func waitForEnd() {
        var waited = pollfd(fd: descriptor, events: 0, revents: 0)
        while waited.revents & Int16(POLLHUP) == 0 { poll(&waited, 1, -1) }
    }
}

/// One thing that the client has asked, or answered.
public struct ScriptedRequest: Sendable {
    /// What is asked; nothing in an answer.
    public let method: String?
    /// What it is asked with, as JSON.
    public let params: String?
    /// What the answer has to bear, as JSON; nothing for what wants none.
    public let id: String?

    package init(_ message: JSONValue) {
        func text(_ value: JSONValue?) -> String? { value.map { String(decoding: $0.rawText, as: UTF8.self) } }
        method = message["method"]?.string
        params = text(message["params"])
        id = text(message["id"])
    }
}
