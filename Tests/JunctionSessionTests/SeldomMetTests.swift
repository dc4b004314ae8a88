import Testing

@testable import JunctionSession

/// What neither chance nor the stories of the other suites come to.
struct SeldomMetTests {

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
        bench.endWrites()
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
        bench.endWrites()
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

    @Test(arguments: [
        (SessionState.established, true), (.tokenExpired, true), (.terminated, false), (.notLoggedIn, false),
    ])
    func `a record that cannot be read is compared by what its header says`(state: SessionState, isSignedIn: Bool) {
        let bench = Bench.locked(in: state, userId: "Alice")
        #expect(
            bench.machine.reconciliation(withUserId: "alice") == (isSignedIn ? ReconcileAction.none : .signIn)
        )
        #expect(bench.machine.reconciliation(withUserId: nil) == (isSignedIn ? .signOut : ReconcileAction.none))
    }

    // MARK: What the mutation tester missed

    @Test func `two bindings and a rotation are two writes, and each caller hears once`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.holdsWrites = true
        let first = bench.identify("ext-1")
        bench.answer(first, .success(.signInToken("alice")))
        let second = bench.identify("ext-2")
        bench.answer(second, .success(.signInToken("alice")))
        bench.grantRenewal()
        #expect(bench.heldWrites.count == 1)
        bench.endWrite()
        #expect(bench.reply(to: first) == .identified(.unchanged))
        #expect(bench.reply(to: second) == nil)
        bench.endWrite()
        #expect(bench.reply(to: second) == .identified(.unchanged))
        #expect(bench.heldWrites.isEmpty)
        #expect(bench.facts.externalUserId == "ext-2")
        #expect(bench.facts.accessToken?.generation == 2)
    }

    @Test func `who asks while a switch is being written waits for it, whatever is left of the budget`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        bench.identify(switchingTo: "bob")
        bench.machine.budget = CallBudget(callsPerMinute: 0)
        let renew = bench.renew()
        #expect(bench.reply(to: renew) == nil)
        bench.endWrite()
        #expect(bench.reply(to: renew) == .done)
    }

    /// Alice's sign-out and then bob's are to be told; alice's life is the shorter one when she signed out last.
    private func twoToTell(first life: Duration) -> Bench {
        var bench = Bench.signedIn("alice", life: life)
        bench.signOut()
        bench.endRevocation(Unavailability("Busy", retryAfter: .seconds(3_600)))
        bench.life = .seconds(86_400)
        bench.signIn(.signInToken("bob"))
        bench.grantExchange(of: "bob")
        bench.signOut()
        return bench
    }

}
