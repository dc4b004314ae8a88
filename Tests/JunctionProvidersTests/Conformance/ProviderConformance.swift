import JunctionProviders
import JunctionSession
import JunctionTesting
import Testing

/// The behaviour that the session requires of every provider.
struct ProviderConformance {
    @Test(arguments: VendorUnderTest.all)
    func `examining a credential returns its user without a request`(vendor: VendorUnderTest) async throws {
        try await Stage.play([]) { stage in
            let facts = try stage.provider(of: vendor).examine(vendor.credential, configured: nil)

            #expect(facts.subject == (vendor.isNamed ? .user(vendor.identity) : .unnamed))
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test(arguments: VendorUnderTest.all)
    func `an exchange grants a session whose life counts from the start of the request`(
        vendor: VendorUnderTest
    ) async throws {
        try await Stage.play([vendor.granted], requestTakes: .seconds(9)) { stage in
            let grant = try await stage.provider(of: vendor).exchange(vendor.credential, expecting: vendor.identity)

            #expect(grant.identity == vendor.identity)
            #expect(grant.token?.secret?.text == "access-1")
            #expect(grant.token?.issuedAt == ManualClock.noon)
            #expect(grant.token?.expiresAt == ManualClock.noon + .seconds(3_600))
            #expect(grant.refreshToken?.text == vendor.refreshToken)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: VendorUnderTest.all)
    func `a renewal returns a new access token, and a new refresh token if the provider rotates`(
        vendor: VendorUnderTest
    ) async throws {
        try await Stage.play([vendor.rotated, vendor.notRotated], requestTakes: .seconds(9)) { stage in
            let provider = try stage.provider(of: vendor)
            let rotated = try await provider.renew(vendor.identity, with: vendor.secrets, using: vendor.answer)
            let notRotated = try await provider.renew(vendor.identity, with: vendor.secrets, using: vendor.answer)

            #expect(rotated.identity == vendor.identity)
            #expect(rotated.token?.secret?.text == "access-1")
            #expect(rotated.token?.issuedAt == ManualClock.noon)
            #expect(rotated.token?.expiresAt == ManualClock.noon + .seconds(3_600))
            #expect(rotated.refreshToken?.text == vendor.refreshToken)
            #expect(notRotated.token?.issuedAt == ManualClock.noon + .seconds(9))
            #expect(notRotated.refreshToken == nil)
            #expect(stage.server.requests.count == 2)
        }
    }

    @Test(arguments: VendorUnderTest.all.filter { $0.terminated != nil })
    func `a verdict of the provider terminates the session`(vendor: VendorUnderTest) async throws {
        try await Stage.play([try #require(vendor.terminated)]) { stage in
            guard case .terminated(let code, let message) = try await stage.renewalFailure(vendor) else {
                Issue.record("Expected a termination")
                return
            }
            #expect(code == vendor.terminationCode)
            #expect(!message.isEmpty)
        }
    }

    @Test(arguments: VendorUnderTest.all)
    func `an explicit refusal of the provider refuses the credential`(vendor: VendorUnderTest) async throws {
        try await Stage.play([vendor.refused]) { stage in
            guard case .refused = try await stage.exchangeFailure(vendor) else {
                Issue.record("Expected a refusal")
                return
            }
        }
    }

    @Test(arguments: VendorUnderTest.all, ServerFailure.all)
    func `any other failure is transient, is not retried, and is ambiguous if the server may have acted`(
        vendor: VendorUnderTest,
        trouble: ServerFailure
    ) async throws {
        try await Stage.play(trouble) { stage in
            let why = try #require(try await stage.renewalFailure(vendor)?.unavailability)
            if stage.server.requests.isEmpty { throw Stage.NeverArrived() }

            #expect(why.ambiguous == trouble.isAmbiguous)
            #expect(why.retryAfter == trouble.retryAfter)
            #expect(why.message.contains(stage.server.place))
            #expect(!why.message.contains("secret"))
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: VendorUnderTest.all, ServerFailure.all)
    func `a server failure during an exchange is transient`(vendor: VendorUnderTest, trouble: ServerFailure)
        async throws
    {
        try await Stage.play(trouble) { stage in
            let why = try #require(try await stage.exchangeFailure(vendor)?.unavailability)
            if stage.server.requests.isEmpty { throw Stage.NeverArrived() }

            #expect(why.retryAfter == trouble.retryAfter)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: VendorUnderTest.all, [200, 202, 204, 400, 401, 403, 404, 409, 410])
    func `a revocation is complete after a success, and after no other status alone`(
        vendor: VendorUnderTest,
        status: Int
    ) async throws {
        // A 204 answer has no body, so the server must close the connection.
        let gone = ScriptedServer.Step.raw("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
        try await Stage.play([status == 204 ? gone : .answer(status, [], "")]) { stage in
            let failure = try await stage.revocationFailure(vendor)

            #expect((failure == nil) == (!vendor.revokes || status < 300))
            #expect(stage.server.requests.count == (vendor.revokes ? 1 : 0))
        }
    }

    @Test(
        arguments: VendorUnderTest.all.filter(\.revokes),
        ["<html>Sign in to the network</html>", "{}", #"{"code":401}"#]
    )
    func `a gateway's error does not complete a revocation`(
        vendor: VendorUnderTest,
        body: String
    ) async throws {
        try await Stage.play([.answer(403, [("content-type", "text/html")], body)]) { stage in
            let failure = try await stage.revocationFailure(vendor)

            #expect(failure != nil)
        }
    }

    @Test(arguments: VendorUnderTest.all.filter(\.revokes))
    func `a revocation is complete if the provider no longer has the session`(vendor: VendorUnderTest) async throws {
        try await Stage.play([try #require(vendor.alreadyRevoked)]) { stage in
            let failure = try await stage.revocationFailure(vendor)

            #expect(failure == nil)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(
        arguments: VendorUnderTest.all.filter(\.revokes),
        [
            (.answer(302, [("location", "/")], ""), nil), (.answer(408, [], ""), nil),
            (.answer(429, [("retry-after", "7")], ""), .seconds(7)), (.answer(500, [], ""), nil),
            (.answer(503, [("retry-after", "9")], "<html>"), .seconds(9)), (.closeConnection, nil),
        ] as [(ScriptedServer.Step, Duration?)]
    )
    func `a failed revocation is reported and not retried by the provider`(
        vendor: VendorUnderTest,
        trouble: (step: ScriptedServer.Step, retryAfter: Duration?)
    ) async throws {
        try await Stage.play([trouble.step]) { stage in
            let why = try #require(try await stage.revocationFailure(vendor))

            #expect(why.retryAfter == trouble.retryAfter)
            #expect(why.message.contains(stage.server.place))
            #expect(!why.message.contains("secret"))
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: VendorUnderTest.all)
    func `a success with an unusual content type is a success`(vendor: VendorUnderTest) async throws {
        guard case .answer(let status, _, let body) = vendor.rotated else { return }
        try await Stage.play([.answer(status, [("content-type", "text/plain")], body)]) { stage in
            let failure = try await stage.renewalFailure(vendor)

            #expect(failure == nil)
        }
    }

    @Test(arguments: VendorUnderTest.all)
    func `a refused connection is not ambiguous`(vendor: VendorUnderTest) async throws {
        try await Stage.play([]) { stage in
            try await stage.server.refuse()
            let why = try #require(try await stage.renewalFailure(vendor)?.unavailability)

            #expect(why == Unavailability("Connection refused by \(stage.server.place): is it running?"))
        }
    }

    @Test(.enabled(if: TestAuthority.isAvailable, "openssl is not installed"), arguments: VendorUnderTest.all)
    func `an untrusted certificate is reported at once, and nothing is sent`(
        vendor: VendorUnderTest
    ) async throws {
        let tls = try TestAuthority().certificate(for: "IP:127.0.0.1")
        try await Stage.play([vendor.rotated], tls: tls) { stage in
            let why = try #require(try await stage.renewalFailure(vendor)?.unavailability)

            #expect(why.message.hasPrefix("The certificate of \(stage.server.place) is not trusted: add its CA"))
            #expect(!why.ambiguous)
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test(.enabled(if: TestAuthority.isAvailable, "openssl is not installed"), arguments: VendorUnderTest.all)
    func `a private CA is trusted if it is configured`(vendor: VendorUnderTest) async throws {
        let authority = try TestAuthority()
        let tls = try authority.certificate(for: "IP:127.0.0.1")
        try await Stage.play([vendor.rotated], tls: tls, network: NetworkSettingsSource(caFile: authority.file)) {
            stage in
            let failure = try await stage.renewalFailure(vendor)

            #expect(failure == nil)
        }
    }
}
