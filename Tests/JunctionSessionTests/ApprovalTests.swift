import Testing

@testable import JunctionSession

/// A sign-in that a person approves on another screen, transition by transition.
@Suite struct ApprovalTests {

    // MARK: Beside a session that needs reauthentication

    // MARK: Sign-outs, and other sign-ins

    // MARK: identify

    // MARK: What a reader who wanted it to fail has found

    @Test func `identify with a credential that names nobody takes nobody else either`() {
        var bench = Bench()
        let first = bench.identify("ext-alice")
        bench.answer(first, .success(.signInToken("alice")))
        bench.grantExchange()
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        let request = bench.identify("ext-alice")
        bench.answer(request, .success(CredentialFacts(scheme: .refreshToken, subject: .unnamed)))
        bench.grantExchange(of: "bob", scheme: .refreshToken)

        #expect(bench.refusal(of: request) == .alreadySignedIn && bench.facts.userId == "alice")
        #expect(bench.revoked == [.user("bob")])
    }

    @Test func `a sign-out is told although the access token is dead, and for longer than it would have lived`() {
        var bench = Bench.withCodes { $0.life = .seconds(300) }
        bench.passToPoll()
        bench.grantPoll()
        bench.pass(.seconds(400))
        #expect(bench.state == .tokenExpired)
        bench.signOut()
        #expect(bench.revoked == [.user("alice")])
        bench.endRevocation(Unavailability("Busy", retryAfter: .seconds(600)))
        bench.pass(.seconds(700))
        #expect(bench.telling != nil)
    }

    // MARK: Restarts

}
