import JunctionSecret
import JunctionSession
import RegistrationToken
import Testing

@testable import JunctionProviders

struct SinchExchangeTests {
    @Test func `a token registers this device with one request and without any other credential`() async throws {
        let endless = ScriptedServer.Step.json(200, #"{"instanceId":"i-1","credential":"c-1","expiresAt":null}"#)
        try await Stage.play([endless], requestTakes: .seconds(7)) { stage in
            let grant = try await stage.sinch().exchange(
                .registration(userId: "Anna", token: Sinch.token(for: "Anna")),
                expecting: nil
            )

            let request = try #require(stage.server.requests.first)
            #expect(stage.server.requests.count == 1)
            #expect(request.line == "POST /v1/instance HTTP/1.1")
            #expect(request.header("content-type") == "application/json")
            #expect(request.header("authorization") == nil)
            #expect(
                request.body
                    == #"{"applicationKey":"\#(Sinch.key)","userId":"Anna","deviceId":"device-1","#
                    + #""jwt":"\#(Sinch.jwt(for: "Anna"))"}"#
            )

            #expect(grant.identity == Identity(userId: "Anna"))
            #expect(grant.scheme == .registration)
            #expect(grant.token?.secret?.text == "c-1")
            #expect(grant.token?.issuedAt == ManualClock.noon)
            #expect(grant.token?.expiresAt == .never)
            #expect(
                grant.refreshToken.flatMap(Registration.init)
                    == Registration(instanceId: "i-1", scheme: .registration, limit: nil)
            )
        }
    }

    @Test(
        arguments: [
            (#"{"instanceId":"i","credential":null}"#, nil), (#"{"instanceId":"i"}"#, nil),
            (#"{"instanceId":"i","credential":"c","added_later":[]}"#, "c"),
        ] as [(String, String?)]
    )
    func `a registration may have no credential`(body: String, credential: String?) async throws {
        try await Stage.play([.json(201, body)]) { stage in
            let grant = try await stage.sinch().exchange(.anna, expecting: nil)

            #expect(grant.token != nil)
            #expect(grant.token?.secret?.text == credential)
        }
    }

    @Test(
        arguments: [
            (nil, nil, nil), (200_000, nil, 200_000), (nil, 172_800, 172_800), (200_000, 172_800, 172_800),
            (172_800, 200_000, 172_800),
        ] as [(Int64?, Int64?, Int64?)]
    )
    func `a registration ends at the earlier of the times of the service and of the token`(
        server: Int64?,
        token: Int64?,
        end: Int64?
    ) async throws {
        let expiresAt = server.map { String(Sinch.now + $0) } ?? "null"
        try await Stage.play([.json(200, #"{"instanceId":"i","expiresAt":\#(expiresAt)}"#)]) { stage in
            let jwt = Sinch.token(instanceTimeToLive: token)
            let grant = try await stage.sinch().exchange(.registration(userId: "anna", token: jwt), expecting: nil)

            #expect(grant.token?.expiresAt == end.map { ManualClock.noon + .seconds($0) } ?? .never)
        }
    }

    @Test func `an end that the service states is converted to the local clock`() async throws {
        let headers = [("date", "Sat, 21 Nov 2026 13:00:00 GMT")]
        let body = #"{"instanceId":"i","expiresAt":\#(Sinch.now + 7_200)}"#
        try await Stage.play([.answer(200, headers, body)]) { stage in
            let grant = try await stage.sinch().exchange(.anna, expecting: nil)

            #expect(grant.token?.expiresAt == ManualClock.noon + .seconds(3_600))
        }
    }

    @Test(arguments: [
        #"{"instanceId":""}"#, #"{"instanceId":7}"#, #"["i"]"#, #"{"instanceId":"i","credential":7}"#,
        #"{"instanceId":"i","credential":""}"#, #"{"instanceId":"i","credential":"a b"}"#,
        #"{"instanceId":"i","expiresAt":"soon"}"#, #"{"instanceId":"i","expiresAt":-1}"#,
        #"{"instanceId":"i","expiresAt":1795262400}"#, #"{"instanceId":"i","expiresAt":9223372036854775807}"#,
    ])
    func `an unreadable success, or one that has already ended, fails`(body: String) async throws {
        try await Stage.play([.json(200, body)]) { stage in
            let why = try #require(try await stage.sinch().exchangeFailure(.anna)?.unavailability)

            #expect(why.ambiguous)
            #expect(why.message == "\(stage.server.place) answered 200 without an instance and its end")
        }
    }

    @Test(
        arguments: [
            (300, nil), (301, "notYetValid: iat is in the future: compare the clocks"), (-899, nil),
            (-900, "expired: it has expired"),
        ] as [(Int64, String?)]
    )
    func `a token whose time is wrong by more than the tolerance is not sent`(
        offset: Int64,
        rule: String?
    ) async throws {
        try await Stage.play([Sinch.granted("i")]) { stage in
            let token = Sinch.token(at: Sinch.now + offset)
            let failure = try await stage.sinch().exchangeFailure(.registration(userId: "anna", token: token))

            #expect(failure == rule.map { .refused("The registration token breaks the rule \($0)") })
            #expect(stage.server.requests.count == (rule == nil ? 1 : 0))
        }
    }

    @Test(arguments: [401, 403])
    func `a refusal in JSON refuses the token without the server's text`(status: Int) async throws {
        try await Stage.play([.json(status, #"{"errorCode":40101,"message":"<b>chosen by the server</b>"}"#)]) {
            stage in
            let failure = try await stage.sinch().exchangeFailure(.anna)

            #expect(
                failure == .refused("Sinch refused the registration token: get a new one from your backend")
            )
        }
    }

    @Test(arguments: [(401, "<html></html>"), (401, ""), (403, "[]"), (400, "{}"), (404, "{}"), (409, "{}")])
    func `any other answer does not refuse the token`(status: Int, body: String) async throws {
        try await Stage.play([.json(status, body)]) { stage in
            let failure = try await stage.sinch().exchangeFailure(.anna)

            #expect(failure?.unavailability != nil)
        }
    }

    @Test func `without a token nothing is sent`() async throws {
        try await Stage.play([]) { stage in
            let failure = try await stage.sinch().exchangeFailure(.registration(userId: "anna", token: nil))

            #expect(failure?.refusal != nil)
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test func `a signature is sent with its 64-bit sequence in decimal digits`() async throws {
        try await Stage.play([Sinch.granted("i")]) { stage in
            let credential = Credential.registrationSignature(
                userId: "Anna",
                signature: Sinch.signature,
                sequence: 18_446_744_073_709_551_615
            )
            let grant = try await stage.sinch().exchange(credential, expecting: nil)

            #expect(
                stage.server.requests.first?.body
                    == #"{"applicationKey":"\#(Sinch.key)","userId":"Anna","deviceId":"device-1","#
                    + #""signature":"w7JPN3E6OUcIAGt5JFsNOhuF1MM=","sequence":"18446744073709551615"}"#
            )
            #expect(grant.scheme == .registrationSignature)
        }
    }

    @Test func `a self-signed token is valid, and the secret is not sent`() async throws {
        try await Stage.play([Sinch.granted("i")]) { stage in
            let grant = try await stage.sinch(Sinch.selfSigning).exchange(.selfSigned(userId: "Anna"), expecting: nil)

            let body = try #require(stage.server.requests.first?.body)
            let jwt = try #require(body.split(separator: #""jwt":""#).last?.prefix { $0 != "\"" })
            let secret = try ApplicationSecret(base64: "ax8hTTQJF0OPXL32r1LHMA==".utf8)
            let token = try RegistrationToken.verify(jwt.utf8, with: secret, at: Sinch.now)
            #expect(token.userId == "Anna" && token.applicationKey == Sinch.key)
            #expect(!body.contains("ax8hTTQJF0OPXL32r1LHMA"))
            #expect(grant.scheme == .selfSigned)
        }
    }
}

extension Credential {
    fileprivate static let anna = Credential.registration(userId: "anna", token: Sinch.token())
}
