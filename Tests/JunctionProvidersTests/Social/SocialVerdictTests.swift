import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

/// Which of the vendor's words end a session, at each of the three times they can be said.
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

    private static func user(_ flags: String, id: String = "anna") -> ScriptedServer.Step {
        .social(users: #"[{"userId":"\#(id)",\#(flags)}]"#)
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
    func `at sign-in`(row: Row) async throws {
        try await Stage.play([row.step]) { stage in
            let failure = try #require(try await stage.exchangeFailure(.social))

            #expect(Outcome(failure) == row.signIn)
            #expect(!"\(failure)".contains("said by the server") && !"\(failure)".contains("secret"))
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: table)
    func `at a renewal`(row: Row) async throws {
        try await Stage.play([row.step]) { stage in
            let failure = try #require(try await stage.renewalFailure(.social))

            #expect(Outcome(failure) == row.renewal)
            #expect(!"\(failure)".contains("said by the server"))
        }
    }

    @Test(arguments: table)
    func `at a renewal with a handler's auth token`(row: Row) async throws {
        try await Stage.play([row.step]) { stage in
            let answer = RenewalAnswer.authToken(SharedSecret(text: "token-secret"))
            let failure = try #require(try await stage.renewalFailure(.social, using: answer))

            #expect(Outcome(failure) == row.renewalWithToken)
            #expect(!"\(failure)".contains("secret") && !"\(failure)".contains(SocialProvider.sampleKey))
        }
    }

    @Test(arguments: ["bert", "Anna"])
    func `somebody else's flags end nobody's session`(other: String) async throws {
        let users = #"[{"userId":"\#(other)","isDeleted":true},{"userId":"anna"},{}]"#
        let step = ScriptedServer.Step.social(users: users)
        try await Stage.play([step]) { stage in
            let failure = try await stage.renewalFailure(.social)

            #expect(failure == nil)
        }
    }

    @Test func `too many calls say so, and how long to wait where the server says it`() async throws {
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
