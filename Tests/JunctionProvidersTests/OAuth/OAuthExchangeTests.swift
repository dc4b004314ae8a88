import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct OAuthExchangeTests {
    private static let asking: [String: ProviderSetting.Value] = [
        "audience": "api-1", "resource": ["https://a.example.com/", "urn:b"],
    ]

    @Test func `a code is redeemed with its verifier and without scopes`() async throws {
        try await Stage.play([.tokens()]) { stage in
            let grant = try await stage.oauth(Self.asking).exchange(OAuthSample.code, expecting: nil)

            let request = try #require(stage.server.requests.first)
            #expect(request.line == "POST /token HTTP/1.1")
            #expect(request.header("content-type") == "application/x-www-form-urlencoded")
            #expect(request.header("accept") == "application/json")
            #expect(
                request.fields == [
                    "grant_type=authorization_code", "code=code%20secret%2B1",
                    "redirect_uri=http%3A%2F%2F127.0.0.1%3A7000%2Fdone", "code_verifier=\(OAuthSample.verifier)",
                    "resource=https%3A%2F%2Fa.example.com%2F", "resource=urn%3Ab", "client_id=client-1",
                ]
            )
            #expect(grant.scheme == .authorizationCode)
            #expect(grant.identity == OAuthSample.identity)
        }
    }

    @Test func `another program's refresh token is redeemed without scope, audience and resource`() async throws {
        try await Stage.play([.tokens()]) { stage in
            let credential = Credential.refreshToken(SharedSecret(text: "old"))
            let grant = try await stage.oauth(Self.asking).exchange(credential, expecting: nil)

            #expect(
                stage.server.requests.first?.fields == [
                    "grant_type=refresh_token", "refresh_token=old", "client_id=client-1",
                ]
            )
            #expect(grant.scheme == .refreshToken)
            #expect(grant.refreshToken?.text == "refresh-1")
        }
    }

    @Test func `a subject token is exchanged with all parameters, and its type is kept for the renewals`()
        async throws
    {
        try await Stage.play([.tokens(OAuthSample.answer(idToken: OAuthSample.idToken(), more: ""))]) { stage in
            let grant = try await stage.oauth(Self.asking).exchange(OAuthSample.subjectToken, expecting: nil)

            #expect(
                stage.server.requests.first?.fields == [
                    "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange",
                    "subject_token=subject-secret",
                    "subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Ajwt",
                    "scope=openid%20offline_access",
                    "audience=api-1", "resource=https%3A%2F%2Fa.example.com%2F", "resource=urn%3Ab",
                    "client_id=client-1",
                ]
            )
            #expect(grant.scheme == .tokenExchange)
            #expect(grant.subjectTokenType == "urn:ietf:params:oauth:token-type:jwt")
        }
    }

    @Test func `a token exchange that returns a refresh token makes a session with that scheme`() async throws {
        try await Stage.play([.tokens()]) { stage in
            let grant = try await stage.oauth().exchange(OAuthSample.subjectToken, expecting: nil)

            #expect(grant.scheme == .refreshToken)
            // In handler mode, an app may still give a subject token.
            #expect(grant.subjectTokenType == "urn:ietf:params:oauth:token-type:jwt")
        }
    }

    @Test func `a session without a refresh token ends with its token, and doctor reports that`() async throws {
        let answer = OAuthSample.answer(idToken: OAuthSample.idToken(), more: #","scope":"offline_access x""#)
        try await Stage.play([.tokens(answer), .answer(404, [], ""), .answer(404, [], "")]) { stage in
            let oauth = try stage.oauth(["issuer": .text(OAuthSample.issuer)])
            let grant = try await oauth.exchange(OAuthSample.code, expecting: nil)

            #expect(grant.refreshToken == nil)
            #expect(grant.token?.expiresAt == ManualClock.noon + .seconds(3_600))
            let notes = oauth.notes.findings
            #expect(notes.map(\.name) == ["provider refresh token", "provider scopes"])
            #expect(notes.map(\.verdict) == [.note, .note])
            #expect(notes.last?.detail == "The server did not grant: openid")
        }
    }

    @Test(
        arguments: [
            (#""expires_in":"600""#, .seconds(600)), (#""expires_in":600.0"#, .seconds(600)),
            (#""expires_in":0"#, OAuthTokens.assumedLife), (#""expires_in":null"#, OAuthTokens.assumedLife),
            (#""other":1"#, OAuthTokens.assumedLife), (#""expires_in":99999999999"#, .seconds(366 * 86_400)),
        ] as [(String, Duration)]
    )
    func `a life is a number or a string, and a missing life is assumed to be short`(
        member: String,
        life: Duration
    ) async throws {
        let answer = OAuthSample.answer.replacing(#""expires_in":3600"#, with: member)
        try await Stage.play([.tokens(answer)]) { stage in
            let grant = try await stage.oauth().exchange(OAuthSample.code, expecting: nil)

            #expect(grant.token?.life.duration == life)
        }
    }

    @Test func `a token without a life and without a refresh token has no end`()
        async throws
    {
        let answer = OAuthSample.answer(idToken: OAuthSample.idToken(), more: "").replacing(
            #","expires_in":3600"#,
            with: ""
        )
        try await Stage.play([.tokens(answer)]) { stage in
            let grant = try await stage.oauth().exchange(OAuthSample.code, expecting: nil)

            #expect(grant.token?.life.end == nil)
        }
    }

    /// The client's settings at the server can be corrected, so the login is not given up.
    @Test func `a sign-in whose token is not a Bearer token keeps the refresh token, and tells the cause`()
        async throws
    {
        let answer = OAuthSample.answer.replacing("Bearer", with: "DPoP")
        try await Stage.play([.tokens(answer), .tokens()]) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            let failure = await oauth.exchangeFailure(OAuthSample.code, store: kept.store)
            let why = try #require(failure?.unavailability)
            #expect(why.cause == .configuration)
            #expect(why.message.contains("a token of type DPoP"))

            #expect(await oauth.exchangeFailure(OAuthSample.code, store: kept.store) == nil)
            #expect(stage.server.requests.count == 2)
            #expect(stage.server.requests.last?.fields.contains("refresh_token=refresh-1") == true)
        }
    }

    @Test func `a sign-in that got only a refresh token uses it in its next attempt`() async throws {
        let steps: [ScriptedServer.Step] = [.tokens(#"{"refresh_token":"refresh-0"}"#), .tokens()]
        try await Stage.play(steps) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            let why = try #require(
                await oauth.exchangeFailure(OAuthSample.code, store: kept.store)?.unavailability
            )
            let grant = try await oauth.exchange(OAuthSample.code, expecting: nil, store: kept.store)

            #expect(why.ambiguous)
            #expect(stage.server.requests[0].fields.contains("grant_type=authorization_code"))
            #expect(stage.server.requests[1].fields.contains("grant_type=refresh_token"))
            #expect(stage.server.requests[1].fields.contains("refresh_token=refresh-0"))
            #expect(grant.scheme == .authorizationCode)
            #expect(grant.refreshToken?.text == "refresh-1")
        }
    }

    @Test func `a device sign-in that got only a refresh token ends if that is refused`() async throws {
        let steps: [ScriptedServer.Step] = [
            .tokens(#"{"refresh_token":"refresh-0"}"#), .json(400, #"{"error":"invalid_grant"}"#),
        ]
        try await Stage.play(steps) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            let first = await oauth.pollFailure(store: kept.store)
            let second = await oauth.pollFailure(store: kept.store)

            #expect(first?.unavailability != nil)
            #expect(second?.refusal != nil)
            #expect(stage.server.requests[1].fields.contains("refresh_token=refresh-0"))
        }
    }

    @Test func `a stored refresh token is revoked if no caller waits for the sign-in any more`() async throws {
        let steps: [ScriptedServer.Step] = [.tokens(#"{"refresh_token":"refresh-0"}"#), .answer(200, [], "")]
        try await Stage.play(steps) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            _ = await oauth.exchangeFailure(OAuthSample.code, store: kept.store)
            try await oauth.revokePartialGrant(try #require(kept.content))

            #expect(stage.server.requests[1].line == "POST /revoke HTTP/1.1")
            #expect(stage.server.requests[1].fields.first == "token=refresh-0")
        }
    }

    @Test func `an answer may be a form, and an error in a success is an error`() async throws {
        let form = "access_token=access%2D1&token_type=bearer&refresh_token=r%2B1&expires_in=60"
        let steps: [ScriptedServer.Step] = [
            .answer(200, [("content-type", "application/x-www-form-urlencoded")], form),
            .json(200, #"{"sub":"user-1"}"#),
            .answer(200, [], "error=bad_verification_code&error_description=The+code"),
        ]
        try await Stage.play(steps) { stage in
            let oauth = try stage.oauth()
            let grant = try await oauth.exchange(OAuthSample.code, expecting: nil)
            let failure = await oauth.exchangeFailure(OAuthSample.code)

            #expect(grant.token?.secret?.text == "access-1")
            #expect(grant.refreshToken?.text == "r+1")
            #expect(grant.token?.life.duration == .seconds(60))
            let words = try #require(failure?.refusal)
            #expect(words.contains("bad_verification_code"))
            #expect(!words.contains("The code"))
        }
    }

    @Test(arguments: [
        "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_target",
    ])
    func `a wrong configuration spends no credential, and doctor reports the remedy until it is corrected`(
        error: String
    ) async throws {
        try await Stage.play([.json(401, #"{"error":"\#(error)"}"#), .tokens()]) { stage in
            let oauth = try stage.oauth()
            let failure = await oauth.exchangeFailure(OAuthSample.code)

            #expect(failure?.unavailability?.message.contains(error) == true)
            #expect(failure?.unavailability?.ambiguous == false)
            #expect(failure?.unavailability?.cause == .configuration)
            #expect(failure?.unavailability?.host == stage.server.place)
            #expect(oauth.notes.findings.map(\.verdict) == [.problem])
            #expect(oauth.notes.findings.first?.detail.contains(error) == true)
            #expect(oauth.notes.findings.first?.remedy?.isEmpty == false)

            _ = try await oauth.exchange(OAuthSample.code, expecting: nil)

            #expect(oauth.notes.findings.isEmpty)
        }
    }

    @Test func `no error repeats arbitrary text of the server`() async throws {
        let body = #"{"error":"<b>code secret</b>","error_description":"code secret+1"}"#
        try await Stage.play([.json(400, body)]) { stage in
            let failure = try await stage.oauth().exchangeFailure(OAuthSample.code)

            #expect(failure?.unavailability?.message.contains("secret") == false)
        }
    }
}
