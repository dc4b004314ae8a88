import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// What the first whole run of the mutation tester showed that no test minded.
struct SurvivorTests {

    // MARK: Rounds

    // MARK: The record

    @Test func `what was read from the disk is on the disk`() {
        var bench = Bench.signedIn()
        let restarted = bench.restarted()
        #expect(restarted.facts.storage.durable)
        #expect(restarted.written.isEmpty)
        bench.signOut()
        #expect(bench.restarted().facts.storage.durable)
    }

    // MARK: Renewing

    // MARK: A rejected token

    // MARK: Signing in

    @Test func `a session of somebody else than was asked for is given back`() {
        var bench = Bench()
        let request = bench.signIn(.signInToken("alice"))
        bench.grantExchange(of: "bob")
        #expect(bench.refusal(of: request) == .alreadySignedIn)
        #expect(bench.waitingRevocations.map(\.userId) == ["bob"])
        #expect(bench.state == .notLoggedIn)
    }

    @Test func `a refusal of the provider is reported, after a handler's answer too`() {
        var bench = Bench(mode: .handler)
        bench.signIn(.signInToken("alice"))
        bench.failExchange(.refused("It is used up"))
        #expect(bench.reports == [.exchangeEnded(.refused)])
        bench.register(1)
        bench.signIn(.registration(of: "alice"))
        bench.answerQuestion(.credential)
        bench.failExchange(.refused("It is used up"))
        #expect(bench.reports == [.exchangeEnded(.refused), .exchangeEnded(.refused)])
    }

    @Test func `the external id outlives a new credential for the same user`() {
        var bench = Bench()
        let request = bench.identify("ext-alice")
        bench.answer(request, .success(.signInToken("alice")))
        bench.grantExchange()
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        #expect(bench.facts.externalUserId == "ext-alice")
        #expect(!bench.facts.flags.contains(.pendingReauthentication))
    }

    @Test func `a link code for the user who is there changes nobody`() {
        var bench = Bench.signedIn()
        let request = bench.identify("ext-alice")
        bench.answer(request, .success(.linkCode))
        bench.grantExchange()
        #expect(bench.reply(to: request) == .identified(.unchanged))
    }

    @Test func `who is signed in is named to whoever may not be`() {
        var bench = Bench.signedIn()
        let request = bench.signIn(.signInToken("bob"))
        guard case .refused(let refusal)? = bench.reply(to: request) else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.userId == "alice")
        #expect(refusal.message.contains("alice"))
    }

    @Test func `identifying nobody says whether there was somebody, or about to be`() {
        var idle = Bench()
        #expect(idle.reply { $0.identify(nil) } == .identified(.unchanged))
        var exchanging = Bench()
        exchanging.signIn(.signInToken("alice"))
        #expect(exchanging.reply { $0.identify(nil) } == .identified(.signedOut))
        var asking = Bench()
        asking.identify("ext-alice")
        #expect(asking.reply { $0.identify(nil) } == .identified(.signedOut))
    }

    // MARK: Signing out

    // MARK: What is shown

    @Test func `a record that cannot be read shows what its header says`() {
        func facts(_ state: SessionState) -> Snapshot.Facts { Bench.locked(in: state).facts }
        #expect(facts(.established).flags == [.configured, .signedIn, .useSignInToken])
        #expect(facts(.established).scheme == .signInToken)
        #expect(facts(.established).userId == "alice")
        #expect(facts(.terminated).flags == [])
        #expect(facts(.terminated).scheme == nil)
    }

    // MARK: Time

    // MARK: The owner

    private func call(_ path: String, in bench: OwnerBench) -> Box<Result<ApiAnswer, Refusal>> {
        let answers = Box<Result<ApiAnswer, Refusal>>()
        bench.on { $0.call(ApiRequest(method: "GET", path: path), by: 1_000) { answers.put($0) } }
        return answers
    }

    @Test func `what was read from the disk is durable, unless it is said not to be`() {
        let bench = OwnerBench().start().signIn()
        let restoration = bench.store.restore()
        #expect(OwnerBench().start(restoration).snapshot().facts.storage.durable)
    }

    // MARK: What the second run showed

    @Test func `whoever is asked about a session that a verdict has ended is not waited for`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.renew()
        let generation = bench.machine.servedGeneration
        bench.judge(Verdict(code: "400312", message: "Banned"), generation: generation)
        #expect(bench.state == .terminated && bench.machine.nextAlarm(now: bench.now) == nil)
    }

}
