import JunctionSession
import Testing

@testable import JunctionProviders

/// The conversion of the provider's times to the local clock.
struct SocialTimesTests {
    private static let noon = ManualClock.noon

    @Test(arguments: [
        (
            "2026-11-21T12:10:00.250Z", "2026-12-21T12:10:00.250Z", "Sat, 21 Nov 2026 12:10:00 GMT",
            Duration.seconds(30 * 86_400) + .milliseconds(250)
        ),
        // The `Date` header names a whole second, so the computed difference is one second smaller.
        (
            "2026-11-21T11:00:00.000Z", "2026-11-21T12:00:00.000Z", "Sat, 21 Nov 2026 11:00:00 GMT", .seconds(3_599)
        ),
    ])
    func `times of a server whose clock is wrong are moved`(
        issuedAt: String,
        expiresAt: String,
        date: String,
        life: Duration
    ) async throws {
        let token = try await token(.social(issuedAt: issuedAt, expiresAt: expiresAt, date: date))

        #expect(token?.issuedAt == Self.noon)
        #expect(token?.expiresAt == Self.noon + life)
    }

    @Test func `a slow answer is not a clock difference`() async throws {
        let step = ScriptedServer.Step.social(date: "Sat, 21 Nov 2026 12:00:04 GMT")
        let token = try await token(step, requestTakes: .seconds(9))

        #expect(token?.issuedAt == Self.noon)
        #expect(token?.expiresAt == Self.noon + .seconds(3_600))
    }

    @Test(arguments: ["yesterday", "Sat, 21 Nov 2026 12:10:00 CET"])
    func `an invalid date is ignored`(date: String) async throws {
        let token = try await token(.social(date: date))

        #expect(token?.expiresAt == Self.noon + .seconds(3_600))
    }

    @Test func `a token that was issued earlier is renewed within the rest of its life`() async throws {
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
        // Issued while the request was under way.
        ("2026-11-21T12:00:00.250Z", "2027-11-22T12:00:00.250Z"),
        ("2026-11-21T12:00:00.000Z", "2027-11-22T12:00:00.000Z"),
        ("2026-11-21T13:00:00+01:00", "2026-11-21T14:00:00.5+01:00"),
    ])
    func `a life from one second to 366 days is accepted`(issuedAt: String, expiresAt: String) async throws {
        #expect(try await token(.social(issuedAt: issuedAt, expiresAt: expiresAt)) != nil)
    }

    @Test(arguments: [
        ("2026-11-21T12:00:00.000Z", "2026-11-21T12:00:00.999Z"),
        ("2026-11-21T12:00:00.000Z", "2027-11-22T12:00:00.001Z"),
        ("2026-11-21T12:00:00.000Z", "2026-11-21T11:00:00.000Z"),
        ("2026-10-21T12:00:00.000Z", "2026-11-21T12:00:00.999Z"),
        ("", "2026-11-21T13:00:00.000Z"), ("2026-11-21T12:00:00.000Z", "in an hour"),
    ])
    func `any other life is unreadable`(issuedAt: String, expiresAt: String) async throws {
        try await Stage.play([.social(issuedAt: issuedAt, expiresAt: expiresAt)]) { stage in
            let failure = try await stage.renewalFailure(.social)

            let message = "\(stage.server.place) answered 200 without an access token and its times"
            #expect(failure == .unavailable(Unavailability(message, ambiguous: true)))
        }
    }

    @Test(arguments: [#""""#, #""two words""#, "7", "null"])
    func `a token that does not fit into a header is unreadable`(token: String) async throws {
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
