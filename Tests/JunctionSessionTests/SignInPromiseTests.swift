import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// Pauses that a provider demands, and grants that wait for their user.
struct SignInPromiseTests {
    private static func polling() -> Bench {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes()
        bench.passToPoll()
        return bench
    }

    // MARK: Demanded pauses

    @Test func `the pause of a slow_down survives a restart`() {
        var before = Self.polling()
        before.failPoll(.slowDown)
        #expect(before.written.last?.approval?.interval == .seconds(10))
        let bench = before.restarted(after: .seconds(1))
        #expect(bench.polls.isEmpty, "one second after slow_down, which demands ten")
    }

    // MARK: Grants

    @Test func `what a link code brought is kept until its exchange is decided`() {
        var bench = Bench()
        bench.signIn(.linkCode)
        let kept = bench.grantPartially()
        bench.failExchange(.unavailable(Unavailability("503")))
        for _ in 0..<7 {
            bench.pass(.seconds(600))
            bench.signIn(.linkCode)
            if bench.machine.signIn.grantsInUse.contains(kept) { bench.findPartialGrant(kept) }
            bench.failExchange(.unavailable(Unavailability("503")))
        }
        #expect(bench.machine.signIn.grantsInUse == [kept])
        #expect(bench.givenBack.isEmpty, "a transient failure spends nothing")
    }

    @Test(arguments: [true, false])
    func `no promise of a restart where nothing can be written`(isLocked: Bool) {
        var bench = isLocked ? Bench.locked(in: .notLoggedIn) : Bench()
        if !isLocked { bench.writeFailure = StoreFailure("No space left on device") }
        let request = bench.signIn(.linkCode)
        bench.grantPartially()
        bench.failExchange(.unavailable(Unavailability("503")))
        guard case .refused(let refusal)? = bench.reply(to: request) else {
            Issue.record("Expected a refusal")
            return
        }
        #expect(bench.written.isEmpty)
        #expect(refusal.remedy?.contains("over a restart too") == false)
    }
}
