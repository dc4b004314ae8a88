import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

/// The device sign-in (RFC 8628).
struct OAuthDeviceTests {
    private static func begun(_ more: String = #","interval":7"#, uri: String = "verification_uri")
        -> ScriptedServer.Step
    {
        .json(
            200,
            #"{"device_code":"device-1","user_code":"WDJB-MJHT","\#(uri)":"https://id.example.com/d","expires_in":900\#(more)}"#
        )
    }

    private static func failure(_ step: ScriptedServer.Step) async throws -> ExchangeFailure? {
        var failure: ExchangeFailure?
        try await Stage.play([step]) { stage in
            let oauth = try stage.oauth()
            failure = await thrown { () throws(ExchangeFailure) in
                try await oauth.requestDeviceAuthorization(.device)
            }
        }
        return failure
    }

    @Test func `a sign-in sends all configured parameters, and its life counts from the start of the request`()
        async throws
    {
        let settings: [String: ProviderSetting.Value] = ["audience": "api-1", "resource": ["urn:a"]]
        let complete = #","interval":7,"verification_uri_complete":"https://id.example.com/d?user_code=WDJB-MJHT""#
        try await Stage.play([Self.begun(complete)], requestTakes: .seconds(3)) { stage in
            let begun = try await stage.oauth(settings).requestDeviceAuthorization(.device)

            let request = try #require(stage.server.requests.first)
            #expect(request.line == "POST /device HTTP/1.1")
            #expect(
                request.fields == [
                    "scope=openid%20offline_access", "audience=api-1", "resource=urn%3Aa", "client_id=client-1",
                ]
            )
            #expect(begun.codes.deviceCode.text == "device-1")
            #expect(begun.codes.userCode.text == "WDJB-MJHT")
            #expect(begun.codes.verificationUri == "https://id.example.com/d")
            #expect(begun.codes.verificationUriComplete?.text == "https://id.example.com/d?user_code=WDJB-MJHT")
            #expect(begun.interval == .seconds(7))
            #expect(begun.life == Life(from: ManualClock.start, lasting: .seconds(900)))
        }
    }

    @Test(arguments: [
        begun(""), begun(#","interval":0"#), begun(#","interval":null"#), begun(#","interval":-1"#),
        begun(#","interval":"x""#), begun("", uri: "verification_url"),
    ])
    func `the default interval is five seconds, and Google's member name is accepted`(
        step: ScriptedServer.Step
    ) async throws {
        try await Stage.play([step]) { stage in
            let begun = try await stage.oauth().requestDeviceAuthorization(.device)

            #expect(begun.interval == .seconds(5))
            #expect(begun.codes.verificationUri == "https://id.example.com/d")
            #expect(begun.codes.verificationUriComplete == nil)
        }
    }

    @Test(arguments: [
        ScriptedServer.Step.json(200, "{}"), .answer(200, [], "<html>"), begun(uri: "other"),
        .answer(500, [], "<html>"),
        .answer(404, [], ""), .closeConnection, .json(400, #"{"error":"unauthorized_client"}"#),
        .json(400, #"{"error":"x"}"#),
        .json(
            200,
            #"{"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"javascript:alert(1)","expires_in":900}"#
        ),
    ])
    func `an answer without codes begins no sign-in`(step: ScriptedServer.Step) async throws {
        let failure = try await Self.failure(step)

        let why = try #require(failure?.unavailability)
        #expect(!why.message.contains("WDJB-MJHT"))
    }

    @Test func `a gateway's Retry-After is passed on`() async throws {
        try await Stage.play([.answer(429, [("retry-after", "17")], "Too many")]) { stage in
            let why = try #require(try await stage.oauth().pollFailure()?.unavailability)
            #expect(why.retryAfter == .seconds(17))
        }
    }

    @Test func `a client without the grant type is a problem for doctor`() async throws {
        try await Stage.play([.json(400, #"{"error":"unauthorized_client"}"#)]) { stage in
            let oauth = try stage.oauth()
            _ = try? await oauth.requestDeviceAuthorization(.device)

            #expect(oauth.notes.findings.first?.remedy == "Allow this client the grant type at the server")
        }
    }

    @Test func `a poll names the client and returns the grant`() async throws {
        try await Stage.play([.tokens()]) { stage in
            let grant = try await stage.oauth(["resource": ["urn:a"]]).poll(OAuthSample.codes)

            #expect(stage.server.requests.first?.line == "POST /token HTTP/1.1")
            #expect(
                stage.server.requests.first?.fields == [
                    "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code", "device_code=device-secret",
                    "client_id=client-1",
                ]
            )
            #expect(grant.scheme == .device)
            #expect(grant.identity == OAuthSample.identity)
        }
    }

    /// The outcome of a poll.
    private enum Outcome: String {
        case pending, slowDown, denied, expired, refused, unavailable

        init?(_ failure: PollFailure?) {
            switch failure {
            case nil: return nil
            case .pending: self = .pending
            case .slowDown: self = .slowDown
            case .denied: self = .denied
            case .expired: self = .expired
            case .refused: self = .refused
            case .unavailable: self = .unavailable
            }
        }
    }

    @Test(
        arguments: [
            (.json(400, #"{"error":"authorization_pending"}"#), "pending"),
            // The answers of Auth0, and those of GitHub with and without JSON.
            (.json(403, #"{"error":"authorization_pending"}"#), "pending"),
            (.json(200, #"{"error":"authorization_pending"}"#), "pending"),
            (.answer(200, [], "error=authorization_pending&interval=5"), "pending"),
            (.answer(400, [("content-type", "text/html")], #"{"error":"authorization_pending"}"#), "pending"),
            (.json(400, #"{"error":"slow_down"}"#), "slowDown"), (.answer(429, [], "Too many"), "unavailable"),
            (.json(429, #"{"error":"access_denied"}"#), "unavailable"),
            (.json(429, #"{"error":"slow_down"}"#), "slowDown"), (.json(400, #"{"error":"access_denied"}"#), "denied"),
            (.json(400, #"{"error":"authorization_declined"}"#), "denied"),
            (.json(400, #"{"error":"expired_token"}"#), "expired"),
            (.json(400, #"{"error":"invalid_grant"}"#), "refused"),
            (.json(404, #"{"error":"device_not_found"}"#), "refused"),
            (.json(400, #"{"error":"bad_verification_code"}"#), "refused"),
            (.json(401, #"{"error":"invalid_client"}"#), "unavailable"),
            (.json(400, #"{"error":"invalid_request"}"#), "unavailable"),
            (.json(400, #"{"error":"x"}"#), "unavailable"),
            (.json(500, #"{"error":"access_denied"}"#), "unavailable"), (.answer(400, [], ""), "unavailable"),
            (.answer(502, [], "<html>"), "unavailable"), (.answer(200, [], "<html>"), "unavailable"),
            (.answer(503, [], ""), "unavailable"), (.closeConnection, "unavailable"),
        ] as [(ScriptedServer.Step, String)]
    )
    func `each answer to a poll has its outcome`(step: ScriptedServer.Step, outcome: String) async throws {
        try await Stage.play([step]) { stage in
            let failure = try await stage.oauth().pollFailure()

            #expect(Outcome(failure)?.rawValue == outcome)
            #expect(!"\(failure, default: "")".contains("device-secret"))
        }
    }

    @Test func `authorization_pending with a Retry-After demands that pause`() async throws {
        let step = ScriptedServer.Step.answer(400, [("retry-after", "60")], #"{"error":"authorization_pending"}"#)
        try await Stage.play([step]) { stage in
            let oauth = try stage.oauth()
            #expect(await oauth.pollFailure() == .pending(retryAfter: .seconds(60)))
        }
    }

    @Test(arguments: [400, 429])
    func `slow_down with a Retry-After demands that pause`(status: Int) async throws {
        let step = ScriptedServer.Step.answer(status, [("retry-after", "60")], #"{"error":"slow_down"}"#)
        try await Stage.play([step]) { stage in
            let oauth = try stage.oauth()
            #expect(await oauth.pollFailure() == .slowDown(retryAfter: .seconds(60)))
        }
    }
}
