import JunctionJSON
import JunctionProtocol
import JunctionSecret
import Testing

/// Values that one side writes and the other side reads.
struct RoundTripTests {
    @Test(
        arguments: [
            (.signInToken(SecretText("t\"é")), #"{"scheme":"signInToken","token":"t\"é"}"#),
            (.linkCode(SecretText("ABCDEFGHJKLM")), #"{"scheme":"linkCode","code":"ABCDEFGHJKLM"}"#),
            (.apiKey(), #"{"scheme":"apiKey"}"#),
            (
                .apiKey(SecretText("k"), userId: "u", environment: "sandbox", region: "us"),
                #"{"scheme":"apiKey","apiKey":"k","userId":"u","environment":"sandbox","region":"us"}"#
            ),
            (.userLogin(userId: "u"), #"{"scheme":"userLogin","userId":"u"}"#),
            (
                .userLogin(userId: "u", displayName: "", authToken: SecretText("a")),
                #"{"scheme":"userLogin","userId":"u","displayName":"","authToken":"a"}"#
            ),
            (.registration(userId: "u"), #"{"scheme":"registration","userId":"u"}"#),
            (
                .registration(userId: "u", token: SecretText("t")),
                #"{"scheme":"registration","userId":"u","token":"t"}"#
            ),
            (
                .registrationSignature(userId: "u", signature: SecretText("s="), sequence: .max),
                #"{"scheme":"registrationSignature","userId":"u","signature":"s=","sequence":"18446744073709551615"}"#
            ),
            (.selfSigned(userId: "u"), #"{"scheme":"selfSigned","userId":"u"}"#),
            (.device, #"{"scheme":"device"}"#),
            (
                .authorizationCode(SecretText("c"), redirectUri: "http://127.0.0.1:9/", codeVerifier: SecretText("v")),
                #"{"scheme":"authorizationCode","code":"c","redirectUri":"http://127.0.0.1:9/","codeVerifier":"v"}"#
            ),
            (.refreshToken(SecretText("t")), #"{"scheme":"refreshToken","refreshToken":"t"}"#),
            (
                .tokenExchange(subjectToken: SecretText("t"), subjectTokenType: "urn:x"),
                #"{"scheme":"tokenExchange","subjectToken":"t","subjectTokenType":"urn:x"}"#
            ),
        ] as [(Credential, String)]
    )
    func `a credential is written and read`(_ credential: Credential, _ text: String) throws {
        #expect(written(credential) == text)
        #expect(try roundTrip(credential) == credential)
    }

    @Test(
        arguments: [
            (.renew, #"{"action":"renew"}"#), (.unableToRetrieveAuthToken, #"{"action":"unableToRetrieveAuthToken"}"#),
            (.renewWithAuthToken(SecretText("t")), #"{"action":"renewWithAuthToken","authToken":"t"}"#),
            (
                .renewWithSignature(SecretText("s"), sequence: 7),
                #"{"action":"renewWithSignature","signature":"s","sequence":"7"}"#
            ),
        ] as [(RenewalAnswer, String)]
    )
    func `an answer of a handler is written and read`(_ answer: RenewalAnswer, _ text: String) throws {
        #expect(written(answer) == text)
        #expect(try roundTrip(answer) == answer)
    }

    @Test(arguments: [0, 7, .max] as [UInt64])
    func `a sequence is also read from an integer`(sequence: UInt64) throws {
        let credential = #"{"scheme":"registrationSignature","userId":"u","signature":"s","sequence":\#(sequence)}"#
        let answer = #"{"action":"renewWithSignature","signature":"s","sequence":\#(sequence)}"#

        let signature = SecretText("s")
        let signIn = try Credential(reading: json(credential))
        #expect(signIn == .registrationSignature(userId: "u", signature: signature, sequence: sequence))
        #expect(try RenewalAnswer(reading: json(answer)) == .renewWithSignature(signature, sequence: sequence))
    }

    @Test(
        arguments: [
            "null", "{}", #"{"action":"sleep"}"#, #"{"action":1}"#, #"{"action":"renewWithAuthToken"}"#,
            #"{"action":"renewWithAuthToken","authToken":""}"#,
            #"{"action":"renewWithSignature","signature":"s","sequence":-7}"#,
        ]
    )
    func `an invalid answer of a handler is refused`(_ text: String) throws {
        #expect(throws: WireMismatch.self) { try RenewalAnswer(reading: json(text)) }
    }

    @Test func `a renewal request is written and read`() throws {
        let request = RenewalRequest(
            renewalId: "r1",
            reason: .expiring,
            userId: "u",
            expiresAt: nil,
            deadline: Timestamp(milliseconds: 60_000)
        )

        #expect(
            written(request)
                == #"{"renewalId":"r1","reason":"expiring","userId":"u","expiresAt":null,"deadline":"1970-01-01T00:01:00Z"}"#
        )
        #expect(try roundTrip(request) == request)
    }

    @Test func `parameters are written and read`() throws {
        for params in [TokenGet.Params(), TokenGet.Params(minimumValidity: 0.25)] {
            #expect(try roundTrip(params) == params)
        }
        for user in ["ü", nil] {
            #expect(try roundTrip(SessionIdentify.Params(externalUserId: user)).externalUserId == user)
            #expect(try roundTrip(SessionReconcile.Params(userId: user)).userId == user)
        }
        #expect(try roundTrip(SessionAuthenticate.Params(externalUserId: "e")).externalUserId == "e")
        for changes in [nil, SessionSubscribe.Changes.all, .state] {
            #expect(try roundTrip(SessionSubscribe.Params(changes: changes)).changes == changes)
        }
        #expect(written(SessionSubscribe.Params()) == "{}")
        #expect(written(TokenGet.Params()) == "{}")
        #expect(written(NoParams()) == "{}")
    }

    @Test func `an access token is written and read`() throws {
        let token = AccessToken(
            accessToken: SecretText("ey.J"),
            expiresAt: Timestamp(milliseconds: 1_795_242_034_000),
            userId: "u"
        )

        #expect(
            written(token)
                == #"{"accessToken":"ey.J","tokenType":"Bearer","expiresAt":"2026-11-21T06:20:34Z","userId":"u"}"#
        )
        #expect(try roundTrip(token) == token)
        #expect(try roundTrip(token).accessToken.revealed() == "ey.J")
    }

    @Test func `an API request is written and read`() throws {
        let plain = ApiRequest(path: "/v2/user/u")
        let full = ApiRequest(
            method: "PATCH",
            path: "/v2/user/u",
            query: ["b": "1 &", "a": ""],
            headers: ["X-Trace": "t\tu"],
            body: Array("{\"a\":1}".utf8)
        )
        let binary = ApiRequest(method: "PUT", path: "/", body: [0xFF, 0x00])

        #expect(written(plain) == #"{"method":"GET","path":"/v2/user/u"}"#)
        #expect(written(binary) == #"{"method":"PUT","path":"/","bodyBase64":"/wA="}"#)
        for request in [plain, full, binary] { #expect(try roundTrip(request) == request) }
    }

    @Test func `an API answer is written and read`() throws {
        let text = ApiAnswer(status: 404, headers: ["Vary": "a", "vary": "b", "X": "y"], body: Array("é".utf8))
        let binary = ApiAnswer(status: 200, headers: [:], body: [0xC3, 0x28])

        #expect(written(text) == #"{"status":404,"headers":{"vary":"a, b","x":"y"},"body":"é"}"#)
        #expect(written(binary) == #"{"status":200,"headers":{},"bodyBase64":"wyg="}"#)
        for answer in [text, binary] { #expect(try roundTrip(answer) == answer) }
        #expect(text.headers["VARY"] == "a, b")
    }

    @Test func `bodies that are not text are written and read at every length`() throws {
        for count in 0..<100 {
            let body = (0..<count).map { UInt8(truncatingIfNeeded: 0xFF &- $0 &* 7) }
            let answer = ApiAnswer(status: 200, headers: [:], body: body)
            #expect(try roundTrip(answer).body == body)
        }
    }

    @Test(arguments: ["A", "AA", "AAA", "A===", "====", "AA=A", "AB==", "AAB=", "A-A=", "AAA=AAAA", "A A=", "AA==\n"])
    func `invalid base64 is refused`(_ text: String) {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("method", "PUT")
            writer.member("path", "/")
            writer.member("bodyBase64", text)
        }
        let line = writer.take()

        #expect(throws: WireMismatch("bodyBase64", "must be base64 of RFC 4648, padded")) {
            try ApiRequest(reading: JSONValue.parse(line))
        }
    }

    @Test func `the description of the daemon is written and read`() throws {
        let info = DaemonDescription(
            version: "1.0.0",
            provider: "junction",
            pid: 4711,
            startedAt: Timestamp(milliseconds: 0),
            uptime: 1.5
        )
        let diagnosis = Diagnosis(checks: [
            .init(name: "clock", verdict: .ok, detail: "agrees"),
            .init(name: "socket", verdict: .problem, detail: "open to all", remedy: "chmod 0660"),
        ])

        #expect(try roundTrip(info) == info)
        #expect(
            written(info)
                == #"{"name":"junctiond","version":"1.0.0","protocolVersion":1,"provider":"junction","pid":4711,"startedAt":"1970-01-01T00:00:00Z","uptime":1.5,"pendingRestart":[]}"#
        )
        #expect(try roundTrip(diagnosis) == diagnosis)
        #expect(written(diagnosis).hasPrefix(#"{"checks":[{"name":"clock","verdict":"ok","detail":"agrees"},"#))
        #expect(try roundTrip(DaemonMetrics.Answer(text: "a 1\n")).text == "a 1\n")
        #expect(written(HandlerRegister.Answer()) == #"{"registered":true}"#)
        #expect(written(HandlerRegister.Answer(mode: "handler")) == #"{"registered":true,"mode":"handler"}"#)
        #expect(written(NoAnswer()) == "null")
        #expect(throws: Never.self) { try roundTrip(HandlerRegister.Answer(mode: "automatic")) }
    }

    @Test func `messages of this side are read back with the same kind`() throws {
        let request = appended { $0.appendRequest(of: SessionAuthenticate.self, .init(externalUserId: "e"), id: -3) }
        let notification = appended { $0.appendNotification(of: TokenGet.self, .init()) }
        let answer = appended { output in
            output.appendAnswer(of: DaemonMetrics.self, .init(text: ""), for: RequestID(9))
            output.endLine()
        }

        #expect(
            request == #"{"jsonrpc":"2.0","id":-3,"method":"session.authenticate","params":{"externalUserId":"e"}}"#
        )
        #expect(notification == #"{"jsonrpc":"2.0","method":"token.get","params":{}}"#)
        #expect(answer == #"{"jsonrpc":"2.0","id":9,"result":{"text":""}}"# + "\n")
        guard case .single(.request(let call, let id)) = incoming(request) else {
            Issue.record("not a request")
            return
        }
        #expect(DaemonCall(call.name) == .sessionAuthenticate)
        #expect(id.number == -3)
    }
}
