import JunctionTesting
import Testing

@testable import JunctionSession

/// Verdicts on the user in the answer to an API request.
struct ApiVerdictTests {
    private let banned = Verdict(code: "400312", message: "The user is banned")

    // MARK: The machine

    @Test(arguments: RenewalMode.allModes)
    func `a verdict ends the session at once, and no token is served after it`(mode: RenewalMode) {
        var bench = Bench.signedIn(mode: mode)

        bench.judge(banned)

        #expect(bench.state == .terminated)
        #expect(bench.facts.termination?.code == "400312")
        #expect(bench.written.last?.content == .terminated(bench.facts.termination!, .user("alice")))
        #expect(bench.machine.secretsInUse.isEmpty)
        #expect(bench.refusal { $0.token() } == .sessionTerminated)
    }

    @Test func `a verdict answers the callers of the renewal in flight, whose grant is revoked`() {
        var bench = Bench.signedIn()
        let request = bench.renew()
        let late = bench.renewals[0]

        bench.judge(banned)
        bench.grantLate(late)

        #expect(bench.refusal(of: request) == .sessionTerminated)
        #expect(bench.state == .terminated)
        #expect(bench.revoked == [.user("alice")])
        bench.endRevocation()
        #expect(bench.machine.secretsInUse.isEmpty)
    }

    @Test func `a verdict withdraws the question to a handler`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        let request = bench.renew()
        let open = bench.questions[0].question.attempt

        bench.judge(banned)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
        bench.say(.credential, from: 1, to: open)

        #expect(bench.refusal(of: request) == .sessionTerminated)
        #expect(bench.renewals.isEmpty && bench.state == .terminated)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
    }

    @Test func `a verdict waits for the write of an intent, and no request leaves after it`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        bench.renew()

        bench.judge(banned)
        bench.endWrites()

        #expect(bench.renewals.isEmpty)
        #expect(bench.state == .terminated)
    }

    @Test func `a verdict ends the session that has been renewed since the call`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.grantRenewal()

        bench.judge(banned, generation: 1)

        #expect(bench.state == .terminated)
    }

    @Test func `a verdict ends the session after the rotation that is being written`() {
        var bench = Bench.signedIn()
        let request = bench.renew()
        bench.holdsWrites = true
        bench.grantRenewal()

        bench.judge(banned)
        #expect(bench.state == .established)
        bench.endWrites()

        #expect(bench.reply(to: request) == .done)
        #expect(bench.state == .terminated)
        #expect(bench.written.last?.generation == 3)
        #expect(bench.machine.secretsInUse.isEmpty)
    }

    @Test func `a sign-out that overtakes the rotation ends the session, and the verdict is forgotten`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.holdsWrites = true
        bench.grantRenewal()
        bench.judge(banned)
        bench.signOut()
        bench.endWrites()
        #expect(bench.state == .notLoggedIn)
        bench.holdsWrites = false
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        bench.renew()
        bench.grantRenewal()
        #expect(bench.state == .established)
    }

    @Test func `a verdict has no effect on a user who signed in since, nor without a session`() {
        var bench = Bench.signedIn("alice")
        bench.signOut()
        bench.judge(banned, generation: 1)
        #expect(bench.state == .notLoggedIn)

        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        bench.judge(banned, generation: 1)
        #expect(bench.state == .established)
    }

    @Test func `a verdict does not replace a sign-out or a switch that is being written`() {
        for begin in [{ (bench: inout Bench) in _ = bench.signOut() }, { $0.identify(switchingTo: "bob") }] {
            var bench = Bench.signedIn("alice")
            bench.holdsWrites = true
            begin(&bench)

            bench.judge(banned)
            bench.endWrites()

            #expect(bench.facts.termination == nil)
        }
    }

    @Test func `a verdict on an API key's user does not end the session of the user who replaces it`() {
        var bench = Bench.withApiKey("alice")
        bench.holdsWrites = true
        bench.identify(switchingTo: "bob")
        #expect(bench.heldWrites.count == 1)
        // An API call for alice leaves while bob's session is being written.
        let generation = bench.machine.servedGeneration
        #expect(bench.machine.identity?.userId == "alice")
        bench.holdsWrites = false
        bench.endWrite()
        #expect(bench.facts.userId == "bob")
        let verdict = Verdict(code: "400312", message: "alice is banned")
        bench.judge(verdict, generation: generation)
        #expect(bench.state == .established)
    }

    // MARK: The owner

    private let ban = ApiAnswer(status: 403, headers: [], body: Array("banned".utf8))

    @Test func `a ban in an API answer ends the session, and the caller gets the answer unchanged`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.answerCalls(ban)

        let answer = bench.call().first

        #expect(answer?.status == ban.status && answer?.body == ban.body)
        #expect(bench.snapshot().facts.state == .terminated)
        #expect(bench.provider.renewalCalls == 0)
    }
}

extension RenewalMode {
    fileprivate static let allModes: [RenewalMode] = [.automatic, .handler]
}
