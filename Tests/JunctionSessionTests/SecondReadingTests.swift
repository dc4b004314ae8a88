import JunctionSecret
import JunctionTesting
import Synchronization
import Testing

@testable import JunctionSession

/// The sequences that a second reading of the heart found, each by name.
struct SecondReadingTests {

    /// The provider answers 502 until the replays are used up, and then nobody can help.
    private func postponedAfterReplays() -> Bench {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(3_000))
        bench.answerQuestion(.renew)
        for _ in 0..<7 {
            bench.failRenewal(.lost)
            if bench.machine.renewal.isReplaying { bench.passToNextAttempt() }
        }
        bench.passToNextAttempt()
        bench.answerQuestion(.unable)
        return bench
    }

    // MARK: Owner

    @Test func `a second answer to identify changes nothing`() {
        let bench = OwnerBench().start()
        let requests = Box<RequestID>()
        bench.provider.hold()
        bench.on {
            $0.identify(externalUserId: "ext-alice", by: 1_000, ask: { request, _ in requests.put(request) }) { _ in }
        }
        // Another sign-in takes the turn meanwhile, and will fail.
        bench.provider.failExchanges(.refused("no"))
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "carol")), by: 1_000) { _ in } }
        bench.on { $0.identifyAnswered(requests.all[0], with: .success(.signInToken(SharedSecret(text: "alice")))) }
        bench.on { $0.identifyAnswered(requests.all[0], with: .success(.signInToken(SharedSecret(text: "bob")))) }
        bench.provider.release()
        bench.executor.runUntilIdle()
        #expect(bench.snapshot().facts.userId == "alice")
        #expect(bench.snapshot().facts.externalUserId == "ext-alice")
    }

}
extension SecondReadingTests {

    @Test func `a binding that was told was written, also when a switch comes right after it`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        bench.renew()
        let bound = bench.identify("ext-alice")
        bench.answer(bound, .success(.signInToken("alice")))
        bench.identify(switchingTo: "bob")
        bench.endWrites()
        let wasBound = bench.written.contains {
            if case .session(let s) = $0.content { s.externalUserId == "ext-alice" } else { false }
        }
        #expect(bench.reply(to: bound) != .identified(.unchanged) || wasBound)
    }
}
