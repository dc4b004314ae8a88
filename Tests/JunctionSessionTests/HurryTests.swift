import JunctionSession
import Testing

/// A network that comes back hurries a retry that waits for it: soon, spread, and never twice in ten seconds.
struct HurryTests {
    /// A session whose renewal has failed so often that the next one is minutes away.
    private func backingOff(retryAfter: Duration? = nil) throws -> Bench {
        var bench = Bench.signedIn()
        bench.pass(.seconds(4_000))
        for _ in 0..<60 {
            while bench.renewals.isEmpty {
                if bench.heldWrites.isEmpty { bench.passToAlarm() } else { bench.endWrite() }
            }
            bench.failRenewal(.unavailable(Unavailability("No route", retryAfter: retryAfter)))
            while !bench.heldWrites.isEmpty { bench.endWrite() }
            let due = try #require(bench.machine.nextAlarm(now: bench.now))
            if due - bench.now.wall > .seconds(120) { return bench }
        }
        Issue.record("the backoff does not grow")
        return bench
    }

    private func wait(of bench: Bench) throws -> Duration {
        try #require(bench.machine.nextAlarm(now: bench.now)) - bench.now.wall
    }

    @Test func `a renewal that waits is made within twenty seconds`() throws {
        var bench = try backingOff()
        bench.perform(bench.machine.networkChanged(now: bench.now))

        // It has just been tried: ten seconds, and the spread.
        let wait = try wait(of: bench)
        #expect((.seconds(10)...(.seconds(20))).contains(wait))
    }

    @Test func `much news is no more than one`() throws {
        var bench = try backingOff()
        bench.perform(bench.machine.networkChanged(now: bench.now))
        let first = try wait(of: bench)
        for _ in 0..<1_000 { bench.perform(bench.machine.networkChanged(now: bench.now)) }

        #expect(try wait(of: bench) == first)
    }

    @Test func `a minute after the last attempt it is only spread`() throws {
        var bench = try backingOff()
        bench.pass(.seconds(60))
        bench.perform(bench.machine.networkChanged(now: bench.now))

        #expect((.zero...(.seconds(10))).contains(try wait(of: bench)))
    }

    @Test func `what the provider asked for is waited for`() throws {
        var bench = try backingOff(retryAfter: .seconds(1_000))
        let before = try wait(of: bench)
        bench.perform(bench.machine.networkChanged(now: bench.now))

        #expect(try wait(of: bench) == before)
    }

    @Test func `nobody is asked again sooner than ten minutes after nobody could help`() throws {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(4_000))
        bench.answerQuestion(.unable)
        while !bench.heldWrites.isEmpty { bench.endWrite() }
        let before = try wait(of: bench)
        #expect(before >= .seconds(600))
        bench.perform(bench.machine.networkChanged(now: bench.now))

        #expect(try wait(of: bench) == before)
    }

    @Test func `a machine that waits for nothing does nothing`() {
        var bench = Bench.signedIn()
        let before = bench.machine.nextAlarm(now: bench.now)
        bench.perform(bench.machine.networkChanged(now: bench.now))

        #expect(bench.machine.nextAlarm(now: bench.now) == before)
        #expect(bench.renewals.isEmpty)
    }
}
