import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct SinchRenewTests {
    private static let anna = Identity(userId: "anna")
    private static let forgotten = ScriptedServer.Step.json(401, #"{"errorCode":1104,"message":"x"}"#)

    @Test func `a new token extends the present instance`() async throws {
        try await Stage.play([Sinch.granted("i-1")]) { stage in
            _ = try await stage.sinch().renew(
                Self.anna,
                with: Sinch.secrets(Sinch.registration("i-1")),
                using: .authToken(Sinch.token())
            )

            let request = try #require(stage.server.requests.first)
            #expect(request.line == "POST /v1/instance HTTP/1.1")
            #expect(
                request.body
                    == #"{"applicationKey":"\#(Sinch.key)","userId":"anna","deviceId":"device-1","#
                    + #""instanceId":"i-1","jwt":"\#(Sinch.jwt())"}"#
            )
        }
    }

    @Test func `an instance that the service has forgotten is replaced with the next token`() async throws {
        try await Stage.play([Self.forgotten, Sinch.granted("i-2"), Sinch.granted("i-2")]) { stage in
            let sinch = try stage.sinch()
            let secrets = Sinch.secrets(Sinch.registration("i-1"))
            await #expect(throws: RenewalFailure.registrationForgotten) {
                try await sinch.renew(Self.anna, with: secrets, using: .authToken(Sinch.token()))
            }
            let grant = try await sinch.renew(Self.anna, with: secrets, using: .authToken(Sinch.token()))
            let registration = try #require(grant.refreshToken.flatMap(Registration.init))
            _ = try await sinch.renew(Self.anna, with: Sinch.secrets(registration), using: .authToken(Sinch.token()))

            #expect(
                stage.server.requests.map { $0.body.contains(#""instanceId":"#) } == [true, false, true]
            )
            #expect(registration.instanceId == "i-2")
        }
    }

    @Test func `after a check has found the instance forgotten, the next token makes a new one`() async throws {
        let known = ScriptedServer.Step.json(200, #"{"instanceId":"i-1","expiresAt":null}"#)
        try await Stage.play([known, Self.forgotten, Sinch.granted("i-2")]) { stage in
            let sinch = try stage.sinch()
            let secrets = Sinch.secrets(Sinch.registration("i-1"))

            #expect(try await sinch.knows(Self.anna, with: secrets))
            #expect(try await !sinch.knows(Self.anna, with: secrets))
            _ = try await sinch.renew(Self.anna, with: secrets, using: .authToken(Sinch.token()))

            #expect(
                stage.server.requests.map(\.line) == [
                    "GET /v1/instance/i-1 HTTP/1.1", "GET /v1/instance/i-1 HTTP/1.1", "POST /v1/instance HTTP/1.1",
                ]
            )
            #expect(stage.server.requests.last?.body.contains("instanceId") == false)
        }
    }

    @Test(arguments: [(401, #"{"errorCode":40102}"#), (404, "{}"), (405, ""), (503, "")])
    func `no other answer to a check means that the instance is forgotten`(status: Int, body: String) async throws {
        try await Stage.play([.json(status, body)]) { stage in
            let sinch = try stage.sinch()
            await #expect(throws: Unavailability.self) {
                try await sinch.knows(Self.anna, with: Sinch.secrets(Sinch.registration("i-1")))
            }
        }
    }

    @Test(arguments: [
        (403, #"{"errorCode":1104}"#), (401, #"{"errorCode":40101}"#), (401, #"{"errorCode":"1104"}"#), (401, "{}"),
    ])
    func `any other refusal is about the token and not about the instance`(status: Int, body: String) async throws {
        try await Stage.play([.json(status, body)]) { stage in
            let failure = try await stage.renewalFailure(.sinch)

            #expect(
                failure == .answerRefused("Sinch refused the registration token: get a new one from your backend")
            )
        }
    }

    @Test(arguments: [
        ("nonsense", "form"), (Sinch.jwt(for: "bert"), "user"), (Sinch.jwt(of: "another"), "application"),
        (Sinch.jwt(at: Sinch.now - 3_600), "expired"),
    ])
    func `an invalid token is not sent`(jwt: String, rule: String) async throws {
        try await Stage.play([]) { stage in
            let failure = try await stage.renewalFailure(.sinch, using: .authToken(SharedSecret(text: jwt)))

            let reason = try #require(failure?.refusal)
            #expect(reason.hasPrefix("The registration token breaks the rule \(rule):"))
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test func `a registration by token renews only with a token`() async throws {
        try await Stage.play([]) { stage in
            let failure = try await stage.renewalFailure(.sinch, using: .renew)

            #expect(
                failure
                    == .answerRefused("A registration token is needed: Sinch renews a registration with nothing else")
            )
            #expect(stage.server.requests.isEmpty)
        }
    }

    // MARK: Limits

    @Test(
        arguments: [
            ("i-1", 3_600, 3_600), ("i-2", 3_600, nil), ("i-1", -1, nil), ("i-1", nil, nil),
        ] as [(String, Int64?, Int64?)]
    )
    func `a limited registration stays limited while it lasts`(
        answered: String,
        earlier: Int64?,
        end: Int64?
    ) async throws {
        var registration = Sinch.registration("i-1")
        registration.limit = earlier.map { ManualClock.noon + .seconds($0) }
        let secrets = Sinch.secrets(registration)
        try await Stage.play([.json(200, #"{"instanceId":"\#(answered)","expiresAt":null}"#)]) { stage in
            let grant = try await stage.sinch().renew(Self.anna, with: secrets, using: .authToken(Sinch.token()))

            #expect(grant.token?.expiresAt == end.map { ManualClock.noon + .seconds($0) } ?? .never)
        }
    }

    @Test func `a limited registration can be extended`() async throws {
        try await Stage.play([.json(200, #"{"instanceId":"i-1","expiresAt":\#(Sinch.now + 172_800)}"#)]) { stage in
            let grant = try await stage.sinch().renew(
                Self.anna,
                with: Sinch.secrets(Sinch.registration("i-1")),
                using: .authToken(Sinch.token(instanceTimeToLive: 172_800))
            )

            #expect(grant.token?.expiresAt == ManualClock.noon + .seconds(172_800))
        }
    }

    // MARK: Self-signed

    @Test func `a self-signed registration renews without a handler`() async throws {
        try await Stage.play([Sinch.granted("i-1")]) { stage in
            let grant = try await stage.sinch(Sinch.selfSigning).renew(
                Self.anna,
                with: Sinch.secrets(Self.selfSigned),
                using: .renew
            )

            #expect(grant.scheme == .selfSigned)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test func `a wrong secret or clock is transient, and the session is kept`()
        async throws
    {
        try await Stage.play([.json(401, #"{"errorCode":40101}"#)]) { stage in
            let secrets = Sinch.secrets(Self.selfSigned)
            let withoutSecret = try await stage.sinch().renewalFailure(Self.anna, with: secrets)
            let refused = try await stage.sinch(Sinch.selfSigning).renewalFailure(Self.anna, with: secrets)

            #expect(withoutSecret?.unavailability?.message == SinchProof.secretIsMissing)
            #expect(refused?.unavailability?.message.contains("check the clock") == true)
            #expect(stage.server.requests.count == 1)
        }
    }

    // MARK: Stored form

    @Test func `the stored form is read back, and any other text is not`() {
        let whole = Registration(instanceId: "i", scheme: .selfSigned, limit: ManualClock.noon)
        let bare = Registration(instanceId: "i", scheme: .registration, limit: nil)

        #expect(Registration(whole.sealed) == whole)
        #expect(Registration(bare.sealed) == bare)
        #expect(Registration(SharedSecret(text: "refresh-1")) == nil)
        #expect(Registration(SharedSecret(text: #"{"instanceId":"i","scheme":"other"}"#)) == nil)
    }

    private static let selfSigned = Registration(
        instanceId: "i-1",
        scheme: .selfSigned,
        limit: nil
    )
}
