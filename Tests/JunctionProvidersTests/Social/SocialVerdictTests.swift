import JunctionSecret
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionProviders

/// The provider's answers that end a session: at a sign-in, at a renewal, and in the answer to an API call.
struct SocialVerdictTests {
    enum Outcome: Equatable {
        case terminated(String)
        case refused
        case transient
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var step: ScriptedServer.Step
        var signIn: Outcome
        var renewal: Outcome
        var renewalWithToken: Outcome
        var testDescription: String

        init(_ name: String, _ step: ScriptedServer.Step, _ signIn: Outcome, _ renewal: Outcome, _ withToken: Outcome) {
            testDescription = name
            self.step = step
            self.signIn = signIn
            self.renewal = renewal
            self.renewalWithToken = withToken
        }
    }

    private static func error(_ code: Int, status: Int = 400) -> ScriptedServer.Step {
        .json(status, #"{"status":"error","code":\#(code),"message":"said by the server","data":{}}"#)
    }

    private static func user(_ flags: String) -> ScriptedServer.Step {
        .social(users: #"[{"userId":"anna",\#(flags)}]"#)
    }

    private static let banned = Outcome.terminated("400312")
    private static let deleted = Outcome.terminated("400100")

    static let table = [
        Row("global ban", error(400_312), banned, banned, banned),
        Row("global ban, forbidden", error(400_312, status: 403), banned, banned, banned),
        Row("unauthorized", error(400_100, status: 401), .refused, deleted, .refused),
        Row("unauthorized, bad request", error(400_100), .refused, deleted, .refused),
        Row("banned flag on 200", user(#""isGlobalBanned":true"#), banned, banned, banned),
        Row("the older banned flag", user(#""isGlobalBan":true"#), banned, banned, banned),
        Row("deleted flag on 200", user(#""isDeleted":true"#), deleted, deleted, deleted),
        Row("banned and deleted", user(#""isDeleted":true,"isGlobalBan":true"#), banned, banned, banned),
        Row("banned from a channel", error(400_304), .transient, .transient, .transient),
        Row("too many calls", error(400_311, status: 429), .transient, .transient, .transient),
        Row("too many calls, bad request", error(400_311), .transient, .transient, .transient),
        Row("bad request", error(400_000), .transient, .transient, .transient),
        Row("forbidden", error(400_300, status: 403), .transient, .transient, .transient),
        Row("not found", error(400_400, status: 404), .transient, .transient, .transient),
        Row("conflict", error(400_900, status: 409), .transient, .transient, .transient),
        Row("a verdict that only asks to wait", error(400_312, status: 429), .transient, .transient, .transient),
        Row("a verdict in a timeout", error(400_100, status: 408), .transient, .transient, .transient),
        Row("a verdict of a broken server", error(400_312, status: 500), .transient, .transient, .transient),
        Row("a redirect with a verdict", error(400_312, status: 302), .transient, .transient, .transient),
        Row("the code as text", .json(400, #"{"code":"400312"}"#), .transient, .transient, .transient),
        Row("the code elsewhere", .json(400, #"{"data":{"code":400312}}"#), .transient, .transient, .transient),
        Row("HTML with the code", .answer(403, [], "<html>400312</html>"), .transient, .transient, .transient),
    ]

    @Test(arguments: table)
    func `each answer at a sign-in has its outcome`(row: Row) async throws {
        try await Stage.play([row.step]) { stage in
            let failure = try #require(try await stage.exchangeFailure(.social))

            #expect(Outcome(failure) == row.signIn)
            #expect(!"\(failure)".contains("said by the server") && !"\(failure)".contains("secret"))
            #expect(stage.server.requests.count == 1)
        }
    }

    /// Without a valid access token the user cannot be requested.
    @Test(arguments: table)
    func `each answer at a renewal has its outcome`(row: Row) async throws {
        try await Stage.play([row.step]) { stage in
            let failure = try #require(try await stage.renewalFailure(.social, with: SessionSecrets()))

            #expect(Outcome(failure) == row.renewal)
            #expect(!"\(failure)".contains("said by the server"))
        }
    }

    @Test(arguments: table)
    func `each answer at a renewal with a handler's auth token has its outcome`(row: Row) async throws {
        try await Stage.play([row.step]) { stage in
            let answer = RenewalAnswer.authToken(SharedSecret(text: "token-secret"))
            let failure = try #require(try await stage.renewalFailure(.social, with: SessionSecrets(), using: answer))

            #expect(Outcome(failure) == row.renewalWithToken)
            #expect(!"\(failure)".contains("secret") && !"\(failure)".contains(SocialProvider.sampleKey))
        }
    }

    // MARK: The request of the user

    struct Look: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var step: ScriptedServer.Step
        var outcome: Outcome

        init(_ name: String, _ step: ScriptedServer.Step, _ outcome: Outcome) {
            (testDescription, self.step, self.outcome) = (name, step, outcome)
        }
    }

    static let looks = [
        Look("there and well", .json(200, #"{"users":[{"userId":"anna","isDeleted":false}]}"#), .refused),
        Look("unauthorized", error(400_100, status: 401), deleted),
        Look("flagged deleted", .json(200, #"{"users":[{"userId":"anna","isDeleted":true}]}"#), deleted),
        Look("flagged banned", .json(200, #"{"users":[{"userId":"anna","isGlobalBanned":true}]}"#), banned),
        Look("banned", error(400_312, status: 403), banned),
        Look("somebody else", .json(200, #"{"users":[{"userId":"Anna","isDeleted":true}]}"#), .transient),
        Look("not found", error(400_400, status: 404), .transient),
        Look("too many calls", error(400_311, status: 429), .transient),
        Look("a broken server", error(400_100, status: 500), .transient),
        Look("nonsense", .answer(200, [], "<html>"), .transient),
    ]

    @Test(arguments: looks, [RenewalAnswer.renew, .authToken(SharedSecret(text: "token-secret"))])
    func `with a valid access token, a request of the user decides what a refusal means`(
        look: Look,
        answer: RenewalAnswer
    ) async throws {
        try await Stage.play([Self.error(400_100, status: 401), look.step]) { stage in
            var secrets = SessionSecrets(accessToken: SharedSecret(text: "access-secret"))
            secrets.accessTokenEndsAt = stage.clock.now().uptime + .seconds(60)
            let failure = try #require(try await stage.renewalFailure(.social, with: secrets, using: answer))

            #expect(Outcome(failure) == look.outcome)
            #expect(!"\(failure)".contains("secret"))
            let requests = stage.server.requests
            #expect(requests.map(\.line) == ["POST /api/v5/sessions HTTP/1.1", "GET /api/v3/users/anna HTTP/1.1"])
            #expect(requests.last?.header("authorization") == "Bearer access-secret")
            #expect(requests.last?.header("x-api-key") == nil)
        }
    }

    /// For an expired token the provider gives the same answer as for a deleted user.
    @Test(arguments: [nil, Duration.zero, .milliseconds(1)])
    func `a refused request of the user decides nothing if the token may have expired`(left: Duration?) async throws {
        let steps = [Self.error(400_100, status: 401), Self.error(400_100, status: 401)]
        try await Stage.play(steps, requestTakes: .seconds(1)) { stage in
            var secrets = SessionSecrets(accessToken: SharedSecret(text: "access-secret"))
            secrets.accessTokenEndsAt = left.map { stage.clock.now().uptime + $0 }
            let failure = try #require(try await stage.renewalFailure(.social, with: secrets, using: .renew))
            #expect(Outcome(failure) == .refused)
        }
    }

    // MARK: Answers to API calls

    @Test(arguments: [
        (403, #"{"status":"error","code":400312}"#, true), (400, #"{"code":400312}"#, true),
        (401, #"{"code":400100}"#, false), (403, #"{"code":400304}"#, false), (429, #"{"code":400312}"#, false),
        (500, #"{"code":400312}"#, false), (200, #"{"code":400312}"#, false), (403, "400312", false), (403, "", false),
    ])
    func `a global ban in an answer to an API call is a verdict, and nothing else is`(
        status: Int,
        body: String,
        isBan: Bool
    ) async throws {
        try await Stage.play([]) { stage in
            let answer = ApiAnswer(status: status, headers: [], body: Array(body.utf8))

            let verdict = try stage.social.verdict(in: answer)

            #expect(verdict?.code == (isBan ? "400312" : nil))
        }
    }

    @Test(arguments: ["bert", "Anna"])
    func `flags of another user do not end the session`(other: String) async throws {
        let users = #"[{"userId":"\#(other)","isDeleted":true},{"userId":"anna"},{}]"#
        let step = ScriptedServer.Step.social(users: users)
        try await Stage.play([step]) { stage in
            let failure = try await stage.renewalFailure(.social)

            #expect(failure == nil)
        }
    }

    @Test func `too many calls are reported, with the pause if the server states it`() async throws {
        let body = #"{"status":"error","code":400311}"#
        try await Stage.play([.answer(429, [("retry-after", "7")], body), .json(400, body)]) { stage in
            let told = try await stage.renewalFailure(.social)
            let untold = try await stage.renewalFailure(.social)

            let message = "\(stage.server.place) asks to wait (400311)"
            #expect(told == .unavailable(Unavailability(message, retryAfter: .seconds(7))))
            #expect(untold == .unavailable(Unavailability(message)))
        }
    }
}

extension SocialVerdictTests.Outcome {
    fileprivate init(_ failure: ExchangeFailure) {
        switch failure {
        case .refused, .otherUser: self = .refused
        case .terminated(let code, _): self = .terminated(code)
        case .unavailable: self = .transient
        }
    }

    fileprivate init?(_ failure: RenewalFailure) {
        switch failure {
        case .answerRefused: self = .refused
        case .terminated(let code, _): self = .terminated(code)
        case .unavailable: self = .transient
        case .registrationForgotten, .reauthenticationRequired: return nil
        }
    }
}
