import Foundation
import Logging
import Testing

@testable import SandboxCloud

/// A sandbox in this process, with a client for it.
struct Sandbox: Sendable {
    let client: Client

    /// Runs a sandbox on a free port while the body runs.
    static func run<Outcome: Sendable>(
        stateFile: String? = nil,
        _ configure: (inout SandboxConfiguration) throws -> Void = { _ in },
        _ body: (Sandbox) async throws -> Outcome
    ) async throws -> Outcome {
        var configuration = SandboxConfiguration(listen: try ListenAddress("127.0.0.1:0"))
        configuration.stateFile = stateFile
        try configure(&configuration)
        let cloud = try SandboxCloud(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let (origins, announcement) = AsyncStream<String>.makeStream()

        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                defer { announcement.finish() }
                do { try await cloud.run { announcement.yield($0) } } catch is CancellationError {}
            }
            guard let origin = await origins.first(where: { _ in true }) else {
                try await group.waitForAll()
                throw CancellationError()
            }
            let port = try #require(origin.split(separator: ":").last.flatMap { UInt16($0) })
            return try await body(Sandbox(client: Client(port: port)))
        }
    }

    func get(_ path: String, headers: [String: String] = [:]) async throws -> Answer {
        try await client.send("GET", path, headers: headers)
    }

    func delete(_ path: String, headers: [String: String] = [:]) async throws -> Answer {
        try await client.send("DELETE", path, headers: headers)
    }

    func post(_ path: String, _ body: JSONValue? = nil, headers: [String: String] = [:]) async throws -> Answer {
        let bytes = try body.map { String(decoding: try $0.text(), as: UTF8.self) } ?? ""
        return try await client.send("POST", path, headers: headers, body: bytes)
    }

    func form(
        _ fields: KeyValuePairs<String, String>,
        to path: String = "/v1/token",
        authorization: String? = nil
    ) async throws -> Answer {
        var headers = ["Content-Type": Form.contentType]
        headers["Authorization"] = authorization
        let body = Form.text(fields.map { (name: $0.key, value: $0.value) })
        return try await client.send("POST", path, headers: headers, body: body)
    }
}

/// Steps that many tests share.
extension Sandbox {
    static let team = ["x-vital-api-key": Team.exampleKey]

    static func bearer(_ tokens: Tokens) -> [String: String] { ["Authorization": "Bearer \(tokens.access)"] }

    func user(_ name: String = "anna") async throws -> String {
        try #require(try await post("/sandbox/users", ["clientUserId": .string(name)]).json["userId"]?.string)
    }

    /// Returns the envelope of a Sign-In Token, as an app gets it.
    func signInToken(of user: String, _ options: JSONValue? = nil) async throws -> String {
        let answer = try await post("/sandbox/users/\(user)/sign-in-token", options)
        return try #require(answer.json["signInToken"]?.string)
    }

    func exchange(_ signInToken: String) async throws -> Answer {
        try await form([
            "grant_type": GrantType.exchange.wireName,
            "subject_token_type": JunctionCloud.signInTokenType,
            "subject_token": try userToken(in: signInToken),
        ])
    }

    func refresh(_ token: String) async throws -> Answer {
        try await form(["grant_type": "refresh_token", "refresh_token": token])
    }

    func signIn(_ user: String) async throws -> Tokens {
        try Tokens(try await exchange(try await signInToken(of: user)))
    }

    func counters() async throws -> Tally {
        try JSONDecoder().decode(Tally.self, from: try await get("/sandbox/counters").body)
    }
}

/// The token pair in an answer of the token endpoint.
struct Tokens {
    let access: String
    let refresh: String

    init(_ answer: Answer) throws {
        try #require(answer.status == 200)
        access = try #require(answer.json["access_token"]?.string)
        refresh = try #require(answer.json["refresh_token"]?.string)
    }
}

/// Returns the inner JWT of an envelope.
func userToken(in signInToken: String) throws -> String {
    let envelope = try #require(Data(base64Encoded: signInToken))
    return try #require(try JSONDecoder().decode(JSONValue.self, from: envelope)["user_token"]?.string)
}

extension JSONValue {
    var elements: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }
}
