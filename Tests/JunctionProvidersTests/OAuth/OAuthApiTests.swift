import JunctionSecret
import JunctionSession
import JunctionTesting
import NIOPosix
import Testing

@testable import JunctionProviders

struct OAuthApiTests {
    private static func validate(_ path: String, at api: String? = "https://api.example.com/v1/") throws -> ApiRequest {
        var settings: [String: ProviderSetting.Value] = ["issuer": .text(OAuthSample.issuer), "clientId": "client-1"]
        settings["apiUrl"] = api.map { .text($0) }
        let http = OutgoingHTTP(eventLoop: ScriptedServer.group.next(), helper: .built, userAgent: "test")
        let oauth = OAuthProvider(setup: try .checked(settings), http: http, clock: ManualClock(ManualClock.start))
        return try oauth.validate(ApiRequest(method: "get", path: path), for: OAuthSample.identity)
    }

    @Test(
        arguments: [
            ("/me", "/me"), ("/users/", "/users/"), ("/docs/a:batch", "/docs/a%3Abatch"), ("/a%20b/ü", "/a%20b/%C3%BC"),
            ("/users/anna@example.com", "/users/anna%40example.com"),
        ]
    )
    func `a path below the base is sent in its normal form`(path: String, sent: String) throws {
        let admitted = try Self.validate(path)

        #expect(admitted.path == sent)
        #expect(admitted.method == "GET")
    }

    @Test(arguments: [
        "", "me", "/", "//", "//evil.example.com/x", "/a//b", "/../v2", "/a/..", "/%2e%2e/v2", "/a%2Fb", "/a\\b",
        "/a%5Cb",
        "/a?x=1", "/a#x", "/a;x", "/a%3Bx", "/a%00", "/%ff", "/a%", "https://api.example.com/v1/me", "/a//",
    ])
    func `an ambiguous path, or one that leaves the base, is refused without a request`(path: String) throws {
        let refusal = #expect(throws: SessionError.self) { try Self.validate(path) }

        #expect(refusal?.kind == .permissionDenied)
    }

    @Test func `without a configured API a call is unsupported`() throws {
        let refusal = #expect(throws: SessionError.self) { try Self.validate("/me", at: nil) }

        #expect(refusal?.kind == .unsupported)
        #expect(refusal?.message.contains("oauth.apiUrl") == true)
    }

    @Test func `a request goes to the base with the session's token, and a 401 ends nothing`() async throws {
        try await Stage.play([.json(401, #"{"error":"invalid_token"}"#)]) { stage in
            let oauth = try stage.oauth(["apiUrl": .text(stage.server.url + "/v1/")])
            let request = try oauth.validate(
                ApiRequest(method: "GET", path: "/me", query: [("a", "b c")]),
                for: OAuthSample.identity
            )
            let answer = try await oauth.send(request, for: OAuthSample.identity, with: OAuthSample.secrets)

            #expect(stage.server.requests.first?.line == "GET /v1/me?a=b%20c HTTP/1.1")
            #expect(stage.server.requests.first?.header("authorization") == "Bearer access-secret")
            #expect(answer.status == 401)
            #expect(oauth.verdict(in: answer) == nil)
        }
    }
}
