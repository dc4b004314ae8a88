import JunctionNetworkHelper
import JunctionSecret
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionProviders

struct OAuthRenewTests {
    private static let dead = SessionSecrets(refreshToken: SharedSecret(text: "refresh-secret"))
    private static let emptyRefusal = ScriptedServer.Step.answer(400, [], "")
    private static let invalidRequest = ScriptedServer.Step.json(400, #"{"error":"invalid_request"}"#)

    @Test func `a renewal sends the refresh token without scope, audience and resource`() async throws {
        let settings: [String: ProviderSetting.Value] = ["audience": "api-1", "resource": ["urn:a"]]
        try await Stage.play([.tokens()]) { stage in
            let grant = try await stage.oauth(settings).renew(
                OAuthSample.identity,
                with: OAuthSample.secrets,
                using: .renew
            )

            #expect(
                stage.server.requests.first?.fields == [
                    "grant_type=refresh_token", "refresh_token=refresh-secret", "client_id=client-1",
                ]
            )
            #expect(grant.refreshToken?.text == "refresh-1")
        }
    }

    @Test(arguments: ["", #","expires_in":0"#, #","expires_in":null"#])
    func `a token without a life is renewed soon, also if the old refresh token stays`(
        life: String
    ) async throws {
        try await Stage.play([.tokens(#"{"access_token":"access-1","token_type":"Bearer"\#(life)}"#)]) { stage in
            let grant = try await stage.oauth().renew(OAuthSample.identity, with: OAuthSample.secrets, using: .renew)

            #expect(grant.refreshToken == nil)
            #expect(grant.token?.life.duration == OAuthTokens.assumedLife)
        }
    }

    @Test(arguments: [
        OAuthSample.anonymous.replacing("Bearer", with: "DPoP"), #"{"refresh_token":"refresh-1"}"#,
        OAuthSample.anonymous.replacing("access-1", with: String(repeating: "a", count: 17_000)),
        #"{"refresh_token":"refresh-1","error":"server_error"}"#,
        "refresh_token=refresh-1&token_type=bearer",
        #"{"access_token":"access-1","refresh_token":"refresh-1","expires_in":NaN}"#,
        #"{"refresh_token":"refresh-1","access_token":"acc"#,
        // The type repeats the new refresh token: no message may have it.
        #"{"access_token":"access-1","refresh_token":"refresh-1","token_type":"secret-1"}"#,
    ])
    func `a new refresh token is used although the rest of the answer is invalid`(body: String) async throws {
        try await Stage.play([.tokens(body)]) { stage in
            let grant = try await stage.oauth().renew(OAuthSample.identity, with: OAuthSample.secrets, using: .renew)

            #expect(grant.token == nil)
            #expect(grant.refreshToken?.text == "refresh-1")
            #expect(grant.identity == OAuthSample.identity)
            #expect(grant.missingAccessToken?.ambiguous == false)
            #expect(grant.missingAccessToken?.message.contains("secret") == false)
        }
    }

    @Test func `an unusable answer with another user's id_token names that user`() async throws {
        let idToken = OAuthSample.idToken(OAuthSample.claims(sub: "mallory"))
        let body = #"{"refresh_token":"refresh-1","id_token":"\#(idToken)"}"#
        try await Stage.play([.tokens(body)]) { stage in
            let grant = try await stage.oauth().renew(OAuthSample.identity, with: OAuthSample.secrets, using: .renew)

            #expect(grant.identity.userId == "mallory")
        }
    }

    @Test func `an unusable answer without a refresh token is ambiguous`() async throws {
        let body = OAuthSample.answer(idToken: nil, more: "").replacing("Bearer", with: "DPoP")
        try await Stage.play([.tokens(body)]) { stage in
            let why = try #require(await stage.oauth().renewalFailure()?.unavailability)

            #expect(why.ambiguous)
        }
    }

    @Test func `a renewal does not request the userinfo endpoint`() async throws {
        try await Stage.play([.tokens(OAuthSample.anonymous)]) { stage in
            let oauth = try stage.oauth(["identity": "userinfo"])
            let grant = try await oauth.renew(OAuthSample.identity, with: OAuthSample.secrets, using: .renew)

            #expect(grant.identity == OAuthSample.identity)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: IdentitySource.allCases)
    func `a renewal with another user's id_token reports that user`(
        source: IdentitySource
    ) async throws {
        let token = OAuthSample.idToken(OAuthSample.claims(sub: "user-2"))
        try await Stage.play([.tokens(OAuthSample.answer(idToken: token))]) { stage in
            let oauth = try stage.oauth(["identity": .text(source.rawValue)])
            let grant = try await oauth.renew(OAuthSample.identity, with: OAuthSample.secrets, using: .renew)

            #expect(!grant.identity.isSameUser(as: OAuthSample.identity))
        }
    }

    @Test func `a renewal with an id_token of another issuer keeps the identity`() async throws {
        let token = OAuthSample.idToken(OAuthSample.claims(iss: OAuthSample.issuer + "/o", sub: "user-2"))
        try await Stage.play([.tokens(OAuthSample.answer(idToken: token))]) { stage in
            let grant = try await stage.oauth().renew(OAuthSample.identity, with: OAuthSample.secrets, using: .renew)

            #expect(grant.identity == OAuthSample.identity)
        }
    }

    @Test func `a token is never shown to another server than the one that gave it`() async throws {
        try await Stage.play([]) { stage in
            for issuer in [nil, "https://id.example.com/", "https://other.example.com"] {
                let identity = Identity(userId: "user-1", issuer: issuer)
                let oauth = try stage.oauth()
                let failure = await oauth.renewalFailure(OAuthSample.secrets, identity)
                try await oauth.revoke(identity, with: OAuthSample.secrets)

                #expect(failure?.unavailability?.message.contains("oauth.issuer is https://id.example.com") == true)
            }
            #expect(stage.server.requests.isEmpty)
        }
    }

    /// The answers of known servers, and some of others that were observed.
    @Test(
        arguments: [
            (.json(400, #"{"error":"invalid_grant"}"#), .reauthenticate),
            (.json(400, #"{"error":"invalid_grant","error_description":"Token is not active"}"#), .reauthenticate),
            (.answer(400, [("content-type", "text/html")], #"{"error":"invalid_grant"}"#), .reauthenticate),
            (.json(401, #"{"error":"invalid_grant"}"#), .reauthenticate),
            (.json(403, #"{"error":"invalid_grant"}"#), .reauthenticate),
            (.json(400, #"{"error":"login_required"}"#), .reauthenticate),
            (.json(400, #"{"error":"interaction_required"}"#), .reauthenticate),
            (.json(400, #"{"error":"consent_required"}"#), .reauthenticate),
            (.json(400, #"{"error":"expired_token"}"#), .reauthenticate),
            (.answer(200, [], "error=bad_refresh_token&error_description=x"), .reauthenticate),
            (.json(200, #"{"error":"bad_refresh_token"}"#), .reauthenticate),
            (.json(401, #"{"error":"invalid_client"}"#), .misconfigured),
            (.json(400, #"{"error":"invalid_client"}"#), .misconfigured),
            (.json(400, #"{"error":"unauthorized_client"}"#), .misconfigured),
            (.json(400, #"{"error":"unsupported_grant_type"}"#), .misconfigured),
            (.json(400, #"{"error":"invalid_scope"}"#), .misconfigured),
            (.json(400, #"{"error":"invalid_target"}"#), .misconfigured),
            (.json(403, #"{"error":"invalid_dpop_proof"}"#), .misconfigured),
            (emptyRefusal, .delay), (invalidRequest, .delay), (.json(400, #"{"error":null}"#), .delay),
            (.json(400, #"{"error":""}"#), .delay), (.json(400, #"{"error":{"code":7}}"#), .delay),
            (.json(400, #"{"error":"access_denied"}"#), .delay), (.json(400, #"{"error":"server_error"}"#), .delay),
            (.json(400, #"{"error":"temporarily_unavailable"}"#), .delay), (.json(400, #"[]"#), .delay),
            (.json(401, "{}"), .delay), (.answer(404, [], "<html>"), .delay),
            (.json(404, #"{"error":"Not Found"}"#), .delay),
            (.answer(302, [("location", "/")], ""), .delay),
            (.json(429, #"{"error":"invalid_grant"}"#), .delay), (.json(408, #"{"error":"invalid_grant"}"#), .delay),
            (.json(503, #"{"error":"invalid_grant"}"#), .delay),
            (.json(500, #"{"error":"invalid_grant"}"#), .ambiguous),
            (.json(502, #"{"error":"invalid_client"}"#), .ambiguous), (.answer(504, [], ""), .ambiguous),
            (.json(200, "{}"), .ambiguous), (.json(200, #"{"access_token":null}"#), .ambiguous),
            (.answer(200, [], "<html>"), .ambiguous),
            (.json(200, #"{"access_token":"a","token_type":"mac"}"#), .ambiguous), (.closeConnection, .ambiguous),
        ] as [(ScriptedServer.Step, Outcome)]
    )
    func `each answer to a renewal has its outcome`(step: ScriptedServer.Step, outcome: Outcome) async throws {
        try await Stage.play([step]) { stage in
            let oauth = try stage.oauth()
            let failure = await oauth.renewalFailure()

            #expect(Outcome(failure, oauth.notes.findings) == outcome)
            #expect(stage.server.requests.count == 1)
        }
    }

    enum Outcome: Sendable {
        case reauthenticate, misconfigured, delay, ambiguous, other

        init(_ failure: RenewalFailure?, _ findings: [ProbeFinding]) {
            switch failure {
            case .reauthenticationRequired: self = .reauthenticate
            case .unavailable(let why) where why.ambiguous: self = .ambiguous
            case .unavailable: self = findings.contains { $0.verdict == .problem } ? .misconfigured : .delay
            case .answerRefused, .registrationForgotten, .terminated, nil: self = .other
            }
        }
    }

    @Test(
        arguments: [
            (emptyRefusal, true), (invalidRequest, true), (.json(400, #"{"error":null}"#), true),
            (.json(400, #"{"error":{"code":7}}"#), true), (.json(401, "{}"), true), (.json(400, "[]"), true),
            (.answer(401, [("content-type", "text/html")], "<html>"), true),
            (.json(400, #"{"error":"server_error"}"#), true), (.answer(403, [], ""), false),
            (.answer(404, [], "<html>"), false), (.json(404, #"{"error":"Not Found"}"#), false),
            (.json(403, #"{"error":"Forbidden"}"#), false), (.json(400, #"{"error":"access_denied"}"#), false),
            (.json(401, #"{"error":"invalid_client"}"#), false), (.json(429, ""), false), (.json(503, ""), false),
            (.json(200, #"{"error":"temporarily_unavailable"}"#), false),
        ] as [(ScriptedServer.Step, Bool)]
    )
    func `a refusal without a standard error code is reported as unexplained and transient`(
        step: ScriptedServer.Step,
        isUnexplained: Bool
    ) async throws {
        try await Stage.play([step, step, step, step]) { stage in
            let oauth = try stage.oauth()
            for _ in 0..<4 {
                let why = try #require(await oauth.renewalFailure(Self.dead)?.unavailability)
                #expect(why.isUnexplainedRefusal == isUnexplained)
                #expect(!why.ambiguous)
            }
        }
    }

    @Test func `a renewal without a refresh token demands a sign-in and sends nothing`() async throws {
        try await Stage.play([]) { stage in
            let failure = try await stage.oauth().renewalFailure(SessionSecrets(accessToken: SharedSecret(text: "a")))

            #expect(failure == .reauthenticationRequired)
            #expect(stage.server.requests.isEmpty)
        }
    }

    // MARK: Token exchange

    private static let exchanged = {
        var secrets = SessionSecrets(accessToken: SharedSecret(text: "access-secret"))
        secrets.subjectTokenType = "urn:x:ticket"
        return secrets
    }()
    private static let answer = RenewalAnswer.authToken(SharedSecret(text: "subject-2"))

    @Test func `an app's next subject token is exchanged with the token type of the sign-in`() async throws {
        try await Stage.play([.tokens(OAuthSample.answer(idToken: OAuthSample.idToken(), more: ""))]) { stage in
            let grant = try await stage.oauth().renew(OAuthSample.identity, with: Self.exchanged, using: Self.answer)

            let fields = stage.server.requests.first?.fields ?? []
            #expect(fields.contains("subject_token=subject-2"))
            #expect(fields.contains("subject_token_type=urn%3Ax%3Aticket"))
            #expect(grant.subjectTokenType == "urn:x:ticket")
        }
    }

    @Test func `a token without a life is renewed soon if the session has its own refresh token`() async throws {
        let body = #"{"access_token":"access-2","token_type":"Bearer","id_token":"\#(OAuthSample.idToken())"}"#
        try await Stage.play([.tokens(body), .tokens(body)]) { stage in
            var secrets = Self.exchanged
            let oauth = try stage.oauth()
            let alone = try await oauth.renew(OAuthSample.identity, with: secrets, using: Self.answer)
            secrets.refreshToken = SharedSecret(text: "refresh-secret")
            let beside = try await oauth.renew(OAuthSample.identity, with: secrets, using: Self.answer)

            #expect(alone.token?.life.duration == nil)
            #expect(beside.token?.life.duration == OAuthTokens.assumedLife)
        }
    }

    @Test func `a kept token without a life is valid for a while after the renewal that continues with it`()
        async throws
    {
        let body = #"{"access_token":"access-2","token_type":"Bearer"}"#
        try await Stage.play([.tokens(body), .answer(503, [], ""), .json(200, #"{"sub":"user-1"}"#)]) { stage in
            var secrets = Self.exchanged
            secrets.refreshToken = SharedSecret(text: "refresh-secret")
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            let (answer, store) = (Self.answer, kept.store)
            _ = try? await oauth.renew(OAuthSample.identity, with: secrets, using: answer, sendingBy: nil, store: store)
            stage.clock.advance(by: .seconds(301))
            let grant = try await oauth.renew(
                OAuthSample.identity,
                with: secrets,
                using: answer,
                sendingBy: nil,
                store: kept.store
            )

            #expect(grant.token?.life.end == stage.clock.now().uptime + OAuthTokens.assumedLife)
        }
    }

    @Test func `the server names the user of an app's subject token, also if it is another one`() async throws {
        try await Stage.play([.tokens(OAuthSample.anonymous), .json(200, #"{"sub":"user-2"}"#)]) { stage in
            let grant = try await stage.oauth().renew(OAuthSample.identity, with: Self.exchanged, using: Self.answer)
            #expect(grant.identity.userId == "user-2")
        }
    }

    /// The next attempt with the same subject token continues with what the first one has got.
    @Test(
        arguments: [
            (
                [.tokens(OAuthSample.anonymous), .json(503, "{}"), .json(200, #"{"sub":"user-1"}"#)],
                "GET /userinfo HTTP/1.1"
            ),
            ([.json(200, #"{"refresh_token":"refresh-1"}"#), .tokens()], "POST /token HTTP/1.1"),
        ] as [([ScriptedServer.Step], String)]
    )
    func `tokens whose user is unknown, and a refresh token alone, are kept for the next attempt`(
        steps: [ScriptedServer.Step],
        last: String
    ) async throws {
        try await Stage.play(steps) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            let failure = await #expect(throws: RenewalFailure.self) {
                try await oauth.renew(
                    OAuthSample.identity,
                    with: Self.exchanged,
                    using: Self.answer,
                    sendingBy: nil,
                    store: kept.store
                )
            }
            guard case .unavailable? = failure, kept.content != nil else {
                Issue.record("Expected a transient failure with a kept grant")
                return
            }
            let grant = try await oauth.renew(
                OAuthSample.identity,
                with: Self.exchanged,
                using: Self.answer,
                sendingBy: nil,
                store: kept.store
            )

            #expect(grant.identity == OAuthSample.identity && grant.scheme == .refreshToken)
            #expect(grant.refreshToken?.text == "refresh-1")
            #expect(stage.server.requests.map(\.line).last == last)
            let fields = stage.server.requests.flatMap(\.fields)
            #expect(fields.filter { $0 == "subject_token=subject-2" }.count == 1)
            #expect(!stage.server.requests.map(\.line).contains("POST /revoke HTTP/1.1"))
        }
    }

    @Test(arguments: [
        (#"{"error":"invalid_grant"}"#, true), (#"{"error":"invalid_request"}"#, true),
        (#"{"error":"invalid_target"}"#, false),
        (#"{"error":"server_error"}"#, false),
    ])
    func `a refused subject token refuses the handler's answer, and a wrong configuration does not`(
        body: String,
        isRefused: Bool
    ) async throws {
        try await Stage.play([.json(400, body)]) { stage in
            let failure = try await stage.oauth().renewalFailure(Self.exchanged, using: Self.answer)

            if case .answerRefused = failure { #expect(isRefused) } else { #expect(!isRefused) }
        }
    }

    // MARK: Sign-out

    @Test func `a sign-out revokes the refresh token, or else the access token`() async throws {
        try await Stage.play([.answer(200, [], ""), .answer(200, [], "")]) { stage in
            let oauth = try stage.oauth()
            try await oauth.revoke(OAuthSample.identity, with: OAuthSample.secrets)
            try await oauth.revoke(OAuthSample.identity, with: Self.exchanged)

            #expect(
                stage.server.requests.map(\.fields) == [
                    ["token=refresh-secret", "token_type_hint=refresh_token", "client_id=client-1"],
                    ["token=access-secret", "token_type_hint=access_token", "client_id=client-1"],
                ]
            )
        }
    }

    @Test func `without a revocation endpoint in the metadata a sign-out sends nothing`() async throws {
        try await Stage.play([]) { stage in
            stage.server.script([.json(200, #"{"issuer":"\#(stage.server.url)"}"#)])
            let identity = Identity(userId: OAuthSample.identity.userId, issuer: stage.server.url)

            try await stage.discovering().revoke(identity, with: OAuthSample.secrets)

            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: [
        ScriptedServer.Step.answer(404, [], ""), .answer(403, [], "<html>"), .answer(200, [], "<html>"),
        .answer(503, [], ""),
    ])
    func `with missing metadata a sign-out uses the cached endpoint, or else is retried later`(
        trouble: ScriptedServer.Step
    ) async throws {
        try await Stage.play([]) { stage in
            let url = stage.server.url
            stage.server.script([
                .json(200, #"{"issuer":"\#(url)","revocation_endpoint":"\#(url)/revoke"}"#), .answer(200, [], ""),
                trouble, trouble, .answer(200, [], ""), trouble, trouble,
            ])
            let identity = Identity(userId: OAuthSample.identity.userId, issuer: url)
            let oauth = try stage.discovering()
            try await oauth.revoke(identity, with: OAuthSample.secrets)
            stage.clock.advance(by: .seconds(90_000))
            try await oauth.revoke(identity, with: OAuthSample.secrets)
            #expect(stage.server.requests.filter { $0.line.contains("/revoke") }.count == 2)

            let restarted = try stage.discovering()
            await #expect(throws: Unavailability.self) {
                try await restarted.revoke(identity, with: OAuthSample.secrets)
            }
        }
    }

    @Test(
        arguments: [
            (.answer(200, [], ""), true), (.json(400, #"{"error":"unsupported_token_type"}"#), true),
            (.json(400, #"{"error":"invalid_token"}"#), true), (.json(400, #"{"error":"invalid_grant"}"#), true),
            (.json(400, #"{"error":"invalid_request"}"#), true), (.json(401, #"{"error":"invalid_client"}"#), false),
            (.json(200, #"{"error":"invalid_client"}"#), false), (.answer(403, [], "<html>"), false),
            (.answer(401, [], ""), false), (.answer(404, [], ""), false), (.answer(400, [], ""), false),
            (.json(400, #"{"error":"server_error"}"#), false), (.json(503, #"{"error":"invalid_token"}"#), false),
        ] as [(ScriptedServer.Step, Bool)]
    )
    func `a sign-out is complete if the server reports it, and not because of a status alone`(
        step: ScriptedServer.Step,
        isHeard: Bool
    ) async throws {
        try await Stage.play([step]) { stage in
            let oauth = try stage.oauth()
            let failure = await thrown { () throws(Unavailability) in
                try await oauth.revoke(OAuthSample.identity, with: OAuthSample.secrets)
            }
            #expect((failure == nil) == isHeard)
            #expect(failure?.message.contains("refresh-secret") != true)
        }
    }
}
