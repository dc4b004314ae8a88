import JunctionSecret
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionProviders

struct JunctionExchangeTests {
    private static let granted = ScriptedServer.Step.json(
        200,
        #"{"access_token":"access-1","refresh_token":"refresh-1","expires_in":3600}"#
    )

    @Test func `a Sign-In Token is exchanged with one form and without any other credential`() async throws {
        try await Stage.play([Self.granted], requestTakes: .seconds(7)) { stage in
            let grant = try await stage.junction.exchange(Sample.credential(), expecting: nil)

            let request = try #require(stage.server.requests.first)
            #expect(stage.server.requests.count == 1)
            #expect(request.line == "POST /v1/token HTTP/1.1")
            #expect(request.header("content-type") == "application/x-www-form-urlencoded")
            #expect(
                request.body == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange"
                    + "&subject_token_type=urn%3Ajunction%3Asign-in-token&subject_token=\(Sample.jwt())"
            )
            #expect(request.header("user-agent") == "junctiond/0.0-test")
            #expect(request.header("authorization") == nil && request.header("x-vital-api-key") == nil)
            #expect(
                Set(request.headers.map { $0.name.lowercased() })
                    == ["host", "content-type", "content-length", "accept", "user-agent"]
            )

            #expect(grant.identity == Sample.identity)
            #expect(grant.scheme == .signInToken)
            #expect(grant.token?.secret?.text == "access-1")
            #expect(grant.refreshToken?.text == "refresh-1")
            #expect(grant.token?.issuedAt == ManualClock.noon)
            #expect(grant.token?.expiresAt == ManualClock.noon + .seconds(3_600))
        }
    }

    @Test(arguments: ["invalid_token", "reauthentication_required"])
    func `both verdicts refuse a Sign-In Token`(type: String) async throws {
        try await Stage.play([.json(401, #"{"detail":{"error_type":"\#(type)"}}"#)]) { stage in
            let failure = try await stage.junction.exchangeFailure(Sample.credential())

            #expect(failure?.refusal != nil)
        }
    }

    @Test func `a sign-in without a usable access token fails and is ambiguous`() async throws {
        try await Stage.play([.json(200, #"{"refresh_token":"r"}"#)]) { stage in
            let why = try #require(try await stage.exchangeFailure(.junction)?.unavailability)

            #expect(why.ambiguous)
            #expect(why.message.contains("without a usable access token"))
        }
    }

    @Test func `an exchange without a refresh token is unreadable`() async throws {
        try await Stage.play([.json(200, #"{"access_token":"a","expires_in":60}"#)]) { stage in
            let failure = try await stage.junction.exchangeFailure(Sample.credential())

            let why = try #require(failure?.unavailability)
            #expect(
                why.message
                    == "\(stage.server.place) answered 200 without an access token, its life and a refresh token"
            )
        }
    }

    @Test func `a malformed Sign-In Token is refused without a request`() async throws {
        try await Stage.play([]) { stage in
            let failure = try await stage.junction.exchangeFailure(Sample.credential("nonsense"))

            #expect(failure?.refusal != nil)
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test func `a link code is exchanged for a Sign-In Token, which is exchanged for a session`() async throws {
        let linked = ScriptedServer.Step.json(200, #"{"user_id":"x","sign_in_token":"\#(Sample.token())","team":{}}"#)
        try await Stage.play([linked, Self.granted]) { stage in
            let grant = try await stage.junction.exchange(.linkCode(SharedSecret(text: "SKUS0A1B2C3D")), expecting: nil)

            let requests = stage.server.requests
            #expect(requests.count == 2)
            #expect(
                requests[0].line
                    == "POST /v2/link/code/exchange?code=skus0a1b2c3d&grant_type=sign_in_token HTTP/1.1"
            )
            #expect(requests[0].body.isEmpty)
            #expect(requests[0].header("authorization") == nil && requests[0].header("x-vital-api-key") == nil)
            #expect(requests[1].line == "POST /v1/token HTTP/1.1")
            #expect(grant.scheme == .signInToken)
            #expect(grant.identity == Sample.identity)
        }
    }

    private static let linked = ScriptedServer.Step.json(200, #"{"sign_in_token":"\#(Sample.token())"}"#)
    private static let code = Credential.linkCode(SharedSecret(text: "skus0a1b2c3d"))

    /// Returns which of the two requests were sent, in order.
    private func calls(_ stage: Stage) -> [String] {
        stage.server.requests.map { $0.line.contains("/v2/link/code/exchange") ? "code" : "token" }
    }

    @Test(arguments: [503, 429, 500, 404])
    func `the next attempt uses the stored Sign-In Token of a link code after a failure between the two requests`(
        status: Int
    ) async throws {
        try await Stage.play([Self.linked, .json(status, "{}"), .json(status, "{}"), Self.granted]) { stage in
            let (junction, kept) = (try stage.junction, KeptGrant())
            for _ in 0..<2 {
                await #expect(throws: ExchangeFailure.self) {
                    try await junction.exchange(Self.code, expecting: nil, store: kept.store)
                }
            }

            let grant = try await junction.exchange(Self.code, expecting: nil, store: kept.store)

            #expect(grant.token?.secret?.text == "access-1")
            #expect(calls(stage) == ["code", "token", "token", "token"])
        }
    }

    @Test func `the Sign-In Token of a link code is not exchanged if it is for another user`() async throws {
        try await Stage.play([Self.linked, Self.granted]) { stage in
            let (junction, kept) = (try stage.junction, KeptGrant())
            let bert = Identity(userId: "bert", environment: "sandbox", region: "us")
            await #expect(throws: ExchangeFailure.self) {
                try await junction.exchange(Self.code, expecting: bert, store: kept.store)
            }

            _ = try await junction.exchange(Self.code, expecting: nil, store: kept.store)

            #expect(calls(stage) == ["code", "token"])
        }
    }

    @Test func `the Sign-In Token of a link code is not exchanged after a sign-out`() async throws {
        try await Stage.play([Self.linked]) { stage in
            let (junction, kept) = (try stage.junction, KeptGrant(isWanted: false))
            await #expect(throws: ExchangeFailure.self) {
                try await junction.exchange(Self.code, expecting: nil, store: kept.store)
            }

            #expect(calls(stage) == ["code"])
        }
    }

    @Test func `a link code of another user is refused before the second exchange`() async throws {
        try await Stage.play([.json(200, #"{"sign_in_token":"\#(Sample.token())"}"#)]) { stage in
            let code = Credential.linkCode(SharedSecret(text: "skus0a1b2c3d"))
            let failure = try await stage.junction.exchangeFailure(code, expecting: Sample.otherUser)

            #expect(failure == .otherUser(Sample.identity))
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test func `a link code whose token is for another site is refused`() async throws {
        try await Stage.play([.json(200, #"{"sign_in_token":"\#(Sample.token())"}"#)]) { stage in
            let failure = try await stage.junction.exchangeFailure(.linkCode(SharedSecret(text: "pkus0a1b2c3d")))

            #expect(failure?.refusal != nil)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: [400, 401, 404, 410, 422])
    func `a client error in JSON refuses a link code`(status: Int) async throws {
        try await Stage.play([.json(status, #"{"detail":"Code not found"}"#)]) { stage in
            let failure = try await stage.junction.exchangeFailure(.linkCode(SharedSecret(text: "skus0a1b2c3d")))

            #expect(failure?.refusal != nil)
        }
    }

    @Test(arguments: [
        (404, "<html></html>"), (404, ""), (429, "{}"), (408, "{}"), (500, "{}"), (302, "{}"), (200, "{}"),
        (200, #"{"sign_in_token":7}"#), (200, #"{"sign_in_token":"nonsense"}"#),
    ])
    func `any other answer does not refuse a link code`(status: Int, body: String) async throws {
        try await Stage.play([.json(status, body)]) { stage in
            let failure = try await stage.junction.exchangeFailure(.linkCode(SharedSecret(text: "skus0a1b2c3d")))

            #expect(failure?.unavailability != nil)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test func `an API key signs in without a request`() async throws {
        try await Stage.play([]) { stage in
            let key = SharedSecret(text: "sk_us_abc")
            let credential = Credential.apiKey(key: key, userId: Sample.userId, environment: nil, region: nil)
            let grant = try await stage.junction.exchange(credential, expecting: nil)

            #expect(grant.scheme == .apiKey)
            #expect(grant.identity == Identity(userId: Sample.userId, environment: "sandbox", region: "us"))
            #expect(grant.apiKey === key)
            #expect(grant.token == nil && grant.refreshToken == nil)
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test func `an API key for production is unsupported unless the configuration allows it`() async throws {
        try await Stage.play([]) { stage in
            let junction = try stage.junction
            let key = SharedSecret(text: "pk_us_abc")
            let whole = Credential.apiKey(key: key, userId: Sample.userId, environment: nil, region: nil)
            let configuring = Credential.apiKey(key: key, userId: nil, environment: "production", region: "us")
            let completing = Credential.apiKey(key: nil, userId: Sample.userId, environment: nil, region: nil)
            var willing = junction
            willing.takesProductionKeys = true

            for (credential, configured) in [(whole, nil), (configuring, nil), (completing, ("production", "eu"))] {
                let refused = #expect(throws: CredentialRefused.self) {
                    try junction.examine(credential, configured: configured)
                }
                let reason = try #require(refused?.reasonIfUnsupported)
                #expect(reason.contains("junction.apiKeyInProduction"))
                #expect(try willing.examine(credential, configured: configured).scheme == .apiKey)
            }
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test func `examining a credential sends no request`() async throws {
        try await Stage.play([]) { stage in
            let key = Credential.apiKey(
                key: SharedSecret(text: "sk_eu_abc"),
                userId: nil,
                environment: nil,
                region: nil
            )
            let junction = try stage.junction

            #expect(
                try junction.examine(Sample.credential(), configured: nil)
                    == CredentialFacts(scheme: .signInToken, subject: .user(Sample.identity))
            )
            #expect(
                try junction.examine(.linkCode(SharedSecret(text: "skus0a1b2c3d")), configured: nil)
                    == CredentialFacts(scheme: .linkCode, subject: .unnamed)
            )
            #expect(
                try junction.examine(key, configured: nil)
                    == CredentialFacts(scheme: .apiKey, subject: .nobody(environment: "sandbox", region: "eu"))
            )
            #expect(stage.server.requests.isEmpty)
        }
    }
}
