import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// Each test says what a sentence of the normative pages wants, and fails for as long as the core does otherwise.
struct RenewalPromiseTests {
    // MARK: A postponement belongs to the mode that asks handlers

    // MARK: A living token that is too short is busy (INTERFACE, Additions)

    // MARK: A provider's demanded pause

    // MARK: Replays

    // MARK: A successor

    // MARK: Handlers

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
