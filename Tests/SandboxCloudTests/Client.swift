import Foundation
import JunctionTesting

@testable import SandboxCloud

struct Answer: Sendable {
    let status: Int
    let headers: [String: String]
    let body: Data

    var json: JSONValue { (try? JSONDecoder().decode(JSONValue.self, from: body)) ?? .null }

    var errorType: String? { json["detail"]?["error_type"]?.string }
}

/// The error when the server closes the connection without sending a byte.
struct NoAnswer: Error {}

/// An HTTP client with one connection per request, no retry and no redirect.
///
/// URLSession is not used, because it repeats a request when a connection is dropped, and these tests drop connections.
struct Client: Sendable {
    let port: UInt16

    func send(
        _ method: String,
        _ path: String,
        headers: [String: String] = [:],
        body: String = ""
    ) async throws -> Answer {
        let host = headers["Host"] ?? "127.0.0.1:\(port)"
        var head = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n"
        head += "Content-Length: \(body.utf8.count)\r\n"
        for (name, value) in headers where name != "Host" { head += "\(name): \(value)\r\n" }
        let connection = try TestSocket(.loopback(port: port))
        try connection.send(head + "\r\n" + body)
        return try Self.answer(await connection.readToEnd())
    }

    /// Sends a request and returns the connection without waiting for the answer.
    func start(_ method: String, _ path: String, headers: [String: String] = [:]) throws -> TestSocket {
        let lines = headers.map { "\($0): \($1)\r\n" }.joined()
        let connection = try TestSocket(.loopback(port: port))
        try connection.send(
            "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: 0\r\n\(lines)\r\n"
        )
        return connection
    }

    private static func answer(_ bytes: Data) throws -> Answer {
        guard let end = bytes.firstRange(of: Data("\r\n\r\n".utf8)) else { throw NoAnswer() }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let headers = lines.dropFirst().map { line in
            let halves = line.split(separator: ":", maxSplits: 1)
            return (halves[0].lowercased(), halves[1].trimmingCharacters(in: .whitespaces))
        }
        return Answer(
            status: Int(lines[0].split(separator: " ")[1]) ?? 0,
            headers: Dictionary(headers) { first, _ in first },
            body: Data(bytes[end.upperBound...])
        )
    }
}

extension TestSocket {
    /// Reads until the text arrives or the server closes the connection.
    func read(until wanted: some StringProtocol & Sendable) async throws -> String {
        // On a separate thread, because the sandbox needs the shared ones.
        try await onThread { [self] in
            var all = Data()
            while all.range(of: Data(wanted.utf8)) == nil, case let more = try lines.chunk(), !more.isEmpty {
                all += more
            }
            return String(decoding: all, as: UTF8.self)
        }
    }

    func readToEnd() async throws -> Data {
        try await onThread { [self] in try lines.rest() }
    }
}
