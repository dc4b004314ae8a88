import Testing

@testable import JunctionSession

/// A network that returns shortens the pause of a waiting retry: the retry leaves soon, at a random time, and at most
/// once in ten seconds.
struct NetworkReturnTests {
    /// The begin of the first attempt of `backingOff`, after the end of its token.
    private let began = Bench().now.uptime + .seconds(4_000)

    /// A session whose renewal has failed for so long that the next attempt is far away.
    private func backingOff(
        for length: Duration = .zero,
        waiting pause: Duration = .seconds(120),
        retryAfter: Duration? = nil
    ) throws -> Bench {
        var bench = Bench.signedIn()
        bench.pass(.seconds(4_000))
        for _ in 0..<500 {
            try fail(&bench, retryAfter: retryAfter)
            if try wait(of: bench) > pause, bench.now.uptime - began >= length { return bench }
        }
        Issue.record("the backoff does not grow")
        return bench
    }

    /// Fails the next attempt.
    private func fail(_ bench: inout Bench, retryAfter: Duration? = nil) throws {
        send(&bench)
        bench.failRenewal(.unavailable(Unavailability("No route", retryAfter: retryAfter)))
        bench.endWrites()
    }

    private func send(_ bench: inout Bench) {
        while bench.renewals.isEmpty {
            if bench.heldWrites.isEmpty { bench.passToAlarm() } else { bench.endWrite() }
        }
    }

    private func wait(of bench: Bench) throws -> Duration {
        try #require(bench.machine.nextAlarm(now: bench.now)) - bench.now.wall
    }

    /// The shortest and the longest wait after the network's return, over a hundred random seeds.
    private func waitsAfterReturn(of bench: Bench) throws -> (least: Duration, most: Duration) {
        let waits = try (0..<100 as Range<UInt64>).map { seed in
            var other = bench
            other.machine.random = Randomness(seed: seed)
            other.networkReturns()
            return try wait(of: other)
        }
        let least = try #require(waits.min())
        let most = try #require(waits.max())
        return (least, most)
    }

    @Test func `a poll leaves soon, but no closer to the last one than the provider's interval`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(interval: .seconds(30))
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("No route")))
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("No route")))
        let before = bench.now.uptime
        bench.networkReturns()
        bench.passToAlarm()
        #expect(bench.polls.count == 1)
        #expect(bench.now.uptime - before >= .seconds(30))
    }

    @Test func `a revocation leaves soon`() {
        var bench = Bench.signedIn(life: .seconds(864_000))
        bench.signOut()
        for _ in 0..<12 {
            bench.endRevocation(Unavailability("No route"))
            while bench.telling == nil { bench.passToAlarm() }
        }
        bench.endRevocation(Unavailability("No route"))
        bench.networkReturns()
        let before = bench.now.uptime
        bench.passToAlarm()
        #expect(bench.telling != nil)
        #expect(bench.now.uptime - before <= .seconds(310))
    }

    @Test func `a resume that follows an attempt too closely still shortens the pause`() throws {
        var bench = try backingOff()
        bench.pass(.seconds(4))
        bench.stepWall(.seconds(1))
        #expect(bench.renewals.isEmpty && bench.heldWrites.isEmpty)
        // Ten seconds after the last attempt, and not after the minutes of the backoff.
        #expect(try wait(of: bench) > .seconds(4))
        #expect(try wait(of: bench) <= .seconds(6))
    }

    @Test func `a short outage ends within twenty seconds`() throws {
        let bench = try backingOff(waiting: .seconds(25))
        try #require(bench.now.uptime - began < .seconds(100))

        // An attempt has just failed: the wait is ten seconds and the spread.
        let waits = try waitsAfterReturn(of: bench)
        #expect(waits.least >= .seconds(10))
        #expect(waits.most <= .seconds(20))
    }

    @Test func `after a longer outage the retries of a region are spread over a tenth of it`() throws {
        let bench = try backingOff(for: .seconds(1_200), waiting: .seconds(250))
        let spread = (bench.now.uptime - began) / 10
        try #require(spread < .seconds(240))

        let waits = try waitsAfterReturn(of: bench)
        #expect(waits.least >= .seconds(10))
        #expect(waits.least < .seconds(10) + spread / 10)
        #expect(waits.most > .seconds(10) + spread * 9 / 10)
        #expect(waits.most <= .seconds(10) + spread)
    }

    @Test func `after hours of outage the retry leaves within five minutes`() throws {
        let bench = try backingOff(for: .seconds(10_000), waiting: .seconds(500))

        let waits = try waitsAfterReturn(of: bench)
        #expect(waits.least >= .seconds(10))
        #expect(waits.most > .seconds(280))
        #expect(waits.most <= .seconds(310))
    }

    @Test func `failures before a grant do not count`() throws {
        var bench = try backingOff(for: .seconds(10_000))
        send(&bench)
        bench.grantRenewal()
        bench.endWrites()
        repeat { try fail(&bench) } while try wait(of: bench) <= .seconds(25)

        #expect(try waitsAfterReturn(of: bench).most <= .seconds(20))
    }

    @Test func `several network changes have the effect of one`() throws {
        var bench = try backingOff()
        bench.networkReturns()
        let first = try wait(of: bench)
        for _ in 0..<1_000 { bench.networkReturns() }

        #expect(try wait(of: bench) == first)
    }

    @Test func `more than ten seconds after the last attempt, the wait is only the random spread`() throws {
        var bench = try backingOff(waiting: .seconds(25))
        bench.pass(.seconds(10))
        bench.networkReturns()

        #expect((.zero...(.seconds(10))).contains(try wait(of: bench)))
    }

    @Test func `a network that returns does not shorten a Retry-After`() throws {
        var bench = try backingOff(retryAfter: .seconds(1_000))
        let before = try wait(of: bench)
        bench.networkReturns()

        #expect(try wait(of: bench) == before)
    }

    @Test func `a network that returns does not shorten a postponement`() throws {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(4_000))
        bench.answerQuestion(.unable)
        bench.endWrites()
        let before = try wait(of: bench)
        #expect(before >= .seconds(600))
        bench.networkReturns()

        #expect(try wait(of: bench) == before)
    }

    @Test func `a network that returns changes nothing when no retry is due`() {
        var bench = Bench.signedIn()
        let before = bench.machine.nextAlarm(now: bench.now)
        bench.networkReturns()

        #expect(bench.machine.nextAlarm(now: bench.now) == before)
        #expect(bench.renewals.isEmpty)
    }
}
