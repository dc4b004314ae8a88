import Testing

@testable import JunctionSession

struct IdentityTests {
    @Test func `at Junction, two spellings of an id are one user`() {
        let capital = Identity(userId: "A32851D9", teamId: "T", environment: "Sandbox", region: "EU")
        let small = Identity(userId: "a32851d9", teamId: "t", environment: "sandbox", region: "eu")

        #expect(capital == small)
        #expect(Set([capital, small]).count == 1)
        #expect(capital.isSameUser(as: small))
        #expect(capital.userId == "a32851d9")
        #expect(capital.isCalled("A32851d9") && !capital.isCalled("a32851d8"))
    }

    @Test(arguments: [("Anna", "anna"), ("\u{E9}va", "e\u{301}va")])
    func `at every other vendor, two spellings are two users`(one: String, other: String) {
        let identity = Identity(userId: one)

        #expect(identity.userId == one)
        #expect(identity.isSameUser(as: Identity(userId: one)) && identity.isCalled(one))
        #expect(!identity.isSameUser(as: Identity(userId: other)) && !identity.isCalled(other))
        #expect(identity != Identity(userId: other) && identity == Identity(userId: one))
    }

    @Test(arguments: [
        Identity(userId: "bert", teamId: "t", environment: "sandbox", region: "eu"),
        Identity(userId: "anna", teamId: "u", environment: "sandbox", region: "eu"),
        Identity(userId: "anna", teamId: "t", environment: "production", region: "eu"),
        Identity(userId: "anna", teamId: "t", environment: "sandbox", region: "us"),
    ])
    func `a difference in any other member makes another identity`(other: Identity) {
        #expect(other != Identity(userId: "anna", teamId: "t", environment: "sandbox", region: "eu"))
    }

    // MARK: Sessions

    /// A user of a vendor whose user ids are the app's own.
    private func signedIn(_ user: String) -> Bench {
        var bench = Bench()
        bench.signIn(.login(user))
        let granted = Granted(
            identity: Identity(userId: user),
            scheme: .userLogin,
            life: Life(start: bench.now.uptime, end: bench.now.uptime + .seconds(3_600)),
            secrets: bench.secret()
        )
        bench.perform(bench.machine.exchangeSucceeded(bench.exchanges[0], granted, now: bench.now))
        return bench
    }

    @Test func `a user with another spelling is refused beside a session, and not served from it`() {
        var bench = signedIn("Anna")

        let other = bench.signIn(.login("anna"))
        let same = bench.signIn(.login("Anna"))

        #expect(bench.refusal(of: other) == .alreadySignedIn)
        #expect(bench.reply(to: same) == .done)
        #expect(bench.exchanges.isEmpty)
        #expect(bench.facts.userId == "Anna")
        #expect(bench.machine.reconciliation(withUserId: "anna") == .switch)
        #expect(bench.machine.reconciliation(withUserId: "Anna") == ReconcileAction.none)
    }

    @Test func `a grant for another spelling than the requested one belongs to another user`() {
        var bench = Bench()
        let request = bench.signIn(.login("Anna"))
        let granted = Granted(
            identity: Identity(userId: "anna"),
            scheme: .userLogin,
            life: nil,
            secrets: bench.secret()
        )

        bench.perform(bench.machine.exchangeSucceeded(bench.exchanges[0], granted, now: bench.now))

        #expect(bench.refusal(of: request) == .alreadySignedIn)
        #expect(bench.state == .notLoggedIn)
    }
}

extension CredentialFacts {
    fileprivate static func login(_ user: String) -> CredentialFacts {
        CredentialFacts(scheme: .userLogin, subject: .user(Identity(userId: user)))
    }
}
