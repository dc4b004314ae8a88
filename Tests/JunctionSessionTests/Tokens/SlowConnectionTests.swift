import Testing

@testable import JunctionSession

/// A name server or a connection may delay a renewal. The provider's grace begins when the request leaves.
struct SlowConnectionTests {
    /// A renewal that left after `wait`. Its answer was lost after ten seconds, and the refresh retry was refused.
    private func afterRefusedRefreshRetry(leavingAfter wait: Duration, told: Bool) throws -> (
        bench: Bench, left: Uptime
    ) {
        var bench = Bench.signedIn()
        bench.pass(.seconds(3_590))
        while bench.renewals.isEmpty {
            if bench.heldWrites.isEmpty { bench.passToAlarm() } else { bench.endWrite() }
        }
        bench.pass(wait)
        let left = bench.now.uptime
        bench.pass(.seconds(10))
        let lost = Unavailability("No answer", ambiguous: true, sentAgo: told ? .seconds(10) : nil)
        bench.failRenewal(.unavailable(lost))
        try makeNextTry(&bench)
        bench.failRenewal(.unavailable(Unavailability("Busy")))
        return (bench, left)
    }

    private func makeNextTry(_ bench: inout Bench) throws {
        for _ in 0..<10 where bench.renewals.isEmpty {
            if bench.heldWrites.isEmpty { bench.passToAlarm() } else { bench.endWrite() }
        }
        try #require(!bench.renewals.isEmpty)
    }

    @Test(arguments: [0, 6, 10, 15, 20])
    func `the late refresh retry arrives inside the grace after any delay of the connection`(wait: Int) throws {
        var (bench, left) = try afterRefusedRefreshRetry(leavingAfter: .seconds(wait), told: true)
        try makeNextTry(&bench)

        #expect(bench.now.uptime - left <= .seconds(25))
        #expect(bench.now.uptime - left >= .seconds(16))
    }

    @Test(arguments: [0, 6, 20])
    func `a refresh retry has a send deadline inside the grace, and other requests have none`(wait: Int) throws {
        var (bench, left) = try afterRefusedRefreshRetry(leavingAfter: .seconds(wait), told: true)
        #expect(bench.machine.renewal.sendDeadline == nil)
        try makeNextTry(&bench)

        #expect(bench.machine.renewal.sendDeadline == left + .milliseconds(24_500))
        bench.failRenewal(.unavailable(Unavailability("No name within 2 s")))
        #expect(bench.machine.renewal.sendDeadline == nil)
        // The grace is over, and the next attempt is an ordinary retry.
        try makeNextTry(&bench)
        #expect(bench.machine.renewal.sendDeadline == nil)
    }

    @Test func `the grace of a request with an unknown send time counts from its begin`() throws {
        let (bench, left) = try afterRefusedRefreshRetry(leavingAfter: .seconds(20), told: false)
        let alarm = try #require(bench.machine.nextAlarm(now: bench.now))

        #expect(bench.machine.renewal.isRetryingRefresh == false)
        #expect(alarm >= bench.now.wall)
        #expect(bench.now.uptime > left)
    }
}
