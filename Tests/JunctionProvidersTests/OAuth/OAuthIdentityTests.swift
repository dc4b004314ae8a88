import JunctionSecret
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionProviders

/// The identity of the user who has signed in.
struct OAuthIdentityTests {
    private static func failure(
        _ answer: String,
        _ settings: [String: ProviderSetting.Value] = [:],
        then steps: [ScriptedServer.Step] = []
    ) async throws -> ExchangeFailure? {
        var failure: ExchangeFailure?
        try await Stage.play([.tokens(answer)] + steps) { stage in
            failure = try await stage.oauth(settings).exchangeFailure(OAuthSample.code)
        }
        return failure
    }

    @Test(arguments: ["user-1", "Anna", "auth0|5f7c", "é", "a b"])
    func `the identity consists of the issuer and the sub exactly as written`(sub: String) async throws {
        let token = OAuthSample.idToken(OAuthSample.claims(sub: sub))
        try await Stage.play([.tokens(OAuthSample.answer(idToken: token))]) { stage in
            let grant = try await stage.oauth().exchange(OAuthSample.code, expecting: nil)

            #expect(grant.identity.userId == sub)
            #expect(grant.identity.issuer == OAuthSample.issuer)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: [
        #"["client-1"]"#, #"["other","client-1"]"#,
    ])
    func `an id_token with several audiences is accepted if azp names this client`(audience: String) async throws {
        let claims = OAuthSample.claims(aud: audience, more: #","exp":1795266000,"azp":"client-1""#)

        let failure = try await Self.failure(OAuthSample.answer(idToken: OAuthSample.idToken(claims)))

        #expect(failure == nil)
    }

    @Test(
        arguments: [
            (OAuthSample.claims(iss: "https://id.example.com/"), "(iss)"),
            (OAuthSample.claims(aud: #""client-2""#), "(aud)"),
            (OAuthSample.claims(aud: "[]"), "(aud)"), (OAuthSample.claims(aud: #"["client-1","client-2"]"#), "(azp)"),
            (OAuthSample.claims(more: #","exp":1795266000,"azp":"client-2""#), "(azp)"),
            (OAuthSample.claims(more: #","exp":1795262099"#), "(exp)"), (OAuthSample.claims(more: ""), "(exp)"),
            (OAuthSample.claims(more: #","exp":"soon""#), "(exp)"), (OAuthSample.claims(sub: ""), "cannot be read"),
            (#"{"iss":"https://id.example.com","aud":"client-1"}"#, "cannot be read"),
            ("not JSON", "cannot be read"),
        ]
    )
    func `an id_token that is invalid for this client refuses the sign-in, and the session gets the tokens to revoke`(
        claims: String,
        words: String
    ) async throws {
        try await Stage.play([.tokens(OAuthSample.answer(idToken: OAuthSample.idToken(claims))), .answer(200, [], "")])
        { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            let why = try #require(await oauth.exchangeFailure(OAuthSample.code, store: kept.store)?.refusal)
            #expect(why.contains(words), "\(why)")
            try await oauth.revokePartialGrant(try #require(kept.content))
            #expect(
                stage.server.requests.last?.fields.prefix(2) == ["token=refresh-1", "token_type_hint=refresh_token"]
            )
        }
    }

    @Test func `the end of an id_token is read by the server's clock, with a tolerance`() async throws {
        // The server's clock is ten minutes behind the local one. By the local clock the token expired more than five
        // minutes ago.
        let claims = OAuthSample.claims(more: #","exp":1795262000"#)
        let answer = OAuthSample.answer(idToken: OAuthSample.idToken(claims))
        let step = ScriptedServer.Step.answer(200, [("date", "Sat, 21 Nov 2026 11:50:00 GMT")], answer)
        try await Stage.play([step]) { stage in
            let failure = try await stage.oauth().exchangeFailure(OAuthSample.code)

            #expect(failure == nil)
        }
    }

    @Test func `without an id_token the userinfo endpoint is requested with the new token`() async throws {
        try await Stage.play([.tokens(OAuthSample.anonymous), .json(200, #"{"sub":"user-1"}"#)]) { stage in
            let grant = try await stage.oauth().exchange(OAuthSample.code, expecting: nil)

            #expect(grant.identity == OAuthSample.identity)
            #expect(stage.server.requests.last?.line == "GET /userinfo HTTP/1.1")
            #expect(stage.server.requests.last?.header("authorization") == "Bearer access-1")
        }
    }

    @Test func `a configured userinfo endpoint is always requested and has to agree with the id_token`() async throws {
        let other = ScriptedServer.Step.json(200, #"{"sub":"user-2"}"#)
        let failure = try await Self.failure(OAuthSample.answer, ["identity": "userinfo"], then: [other])

        let words = try #require(failure?.refusal)
        #expect(words.contains("names one user in the id_token and another in its userinfo"))
    }

    @Test(arguments: [
        ScriptedServer.Step.json(200, "{}"), .json(200, #"{"sub":7}"#), .json(200, #"{"sub":null}"#),
    ])
    func `a userinfo answer without a user refuses the sign-in`(step: ScriptedServer.Step) async throws {
        #expect(try await Self.failure(OAuthSample.anonymous, then: [step])?.refusal != nil)
    }

    @Test func `a server without id_token and userinfo refuses the sign-in and names the setting`() async throws {
        try await Stage.play([]) { stage in
            stage.server.script([.json(200, #"{"issuer":"\#(stage.server.url)"}"#), .tokens(OAuthSample.anonymous)])
            let settings: [String: ProviderSetting.Value] = ["tokenEndpoint": .text(stage.server.url + "/token")]
            let words = try #require(try await stage.discovering(settings).exchangeFailure(OAuthSample.code)?.refusal)
            #expect(words.contains("add openid to oauth.scopes"))
        }
    }

    @Test(arguments: [
        ScriptedServer.Step.answer(503, [], ""), .closeConnection, .answer(429, [], ""), .answer(200, [], "<html>"),
        .json(401, "{}"), .json(401, #"{"error":"invalid_token"}"#), .answer(403, [], "<html>"), .json(404, "{}"),
        .answer(400, [], ""), .json(200, #"{"error":"invalid_token"}"#),
    ])
    func `after a failure of the userinfo endpoint the next attempt requests only userinfo`(
        trouble: ScriptedServer.Step
    ) async throws {
        try await Stage.play([.tokens(OAuthSample.anonymous), trouble, .json(200, #"{"sub":"user-1"}"#)]) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            let failure = await oauth.exchangeFailure(OAuthSample.code, store: kept.store)
            let grant = try await oauth.exchange(OAuthSample.code, expecting: nil, store: kept.store)

            #expect(failure?.unavailability != nil)
            #expect(grant.refreshToken?.text == "refresh-1")
            #expect(stage.server.requests.map { $0.line.prefix(5) } == ["POST ", "GET /", "GET /"])
        }
    }

    @Test func `temporarily missing metadata loses no tokens`() async throws {
        try await Stage.play([]) { stage in
            let url = stage.server.url
            stage.server.script([
                .tokens(OAuthSample.anonymous), .answer(404, [], ""), .answer(404, [], ""),
                .json(200, #"{"issuer":"\#(url)","userinfo_endpoint":"\#(url)/userinfo"}"#),
                .json(200, #"{"sub":"user-1"}"#),
            ])
            let (oauth, kept) = (try stage.discovering(["tokenEndpoint": .text(url + "/token")]), KeptGrant())
            let failure = await oauth.pollFailure(store: kept.store)
            let grant = try await oauth.poll(OAuthSample.codes, store: kept.store)

            let why = try #require(failure?.unavailability)
            #expect(why.message.contains("set oauth.userinfoEndpoint"))
            #expect(grant.refreshToken?.text == "refresh-1")
            #expect(!stage.server.requests.contains { $0.line.contains("/revoke") })
        }
    }

    @Test func `a granted poll is not repeated after a failure that followed it`() async throws {
        let steps: [ScriptedServer.Step] = [
            .tokens(OAuthSample.anonymous), .answer(503, [], ""), .json(200, #"{"sub":"user-1"}"#),
        ]
        try await Stage.play(steps) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            let failure = await oauth.pollFailure(store: kept.store)
            let grant = try await oauth.poll(OAuthSample.codes, store: kept.store)

            #expect(failure?.unavailability != nil)
            #expect(grant.scheme == .device)
            #expect(stage.server.requests.map { $0.line.prefix(5) } == ["POST ", "GET /", "GET /"])
        }
    }

    @Test func `the life of a stored token counts from the time of its grant`() async throws {
        try await Stage.play([.tokens(OAuthSample.anonymous), .closeConnection, .json(200, #"{"sub":"user-1"}"#)]) {
            stage in
            let (before, kept) = (try stage.oauth(), KeptGrant())
            let grantedAt = stage.clock.now().uptime
            _ = await before.exchangeFailure(OAuthSample.code, store: kept.store)
            stage.clock.advance(by: .seconds(100))
            // A new process continues with the content of the record.
            let grant = try await stage.oauth().exchange(OAuthSample.code, expecting: nil, store: kept.store)

            #expect(grant.token?.life.end == grantedAt + .seconds(3_600))
            #expect(grant.scheme == .authorizationCode)
            #expect(grant.endpointOrigins?.token == stage.server.url)
        }
    }

    @Test func `tokens and codes of another issuer are neither used nor revoked`() async throws {
        try await Stage.play([.tokens(OAuthSample.anonymous), .answer(503, [], "")]) { stage in
            let kept = KeptGrant()
            _ = await (try stage.oauth()).exchangeFailure(OAuthSample.code, store: kept.store)
            let count = stage.server.requests.count
            let other = try stage.oauth(["issuer": "https://other.example.com"])
            try await other.revokePartialGrant(try #require(kept.content))
            #expect(other.partialGrant(kept.store) == nil)
            var codes = OAuthSample.codes
            codes.issuer = OAuthSample.issuer
            guard case .refused? = await other.pollFailure(codes) else {
                Issue.record("The codes of another issuer were polled")
                return
            }
            #expect(stage.server.requests.count == count)
        }
    }

    @Test func `an id_token needs no second request, and nothing is stored`() async throws {
        try await Stage.play([.tokens()]) { stage in
            let kept = KeptGrant()
            _ = try await stage.oauth().exchange(OAuthSample.code, expecting: nil, store: kept.store)

            #expect(kept.content == nil)
        }
    }

    @Test(arguments: [
        ScriptedServer.Step.answer(403, [], "<html>"), .closeConnection, .json(400, #"{"error":"invalid_client"}"#),
    ])
    func `the revocation of a grant is repeated until the server confirms it`(trouble: ScriptedServer.Step) async throws
    {
        let steps: [ScriptedServer.Step] = [
            .tokens(OAuthSample.anonymous), .answer(503, [], ""), trouble, .answer(200, [], ""),
        ]
        try await Stage.play(steps) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            _ = await oauth.pollFailure(store: kept.store)
            let grant = try #require(kept.content)
            await #expect(throws: Unavailability.self) { try await oauth.revokePartialGrant(grant) }
            try await oauth.revokePartialGrant(grant)

            #expect(stage.server.requests.dropFirst(2).allSatisfy { $0.line == "POST /revoke HTTP/1.1" })
            #expect(stage.server.requests.dropFirst(2).allSatisfy { $0.fields.first == "token=refresh-1" })
        }
    }

    @Test func `an access token of another type is kept until it is revoked, and never used`() async throws {
        let bound = #"{"access_token":"access-1","token_type":"DPoP","expires_in":3600}"#
        try await Stage.play([.tokens(bound), .tokens(), .answer(200, [], "")]) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            #expect(await oauth.exchangeFailure(OAuthSample.code, store: kept.store)?.refusal != nil)
            let grant = try #require(kept.content)
            _ = try await oauth.exchange(OAuthSample.code, expecting: nil, store: kept.store)
            #expect(stage.server.requests.map(\.line) == Array(repeating: "POST /token HTTP/1.1", count: 2))

            try await oauth.revokePartialGrant(grant)
            #expect(stage.server.requests.last?.fields.first == "token=access-1")
        }
    }

    @Test func `the userinfo endpoint is not requested if no caller waits any more`() async throws {
        try await Stage.play([.tokens(OAuthSample.anonymous)]) { stage in
            let kept = KeptGrant(isWanted: false)
            let failure = try await stage.oauth().pollFailure(store: kept.store)

            #expect(failure?.unavailability != nil)
            #expect(stage.server.requests.count == 1)
        }
    }
}
