import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// Each test says what a sentence of the normative pages wants, and fails for as long as the core does otherwise.
struct RenewalPromiseTests {
    // MARK: A postponement belongs to the mode that asks handlers

    @Test func `a start in automatic mode renews although handlers were unable before it`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.register(1)
        bench.renew()
        bench.answerQuestion(.unable)
        #expect(bench.facts.renewal.phase == .postponed)

        var automatic = bench.restarted(after: .seconds(61), rebooted: true)

        #expect(automatic.renewals.count == 1)
        automatic.failRenewal(.unreachable)
        #expect(automatic.facts.renewal.phase == .backingOff)
    }

    // MARK: A living token that is too short is busy (INTERFACE, Additions)

    // MARK: A provider's demanded pause

    // MARK: Replays

    // MARK: A successor

    // MARK: Handlers

    @Test func `after unable no handler is asked for ten minutes, but by session renew itself`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(2_900))
        bench.answerQuestion(.unable)
        bench.pass(.seconds(30))
        bench.renew()
        #expect(bench.everAsked.count == 2)
        bench.answerQuestion(.renew)
        bench.failRenewal(.unreachable)
        bench.pass(.seconds(5))
        #expect(bench.everAsked.count == 2)
    }

    @Test func `a crash in a session renew does not end the ten minutes either`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(2_900))
        bench.answerQuestion(.unable)
        bench.pass(.seconds(30))
        bench.renew()
        bench.answerQuestion(.credential)
        var after = bench.restarted(after: .seconds(5), rebooted: true, mode: .handler)
        after.register(1)
        #expect(after.everAsked.isEmpty)
    }

    // MARK: Restarts and clocks

    // MARK: Verdicts

    @Test func `a verdict on an API key's user does not end the session of who replaces it meanwhile`() {
        var bench = Bench.withApiKey("alice")
        bench.holdsWrites = true
        bench.identify(switchingTo: "bob")
        #expect(bench.heldWrites.count == 1)
        // A call of alice leaves while bob's session is being written.
        let generation = bench.machine.servedGeneration
        #expect(bench.machine.identity?.userId == "alice")
        bench.holdsWrites = false
        bench.endWrite()
        #expect(bench.facts.userId == "bob")
        let verdict = Verdict(code: "400312", message: "alice is banned")
        bench.judge(verdict, generation: generation)
        #expect(bench.state == .established)
    }

    // MARK: A demand for a new credential

    /// The token is dead, the provider has said `invalid_grant`, and a caller has asked once more.
    private func askedAgain() -> Bench {
        var bench = Bench()
        bench.life = .seconds(60)
        bench.signIn(.device)
        bench.giveCodes()
        bench.passToPoll()
        bench.grantPoll()
        bench.pass(.seconds(61))
        bench.failRenewal(.reauthenticationRequired)
        bench.pass(.seconds(3_600))
        #expect(bench.renewals.isEmpty)
        return bench
    }

}
