import JunctionSession
import Testing

@testable import JunctionProviders

/// The vendor states times of its own clock; the session lives on ours.
struct SocialTimesTests {
    private static let noon = ManualClock.noon

    @Test func `a server whose clock is ahead states later times than ours`() async throws {
        let step = ScriptedServer.Step.social(
            issuedAt: "2026-11-21T12:10:00.250Z",
            expiresAt: "2026-12-21T12:10:00.250Z",
            date: "Sat, 21 Nov 2026 12:10:00 GMT"
        )
        let token = try await token(step)

        #expect(token?.issuedAt == Self.noon + .milliseconds(250))
        #expect(token?.expiresAt == Self.noon + .seconds(30 * 86_400) + .milliseconds(250))
    }

    @Test func `a server whose clock is behind states earlier times than ours`() async throws {
        let step = ScriptedServer.Step.social(
            issuedAt: "2026-11-21T11:00:00.000Z",
            expiresAt: "2026-11-21T12:00:00.000Z",
            date: "Sat, 21 Nov 2026 11:00:00 GMT"
        )
        let token = try await token(step)

        // The header names a second, so the clocks may differ by one second less.
        #expect(token?.issuedAt == Self.noon)
        #expect(token?.expiresAt == Self.noon + .seconds(3_599))
    }

    @Test func `a slow answer is no difference of the clocks`() async throws {
        let step = ScriptedServer.Step.social(date: "Sat, 21 Nov 2026 12:00:04 GMT")
        let token = try await token(step, requestTakes: .seconds(9))

        #expect(token?.issuedAt == Self.noon)
        #expect(token?.expiresAt == Self.noon + .seconds(3_600))
    }

    @Test(arguments: ["yesterday", "Sat, 21 Nov 2026 12:10:00 CET"])
    func `a date that cannot be read is none`(date: String) async throws {
        let token = try await token(.social(date: date))

        #expect(token?.expiresAt == Self.noon + .seconds(3_600))
    }

    @Test func `a token that was given out before is renewed within the life that is left`() async throws {
        let step = ScriptedServer.Step.social(
            issuedAt: "2026-10-23T12:00:00.000Z",
            expiresAt: "2026-11-22T12:00:00.000Z"
        )
        let token = try await token(step)

        #expect(token?.issuedAt == Self.noon)
        #expect(token?.expiresAt == Self.noon + .seconds(86_400))
    }

    @Test(arguments: [
        ("2026-11-21T12:00:00.000Z", "2026-11-21T12:00:01.000Z"),
        ("2026-11-21T12:00:00.000Z", "2027-11-22T12:00:00.000Z"),
        ("2026-11-21T13:00:00+01:00", "2026-11-21T14:00:00.5+01:00"),
    ])
    func `a life from a second to a year and a day is taken`(issuedAt: String, expiresAt: String) async throws {
        #expect(try await token(.social(issuedAt: issuedAt, expiresAt: expiresAt)) != nil)
    }

    @Test(arguments: [
        ("2026-11-21T12:00:00.000Z", "2026-11-21T12:00:00.999Z"),
        ("2026-11-21T12:00:00.000Z", "2027-11-22T12:00:00.001Z"),
        ("2026-11-21T12:00:00.000Z", "2026-11-21T11:00:00.000Z"),
        ("2026-10-21T12:00:00.000Z", "2026-11-21T12:00:00.999Z"),
        ("", "2026-11-21T13:00:00.000Z"), ("2026-11-21T12:00:00.000Z", "in an hour"),
    ])
    func `any other answer is unreadable`(issuedAt: String, expiresAt: String) async throws {
        try await Stage.play([.social(issuedAt: issuedAt, expiresAt: expiresAt)]) { stage in
            let failure = try await stage.renewalFailure(.social)

            let message = "\(stage.server.place) answered 200 without an access token and its times"
            #expect(failure == .unavailable(Unavailability(message, ambiguous: true)))
        }
    }

    @Test(arguments: [#""""#, #""two words""#, "7", "null"])
    func `a token that is no header is unreadable`(token: String) async throws {
        let body = """
            {"accessToken":\(token),"issuedAt":"2026-11-21T12:00:00.000Z","expiresAt":"2026-11-21T13:00:00.000Z"}
            """
        try await Stage.play([.json(200, body)]) { stage in
            let why = try await stage.renewalFailure(.social)?.unavailability

            #expect(why?.ambiguous == true)
        }
    }

    private func token(_ step: ScriptedServer.Step, requestTakes: Duration = .zero) async throws -> Grant.Token? {
        var token: Grant.Token?
        try await Stage.play([step], requestTakes: requestTakes) { stage in
            token = try await stage.social.renew(Identity(userId: "anna"), with: SessionSecrets(), using: .renew).token
        }
        return token
    }
}
