import Testing

@testable import JunctionSession

/// What neither chance nor the stories of the other suites come to.
struct SeldomMetTests {
    @Test func `in automatic mode a refused answer is a delay like any other`() {
        var bench = Bench.signedIn()
        let request = bench.renew()
        bench.failRenewal(.answerRefused("There was none"))
        #expect(bench.refusal(of: request) == .providerUnavailable)
        #expect(bench.facts.renewal.phase == .backingOff)
        #expect(bench.reports.contains(.renewalEnded(.refused)))
    }

    @Test func `a grant that waits for the ledger is told of when a sign-out comes`() {
        var bench = Bench.signedIn()
        let switching = bench.identify("ext-bob")
        bench.answer(switching, .success(.signInToken("bob")))
        bench.renew()
        bench.holdsWrites = true
        bench.grantRenewal()
        bench.grantExchange(of: "bob")
        #expect(bench.heldWrites.count == 1)

        let signOut = bench.signOut()

        #expect(bench.refusal(of: switching) == .notSignedIn)
        while !bench.heldWrites.isEmpty { bench.endWrite() }
        #expect(bench.reply(to: signOut) == .done)
        #expect(bench.waitingRevocations.map(\.userId).sorted() == ["alice", "alice", "bob"])
        #expect(bench.state == .notLoggedIn)
    }

    @Test func `a grant that waits for the ledger becomes the session when the rotation before it is written`() {
        var bench = Bench.signedIn()
        let switching = bench.identify("ext-bob")
        bench.answer(switching, .success(.signInToken("bob")))
        let renew = bench.renew()
        bench.holdsWrites = true
        bench.grantRenewal()
        bench.grantExchange(of: "bob")
        while !bench.heldWrites.isEmpty { bench.endWrite() }
        #expect(bench.reply(to: renew) == .done)
        #expect(bench.reply(to: switching) == .identified(.switched))
        #expect(bench.facts.userId == "bob")
        #expect(bench.written.map(\.generation).suffix(2) == [2, 3])
    }

    @Test(arguments: [true, false])
    func `identify with a credential that names nobody is refused`(isSignedIn: Bool) {
        var bench = isSignedIn ? Bench.signedIn() : Bench()
        let request = bench.identify("ext-alice")
        bench.answer(request, .success(.apiKeyAlone))
        #expect(bench.refusal(of: request) == .invalidCredential)
        #expect(bench.message(of: request)?.contains("names no user") == true)
        #expect(bench.written.isEmpty != isSignedIn)
    }

    @Test func `identify is refused while nothing can be kept, before and after the app was asked`() {
        var bench = Bench(.unreadable(.locked, canSignIn: false))
        #expect(bench.refusal { $0.identify("ext-alice") } == .storageUnavailable)
        #expect(bench.asked.isEmpty)
    }

    @Test func `a token is servable while it lives, for as long as it is good`() {
        var bench = Bench.signedIn(life: .seconds(100))
        func servable(_ validity: Duration) -> TokenFacts? {
            bench.machine.servableToken(minimumValidity: validity, now: bench.now)
        }
        let token = bench.facts.accessToken
        #expect(servable(.zero) == token)
        #expect(servable(.seconds(80)) == token)
        #expect(servable(.milliseconds(80_001)) == nil)
        bench.now = Moment(wall: bench.now.wall + .seconds(60), uptime: bench.now.uptime + .seconds(60))
        #expect(servable(.seconds(40)) == token)
        #expect(servable(.milliseconds(40_001)) == nil)
        bench.now = Moment(wall: bench.now.wall + .seconds(40), uptime: bench.now.uptime + .seconds(40))
        #expect(servable(.zero) == nil)
    }

    @Test func `an API key that was configured is configured after a restart`() {
        var bench = Bench()
        bench.signIn(.apiKeyAlone)
        let restarted = Bench(.restored(bench.written.last!, SessionSecrets(), damaged: nil))
        #expect(restarted.facts.flags == [.configured])
        #expect(restarted.machine.configuredKey?.environment == "sandbox")
        #expect(restarted.machine.keyInUse != nil)
        #expect(restarted.machine.secretsInUse.count == 1)
    }

    @Test(arguments: [SessionState.established, .tokenExpired, .terminated, .notLoggedIn])
    func `a record that cannot be read is compared by what its header says`(state: SessionState) {
        let header = Restoration.Header(
            generation: 3,
            edition: 0,
            provider: "junction",
            scheme: .signInToken,
            state: state,
            userId: "Alice"
        )
        let bench = Bench(
            .unreadable(Restoration.Unreadable(status: .locked, remedy: "No key", header: header, canSignIn: true))
        )
        #expect(
            bench.machine.reconciliation(withUserId: "alice") == (state.isSignedIn ? ReconcileAction.none : .signIn)
        )
        #expect(bench.machine.reconciliation(withUserId: nil) == (state.isSignedIn ? .signOut : ReconcileAction.none))
    }

    @Test func `an answer with somebody else's session is none`() {
        var bench = Bench.signedIn("alice")
        let request = bench.renew()
        bench.grantLate(bench.renewals[0], of: "bob")
        #expect(bench.refusal(of: request) == .providerUnavailable)
        #expect(bench.facts.userId == "alice")
        #expect(bench.machine.secretsInUse == [bench.machine.servedSecrets!])
        #expect(bench.written.last?.generation == 1)
    }

    @Test func `a sign-in is refused when the budget is used up before its handler has answered`() {
        var bench = Bench(mode: .handler, callsPerMinute: 1)
        bench.register(1)
        let facts = CredentialFacts(scheme: .registration, subject: .user(.user("bob")), needsHandler: true)
        let request = bench.signIn(facts)
        bench.answerQuestion(.credential)
        bench.failExchange(.refused("It is used up"))
        #expect(bench.refusal(of: request) == .invalidCredential)

        let late = bench.signIn(facts)
        #expect(bench.refusal(of: late) == .busy)
        #expect(bench.questions.isEmpty)
    }

    @Test func `a renewal that was asked for is charged to who asked, when it leaves`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.machine.budget = CallBudget(callsPerMinute: 1)
        bench.register(1)
        bench.renew()
        #expect(bench.machine.budget.remembered == 0)
        bench.answerQuestion(.renew)
        #expect(bench.machine.budget.remembered == 1)
        bench.grantRenewal()
        #expect(bench.refusal { $0.renew() } == .busy)
    }

    @Test func `a renewal that was due is charged to nobody`() {
        var bench = Bench.signedIn()
        bench.machine.budget = CallBudget(callsPerMinute: 1)
        bench.pass(.seconds(3_000))
        #expect(bench.renewals.count == 1)
        #expect(bench.machine.budget.remembered == 0)
    }

}
