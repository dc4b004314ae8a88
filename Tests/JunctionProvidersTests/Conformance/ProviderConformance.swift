import JunctionNetworkHelper
import JunctionProviders
import JunctionSecret
import JunctionSession
import JunctionTesting
import Testing

/// The behaviour that the session requires of every provider.
struct ProviderConformance {
    @Test(arguments: ProviderUnderTest.all)
    func `examining a credential returns its user without a request`(tested: ProviderUnderTest) async throws {
        try await Stage.play([]) { stage in
            let facts = try stage.provider(of: tested).examine(tested.credential, configured: nil)

            #expect(facts.subject == (tested.isNamed ? .user(tested.identity) : .unnamed))
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test(arguments: ProviderUnderTest.all)
    func `a scheme of another provider is unsupported, and the message names the supported ones`(
        tested: ProviderUnderTest
    ) async throws {
        try await Stage.play([]) { stage in
            let provider = try stage.provider(of: tested)
            for credential in Credential.oneOfEachScheme where provider.schemes[credential.scheme] == nil {
                let refused = #expect(throws: CredentialRefused.self) {
                    try provider.examine(credential, configured: nil)
                }
                let reason = try #require(refused?.reasonIfUnsupported)
                #expect(provider.schemes.keys.allSatisfy { reason.contains($0.rawValue) })
                #expect(await provider.exchangeFailure(credential)?.refusal != nil)
            }
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test(arguments: ProviderUnderTest.all.filter(\.isNamed))
    func `a credential of another user than expected is refused without a request`(
        tested: ProviderUnderTest
    ) async throws {
        try await Stage.play([]) { stage in
            let provider = try stage.provider(of: tested)
            let failure = await provider.exchangeFailure(tested.credential, expecting: Identity(userId: "another"))

            #expect(failure == .otherUser(tested.identity))
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test(arguments: ProviderUnderTest.all)
    func `an exchange grants a session whose life counts from the start of the request`(
        tested: ProviderUnderTest
    ) async throws {
        try await Stage.play([tested.granted], requestTakes: .seconds(9)) { stage in
            let grant = try await stage.provider(of: tested).exchange(tested.credential, expecting: tested.identity)

            #expect(grant.identity == tested.identity)
            #expect(grant.token?.secret?.text == "access-1")
            #expect(grant.token?.issuedAt == ManualClock.noon)
            #expect(grant.token?.expiresAt == ManualClock.noon + .seconds(3_600))
            #expect(grant.refreshToken?.text == tested.refreshToken)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: ProviderUnderTest.all)
    func `a renewal returns a new access token, and a new refresh token if the provider rotates`(
        tested: ProviderUnderTest
    ) async throws {
        try await Stage.play([tested.rotated, tested.notRotated], requestTakes: .seconds(9)) { stage in
            let provider = try stage.provider(of: tested)
            let rotated = try await provider.renew(tested.identity, with: tested.secrets, using: tested.answer)
            let notRotated = try await provider.renew(tested.identity, with: tested.secrets, using: tested.answer)

            #expect(rotated.identity == tested.identity)
            #expect(rotated.token?.secret?.text == "access-1")
            #expect(rotated.token?.issuedAt == ManualClock.noon)
            #expect(rotated.token?.expiresAt == ManualClock.noon + .seconds(3_600))
            #expect(rotated.refreshToken?.text == tested.refreshToken)
            #expect(notRotated.token?.issuedAt == ManualClock.noon + .seconds(9))
            #expect(notRotated.refreshToken == nil)
            #expect(stage.server.requests.count == 2)
        }
    }

    @Test(arguments: ProviderUnderTest.all)
    func `an invalid answer of a handler is refused without a request`(tested: ProviderUnderTest) async throws {
        try await Stage.play([]) { stage in
            for answer in tested.invalidAnswers {
                let failure = try await stage.renewalFailure(tested, using: answer)

                #expect(failure?.refusal != nil, "\(answer)")
            }
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test(arguments: [ProviderUnderTest.junction, .oauth])
    func `the send deadline of a refresh retry limits the time to resolve and to connect`(
        tested: ProviderUnderTest
    ) async throws {
        let (helper, clock) = (try FakeNetworkHelper(), ManualClock(ManualClock.start))
        let http = helper.http()
        let provider = try tested.provider("http://127.0.0.1:1", http, clock)
        let sendDeadline = clock.now().uptime + .seconds(9)
        clock.advance(by: .seconds(1))
        let renewal = Task {
            try? await provider.renew(tested.identity, with: tested.secrets, using: .renew, sendingBy: sendDeadline)
        }

        let line = try await helper.met()
        #expect(try await line.request().limits.resolve == 4_000)
        line.closeConnection()
        _ = await renewal.value
        await http.shutdown()
    }

    @Test(arguments: ProviderUnderTest.all.filter { $0.terminated != nil })
    func `a verdict of the provider terminates the session`(tested: ProviderUnderTest) async throws {
        try await Stage.play([try #require(tested.terminated)]) { stage in
            guard case .terminated(let code, let message) = try await stage.renewalFailure(tested) else {
                Issue.record("Expected a termination")
                return
            }
            #expect(code == tested.terminationCode)
            #expect(!message.isEmpty)
        }
    }

    @Test(arguments: ProviderUnderTest.all)
    func `an explicit refusal of the provider refuses the credential`(tested: ProviderUnderTest) async throws {
        try await Stage.play([tested.refused]) { stage in
            let failure = try await stage.exchangeFailure(tested)
            #expect(failure?.refusal != nil)
        }
    }

    @Test(arguments: ProviderUnderTest.all, ServerFailure.all)
    func `any other failure is transient, is not retried, and is ambiguous if the server may have acted`(
        tested: ProviderUnderTest,
        trouble: ServerFailure
    ) async throws {
        try await Stage.play(trouble) { stage in
            let why = try #require(try await stage.renewalFailure(tested)?.unavailability)
            if stage.server.requests.isEmpty { throw Stage.NeverArrived() }

            #expect(why.ambiguous == trouble.isAmbiguous)
            #expect(why.retryAfter == trouble.retryAfter)
            #expect(why.message.contains(stage.server.place))
            #expect(!why.message.contains("secret"))
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: ProviderUnderTest.all, ServerFailure.all)
    func `a server failure during an exchange is transient`(tested: ProviderUnderTest, trouble: ServerFailure)
        async throws
    {
        try await Stage.play(trouble) { stage in
            let why = try #require(try await stage.exchangeFailure(tested)?.unavailability)
            if stage.server.requests.isEmpty { throw Stage.NeverArrived() }

            #expect(why.retryAfter == trouble.retryAfter)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: ProviderUnderTest.all, [200, 202, 204, 400, 401, 403, 404, 409, 410])
    func `a revocation is complete after a success, and after no other status alone`(
        tested: ProviderUnderTest,
        status: Int
    ) async throws {
        // A 204 answer has no body, so the server must close the connection.
        let gone = ScriptedServer.Step.raw("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
        try await Stage.play([status == 204 ? gone : .answer(status, [], "")]) { stage in
            let failure = try await stage.revocationFailure(tested)

            #expect((failure == nil) == (!tested.revokes || status < 300))
            #expect(stage.server.requests.count == (tested.revokes ? 1 : 0))
        }
    }

    @Test(
        arguments: ProviderUnderTest.all.filter(\.revokes),
        ["<html>Sign in to the network</html>", "{}", #"{"code":401}"#]
    )
    func `a gateway's error does not complete a revocation`(
        tested: ProviderUnderTest,
        body: String
    ) async throws {
        try await Stage.play([.answer(403, [("content-type", "text/html")], body)]) { stage in
            let failure = try await stage.revocationFailure(tested)

            #expect(failure != nil)
        }
    }

    @Test(arguments: ProviderUnderTest.all.filter(\.revokes))
    func `a revocation is complete if the provider no longer has the session`(tested: ProviderUnderTest) async throws {
        try await Stage.play([try #require(tested.alreadyRevoked)]) { stage in
            let failure = try await stage.revocationFailure(tested)

            #expect(failure == nil)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(
        arguments: ProviderUnderTest.all.filter(\.revokes),
        [
            (.answer(302, [("location", "/")], ""), nil), (.answer(408, [], ""), nil),
            (.answer(429, [("retry-after", "7")], ""), .seconds(7)), (.answer(500, [], ""), nil),
            (.answer(503, [("retry-after", "9")], "<html>"), .seconds(9)), (.closeConnection, nil),
        ] as [(ScriptedServer.Step, Duration?)]
    )
    func `a failed revocation is reported and not retried by the provider`(
        tested: ProviderUnderTest,
        trouble: (step: ScriptedServer.Step, retryAfter: Duration?)
    ) async throws {
        try await Stage.play([trouble.step]) { stage in
            let why = try #require(try await stage.revocationFailure(tested))

            #expect(why.retryAfter == trouble.retryAfter)
            #expect(why.message.contains(stage.server.place))
            #expect(!why.message.contains("secret"))
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: ProviderUnderTest.all)
    func `a success with an unusual content type is a success`(tested: ProviderUnderTest) async throws {
        guard case .answer(let status, _, let body) = tested.rotated else { return }
        try await Stage.play([.answer(status, [("content-type", "text/plain")], body)]) { stage in
            let failure = try await stage.renewalFailure(tested)

            #expect(failure == nil)
        }
    }

    @Test(arguments: ProviderUnderTest.all)
    func `a refused connection is not ambiguous`(tested: ProviderUnderTest) async throws {
        try await Stage.play([]) { stage in
            try await stage.server.refuse()
            let why = try #require(try await stage.renewalFailure(tested)?.unavailability)

            #expect(why == Unavailability("Connection refused by \(stage.server.place): is it running?"))
        }
    }

    @Test(.enabled(if: TestAuthority.isAvailable, "openssl is not installed"), arguments: ProviderUnderTest.all)
    func `an untrusted certificate is reported at once, and nothing is sent`(
        tested: ProviderUnderTest
    ) async throws {
        let tls = try TestAuthority().certificate(for: "IP:127.0.0.1")
        try await Stage.play([tested.rotated], tls: tls) { stage in
            let why = try #require(try await stage.renewalFailure(tested)?.unavailability)

            #expect(why.message.hasPrefix("The certificate of \(stage.server.place) is not trusted: add its CA"))
            #expect(!why.ambiguous)
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test(.enabled(if: TestAuthority.isAvailable, "openssl is not installed"), arguments: ProviderUnderTest.all)
    func `a private CA is trusted if it is configured`(tested: ProviderUnderTest) async throws {
        let authority = try TestAuthority()
        let tls = try authority.certificate(for: "IP:127.0.0.1")
        try await Stage.play([tested.rotated], tls: tls, network: NetworkSettingsSource(caFile: authority.file)) {
            stage in
            let failure = try await stage.renewalFailure(tested)

            #expect(failure == nil)
        }
    }
}

extension Credential {
    fileprivate static let oneOfEachScheme: [Credential] = [
        .signInToken(SharedSecret(text: "x")), .linkCode(SharedSecret(text: "skus0a1b2c3d")),
        .apiKey(key: nil, userId: "anna", environment: nil, region: nil),
        .userLogin(userId: "anna", displayName: nil, authToken: nil), .registration(userId: "anna", token: nil),
        .registrationSignature(userId: "anna", signature: SharedSecret(text: "x"), sequence: 1),
        .selfSigned(userId: "anna"), .device, OAuthSample.code, .refreshToken(SharedSecret(text: "x")),
        OAuthSample.subjectToken,
    ]
}
