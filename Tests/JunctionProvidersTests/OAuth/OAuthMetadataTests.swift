import JunctionSecret
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionProviders

/// The discovery of a server's endpoints.
struct OAuthMetadataTests {
    /// Returns the metadata of a server at this URL.
    private static func metadata(_ url: String, issuer: String? = nil, more: String = "") -> String {
        #"{"issuer":"\#(issuer ?? url)","token_endpoint":"\#(url)//api/token/"\#(more)}"#
    }

    private static func lines(_ stage: Stage) -> [String] {
        stage.server.requests.map { String($0.line.dropLast(" HTTP/1.1".count)) }
    }

    /// Plays answers that depend on the URL of the server.
    private static func play(
        answering steps: (String) -> [ScriptedServer.Step],
        with settings: [String: ProviderSetting.Value] = [:],
        path: String = "",
        _ test: (Stage, OAuthProvider) async throws -> Void
    ) async throws {
        try await Stage.play([]) { stage in
            let issuer = stage.server.url + path
            stage.server.script(steps(issuer))
            let setup = try OAuthSetup.discovering(issuer, settings)
            try await test(stage, OAuthProvider(setup: setup, http: stage.http, clock: stage.clock))
        }
    }

    @Test func `an endpoint is discovered when it is needed, and its URL is used exactly`() async throws {
        let steps = { (url: String) in
            [.json(200, Self.metadata(url)), .json(400, #"{"error":"x"}"#)] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth in
            #expect(stage.server.requests.isEmpty)

            _ = await oauth.exchangeFailure(OAuthSample.code)

            #expect(Self.lines(stage) == ["GET /.well-known/openid-configuration", "POST //api/token/"])
        }
    }

    @Test func `the second metadata URL precedes the path, and is used if the first has no metadata`() async throws {
        let steps = { (url: String) in
            [.answer(404, [], "<html>"), .json(200, Self.metadata(url)), .json(400, #"{"error":"x"}"#)]
                as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps, path: "/realms/a") { stage, oauth in
            _ = await oauth.exchangeFailure(OAuthSample.code)

            #expect(
                Self.lines(stage).prefix(2) == [
                    "GET /realms/a/.well-known/openid-configuration",
                    "GET /.well-known/oauth-authorization-server/realms/a",
                ]
            )
            #expect(stage.server.requests.count == 3)
        }
    }

    @Test func `a slash at the end of an issuer is in neither metadata URL`() async throws {
        let steps = { (_: String) in [.answer(404, [], ""), .answer(404, [], "")] as [ScriptedServer.Step] }
        try await Self.play(answering: steps, path: "/o/") { stage, oauth in
            _ = await oauth.exchangeFailure(OAuthSample.code)

            #expect(
                Self.lines(stage) == [
                    "GET /o/.well-known/openid-configuration", "GET /.well-known/oauth-authorization-server/o",
                ]
            )
        }
    }

    @Test func `a slash at the end of an issuer is a difference, and the message has both names`() async throws {
        let steps = { (url: String) in
            [.json(200, Self.metadata(url, issuer: url + "/")), .answer(404, [], "")] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth in
            let failure = await oauth.exchangeFailure(OAuthSample.code)

            let why = try #require(failure?.unavailability)
            #expect(why.message.contains("calls itself \(stage.server.url)/, and oauth.issuer is \(stage.server.url):"))
            #expect(why.cause == .configuration && why.host == stage.server.place)
            #expect(!why.ambiguous)
        }
    }

    @Test func `two documents may name two issuers of which one is right`() async throws {
        let steps = { (url: String) in
            [
                .json(200, Self.metadata(url, issuer: url + "/o")), .json(200, Self.metadata(url)),
                .json(400, #"{"error":"invalid_grant"}"#),
            ] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { _, oauth in
            #expect(await oauth.exchangeFailure(OAuthSample.code)?.refusal != nil)
        }
    }

    @Test func `metadata that lacks the needed endpoint is requested again at the next attempt`() async throws {
        let steps = { (url: String) in
            [.json(200, #"{"issuer":"\#(url)"}"#), .json(200, Self.metadata(url)), .json(400, #"{"error":"x"}"#)]
                as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth in
            let failure = await oauth.exchangeFailure(OAuthSample.code)
            #expect(failure?.unavailability?.cause == .configuration)

            _ = await oauth.exchangeFailure(OAuthSample.code)
            #expect(Self.lines(stage).last == "POST //api/token/")
        }
    }

    @Test func `metadata is cached for as long as the answer allows, within bounds`() async throws {
        let steps = { (url: String) in
            [
                .answer(200, [("cache-control", "public, max-age=900")], Self.metadata(url)), .json(400, "{}"),
                .json(400, "{}"), .answer(200, [("cache-control", "no-store")], Self.metadata(url)), .json(400, "{}"),
                .json(400, "{}"),
            ] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth in
            for seconds in [0, 899, 1, 299] {
                stage.clock.advance(by: .seconds(seconds))
                _ = await oauth.exchangeFailure(OAuthSample.code)
            }

            #expect(Self.lines(stage).map { $0.prefix(4) } == ["GET ", "POST", "POST", "GET ", "POST", "POST"])
        }
    }

    @Test func `cached metadata is used while the server's metadata fails`() async throws {
        let steps = { (url: String) in
            [.json(200, Self.metadata(url)), .json(400, "{}")]
                + [ScriptedServer.Step](repeating: .answer(503, [], ""), count: 2) + [.json(400, "{}")]
        }
        try await Self.play(answering: steps) { stage, oauth in
            _ = await oauth.exchangeFailure(OAuthSample.code)
            stage.clock.advance(by: .seconds(7_200))
            _ = await oauth.exchangeFailure(OAuthSample.code)

            #expect(Self.lines(stage).map { $0.prefix(4) } == ["GET ", "POST", "GET ", "GET ", "POST"])
        }
    }

    @Test func `configured endpoints take precedence and need no metadata`() async throws {
        try await Stage.play([.json(400, "{}")]) { stage in
            let url = stage.server.url
            let oauth = try stage.discovering([
                "tokenEndpoint": .text(url + "/mine?v=2"), "revocationEndpoint": .text(url + "/revoke"),
                "userinfoEndpoint": .text(url + "/userinfo"),
            ])
            _ = await oauth.exchangeFailure(OAuthSample.code)

            #expect(Self.lines(stage) == ["POST /mine?v=2"])
        }
    }

    @Test(arguments: [
        ScriptedServer.Step.answer(302, [("location", "/login")], ""), .answer(500, [], ""), .answer(503, [], ""),
    ])
    func `a login page or an error at the first URL does not hide the second`(
        step: ScriptedServer.Step
    ) async throws {
        let steps = { (url: String) in
            [step, .json(200, Self.metadata(url)), .json(400, #"{"error":"invalid_grant"}"#)] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { _, oauth in
            #expect(await oauth.exchangeFailure(OAuthSample.code)?.refusal != nil)
        }
    }

    @Test(arguments: [
        (ScriptedServer.Step.answer(500, [], ""), 2), (.answer(502, [], "<html>"), 2), (.closeConnection, 1),
        (.answer(302, [("location", "/")], ""), 2), (.answer(429, [("retry-after", "7")], ""), 1),
    ])
    func `a metadata failure is transient, and no form was sent`(
        trouble: ScriptedServer.Step,
        places: Int
    ) async throws {
        try await Stage.play([trouble, .answer(404, [], "")]) { stage in
            let identity = Identity(userId: "user-1", issuer: stage.server.url)
            let failure = try await stage.discovering().renewalFailure(OAuthSample.secrets, identity)

            let why = try #require(failure?.unavailability)
            #expect(!why.ambiguous)
            #expect(why.message.contains(stage.server.place))
            #expect(why.host == stage.server.place)
            #expect(why.cause != .other)
            #expect(stage.server.requests.count == places)
        }
    }

    @Test func `an unencrypted endpoint is not used`() async throws {
        let steps = { (url: String) in
            [.json(200, #"{"issuer":"\#(url)","token_endpoint":"http://id.example.com/token"}"#)]
                as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth in
            let failure = await oauth.exchangeFailure(OAuthSample.code)

            let why = try #require(failure?.unavailability)
            #expect(
                why.message.contains(
                    "names a token endpoint that cannot be used: http://id.example.com is not encrypted"
                )
            )
            #expect(why.message.contains("set oauth.tokenEndpoint"))
        }
    }

    @Test func `a server without metadata is reported with the setting that helps`() async throws {
        try await Stage.play([.answer(404, [], ""), .answer(404, [], "")]) { stage in
            let failure = try await stage.discovering().exchangeFailure(OAuthSample.code)

            let why = try #require(failure?.unavailability)
            #expect(
                why.message
                    == "\(stage.server.place) has no metadata where oauth.issuer points: correct oauth.issuer, or "
                    + "set oauth.tokenEndpoint"
            )
            #expect(why.cause == .configuration)
        }
    }

    @Test(arguments: [(200, "<html>Maintenance</html>"), (403, ""), (200, "{}")])
    func `an answer that is not metadata is temporary, because a gateway may have given it`(
        status: Int,
        body: String
    ) async throws {
        try await Stage.play([.answer(404, [], ""), .answer(status, [], body)]) { stage in
            let failure = try await stage.discovering().exchangeFailure(OAuthSample.code)

            let why = try #require(failure?.unavailability)
            #expect(why.message == "\(stage.server.place) answered without metadata (\(status))")
            #expect(why.cause == .answer)
        }
    }

    /// The challenge of RFC 7636, appendix B.
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    @Test(arguments: [
        ("http://evil.example/cb", challenge), ("done", challenge), ("http://127.0.0.1/#x", challenge),
        ("http://127.0.0.1/", ""), ("http://127.0.0.1/", "plain"), ("http://127.0.0.1/", challenge + "="),
        ("http://127.0.0.1/", String(repeating: "~", count: 43)),
    ])
    func `a page with an unusable redirect URI or an unencrypted endpoint is refused`(
        redirectUri: String,
        codeChallenge: String
    ) async throws {
        try await Stage.play([]) { stage in
            let page = AuthorizationPage(
                redirectUri: redirectUri,
                state: "state-1",
                proof: .challenge(codeChallenge)
            )
            let failure = await #expect(throws: AuthorizationPageFailure.self) {
                try await stage.discovering().authorizationPage(page)
            }

            #expect(failure?.refusal.kind == .invalidParameters)
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test(arguments: [
        String(repeating: "v", count: 42), String(repeating: "v", count: 129), String(repeating: "v", count: 42) + "=",
        String(repeating: "v", count: 42) + " ", "",
    ])
    func `an invalid code verifier is refused without a request`(verifier: String) async throws {
        try await Stage.play([]) { stage in
            let page = AuthorizationPage(
                redirectUri: "http://127.0.0.1/",
                state: "state-1",
                proof: .verifier(SharedSecret(text: verifier))
            )
            let failure = await #expect(throws: AuthorizationPageFailure.self) {
                try await stage.discovering().authorizationPage(page)
            }

            #expect(failure?.refusal.kind == .invalidParameters)
            #expect(failure?.refusal.message.contains("codeVerifier") == true)
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test(arguments: [
        AuthorizationPage.Proof.challenge(challenge),
        // The verifier of the same appendix.
        .verifier(SharedSecret(text: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")),
    ])
    func `the page of a browser sign-in has all configured parameters`(
        proof: AuthorizationPage.Proof
    ) async throws {
        let more = { (url: String) in #","authorization_endpoint":"\#(url)/authorize?tenant=a""# }
        let steps = { (url: String) in [.json(200, Self.metadata(url, more: more(url)))] as [ScriptedServer.Step] }
        let settings: [String: ProviderSetting.Value] = [
            "scopes": ["openid", "a:b"], "audience": "api", "resource": ["https://api.example.com/"],
        ]
        try await Self.play(answering: steps, with: settings) { stage, oauth in
            let page = try await oauth.authorizationPage(
                AuthorizationPage(
                    redirectUri: "http://127.0.0.1:7000/done",
                    state: "state-1",
                    proof: proof
                )
            )

            #expect(
                page == stage.server.url + "/authorize?tenant=a&response_type=code&client_id=client-1"
                    + "&redirect_uri=http%3A%2F%2F127.0.0.1%3A7000%2Fdone&state=state-1"
                    + "&code_challenge=\(Self.challenge)&code_challenge_method=S256&scope=openid%20a%3Ab&audience=api"
                    + "&resource=https%3A%2F%2Fapi.example.com%2F"
            )
        }
    }
}
