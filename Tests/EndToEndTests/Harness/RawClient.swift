import Foundation
import JunctionTesting

typealias Object = [String: Any]

/// A JSON-RPC client that shares no code with the project. It uses a socket, lines and Foundation's JSON.
final class RawClient {
    let socket: TestSocket
    private var lastIdentifier = 0

    /// - Parameter patience: The number of seconds without data that count as a failure.
    init(_ path: String, patience: Int = 60) throws {
        socket = try TestSocket(.path(path), patience: patience)
    }

    // MARK: Lines

    func send(_ line: String) {
        send(bytes: Array((line + "\n").utf8))
    }

    /// Sends the bytes, or as many as the daemon takes before it closes the connection.
    func send(bytes: [UInt8]) {
        try? socket.send(bytes)
    }

    /// Reads the next line. Returns `nil` at the end.
    func line() throws -> String? {
        try socket.lines.next()
    }

    func rest() throws -> Data {
        try socket.lines.rest()
    }

    /// Reads the next line as any JSON value.
    func json() throws -> Any {
        guard let line = try line() else { throw TestFailure(description: "The daemon closed the connection") }
        return try JSONSerialization.jsonObject(with: Data(line.utf8), options: .fragmentsAllowed)
    }

    /// Reads the next message as an object.
    func message() throws -> Object {
        let json = try json()
        guard let object = json as? Object else { throw TestFailure(description: "Not an object: \(json)") }
        return object
    }

    // MARK: Calls

    func request(_ method: String, _ params: Object? = nil) throws -> Int {
        lastIdentifier += 1
        var object: Object = ["jsonrpc": "2.0", "id": lastIdentifier, "method": method]
        if let params { object["params"] = params }
        send(String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self))
        return lastIdentifier
    }

    /// Reads the complete answer to a request. Drops the messages before it.
    func envelope(of identifier: Int) throws -> Object {
        while true {
            let message = try message()
            if message["id"] as? Int == identifier, message["method"] == nil { return message }
        }
    }

    /// Reads the result of a request, or throws its error.
    @discardableResult
    func answer(to identifier: Int) throws -> Object {
        let envelope = try envelope(of: identifier)
        guard let result = envelope["result"] else {
            throw RemoteError(envelope["error"] as? Object ?? [:])
        }
        return result as? Object ?? [:]
    }

    @discardableResult
    func call(_ method: String, _ params: Object? = nil) throws -> Object {
        try answer(to: request(method, params))
    }

    /// Reads the error of a request. Throws if the request succeeded.
    func refusal(of identifier: Int) throws -> RemoteError {
        do {
            throw TestFailure(description: "There was no error but \(try answer(to: identifier))")
        } catch let error as RemoteError {
            return error
        }
    }

    func refusal(_ method: String, _ params: Object? = nil) throws -> RemoteError {
        try refusal(of: request(method, params))
    }

    // MARK: Requests of the daemon

    /// Reads the next request of the daemon.
    func question() throws -> (method: String, identifier: Any, params: Object) {
        while true {
            let message = try message()
            if let method = message["method"] as? String, let identifier = message["id"] {
                return (method, identifier, message["params"] as? Object ?? [:])
            }
        }
    }

    func reply(to identifier: Any, _ result: Object) throws {
        try reply(["jsonrpc": "2.0", "id": identifier, "result": result])
    }

    func replyError(to identifier: Any) throws {
        try reply(to: identifier, saying: ["error": ["code": 1, "message": "no"] as Object])
    }

    /// Answers with arbitrary members in the place of `result` or `error`.
    func reply(to identifier: Any, saying members: Object) throws {
        try reply(members.merging(["jsonrpc": "2.0", "id": identifier]) { $1 })
    }

    private func reply(_ object: Object) throws {
        send(String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self))
    }

    // MARK: Watching

    /// Reads the next snapshot. The connection must be subscribed.
    func snapshot() throws -> Object {
        while true {
            let message = try message()
            if message["method"] as? String == "session.changed",
                let snapshot = (message["params"] as? Object)?["snapshot"] as? Object
            {
                return snapshot
            }
        }
    }

    @discardableResult
    func awaitSnapshot(_ fits: (Object) -> Bool) throws -> Object {
        while true {
            let snapshot = try snapshot()
            if fits(snapshot) { return snapshot }
        }
    }
}

struct RemoteError: Error, CustomStringConvertible {
    var code: Int
    var kind: String
    var message: String
    var retryAfter: Double?
    var userId: String?
    var capability: String?
    var maximum: Double?
    /// The code of the termination in the error, if there is one.
    var termination: String?

    init(_ object: Object) {
        code = object["code"] as? Int ?? 0
        message = object["message"] as? String ?? ""
        let data = object["data"] as? Object ?? [:]
        kind = data["kind"] as? String ?? ""
        retryAfter = data["retryAfter"] as? Double
        userId = data["userId"] as? String
        capability = data["capability"] as? String
        maximum = data["maximum"] as? Double
        termination = (data["termination"] as? Object)?["code"] as? String
    }

    var description: String { "\(code) \(kind): \(message)" }
}

extension [String: Any] {
    var state: String { self["state"] as? String ?? "" }
    var userId: String? { self["userId"] as? String }
    var externalUserId: String? { self["externalUserId"] as? String }
    var flags: [String] { self["flags"] as? [String] ?? [] }
    var revision: Int { self["revision"] as? Int ?? 0 }
    var generation: Int? { (self["accessToken"] as? Object)?["generation"] as? Int }
    var accessToken: String? { self["accessToken"] as? String }
    /// The expiry of the access token in a snapshot.
    var tokenEnd: Date? { (self["accessToken"] as? Object)?.time("expiresAt") }
    var renewal: Object { self["renewal"] as? Object ?? [:] }
    var termination: Object? { self["termination"] as? Object }
    var phase: String? { renewal["phase"] as? String }
    var storage: Object { self["storage"] as? Object ?? [:] }
    var notBefore: Date? { renewal.time("notBefore") }
    var isDurable: Bool { storage["durable"] as? Bool ?? false }

    /// Reads an RFC 3339 time with or without fractions of a second.
    func time(_ name: String) -> Date? {
        guard let text = self[name] as? String else { return nil }
        return try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains(".")))
    }

    func integer(_ path: String...) -> Int {
        var value: Any? = self
        for step in path { value = (value as? Object)?[step] }
        return value as? Int ?? 0
    }
}
