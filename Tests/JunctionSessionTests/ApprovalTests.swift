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

    // MARK: Restarts

}
