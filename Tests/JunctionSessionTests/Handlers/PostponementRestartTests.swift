import Testing

@testable import JunctionSession

/// A postponement across a restart of the daemon.
struct PostponementRestartTests {
    /// The provider answers 502 until the refresh retries are used up, and then no handler can help.
    private func postponedAfterRefreshRetries() -> Bench {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(3_000))
        bench.answerQuestion(.renew)
        for _ in 0..<7 {
            bench.failRenewal(.lost)
            if bench.machine.renewal.isRetryingRefresh { bench.passToNextAttempt() }
        }
        bench.passToNextAttempt()
        bench.answerQuestion(.unable)
        return bench
    }

    @Test(arguments: [0, 3_600] as [Int64])
    func `a restart keeps a postponement, also after a step of the clock`(step: Int64) {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.unable)
        if step != 0 { bench.stepWall(.seconds(step)) }
        let until = bench.facts.renewal.notBefore

        var restarted = bench.restarted(mode: .handler)
        restarted.register(1)

        #expect(restarted.questions.isEmpty)
        #expect(restarted.facts.renewal.phase == .postponed)
        #expect(restarted.facts.renewal.notBefore == until)
        restarted.pass(.seconds(661))
        #expect(restarted.questions.count == 1)
    }

    @Test func `a clock that was wrong at the start and is set during an attempt does not lengthen a postponement`() {
        var before = Bench.renewalDue(handlers: 1)
        before.answerQuestion(.unable)
        var bench = before.restarted(after: .seconds(1), clockSetBy: .seconds(-86_400), rebooted: true, mode: .handler)
        bench.register(1)
        bench.renew()
        bench.answerQuestion(.renew)
        bench.stepWall(.seconds(86_400))
        bench.failRenewal(.unreachable)

        #expect(bench.facts.renewal.notBefore! - bench.now.wall <= .seconds(661))
    }

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
        #expect(automatic.storedSession?.postponement == nil)
    }

    @Test func `after a restart a postponement holds for every user`() {
        let bench = Bench.expiredAndPostponed()

        var restarted = bench.restarted(mode: .handler)
        restarted.register(2, of: 1_001)

        #expect(restarted.facts.renewal.phase == .postponed)
        #expect(restarted.everAsked.isEmpty)
    }

    @Test func `a crash in a session renew does not end the postponement`() {
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

    @Test func `a postponement closes the intent, and a restart sends nothing`() {
        let bench = postponedAfterRefreshRetries()
        #expect(bench.facts.renewal.phase == .postponed)
        var restarted = bench.restarted(mode: .handler)
        restarted.register(2)
        #expect(restarted.renewals.isEmpty)
        #expect(restarted.facts.renewal.phase == .postponed)
        restarted.pass(.seconds(599))
        #expect(restarted.everAsked.isEmpty)
    }

    @Test func `a postponement beside an open intent, as an older release wrote it, survives the refresh retry`() {
        let bench = postponedAfterRefreshRetries()
        var record = bench.written.last!
        guard case .session(var stored) = record.content else {
            Issue.record("nobody is signed in")
            return
        }
        stored.renewalUnderWay = true
        record.content = .session(stored)
        for isGranted in [false, true] {
            var restarted = Bench(at: bench.now, mode: .handler, .restored(record, SessionSecrets(), damaged: nil))
            restarted.register(2)
            #expect(restarted.renewals.count == 1)
            if isGranted {
                restarted.grantRenewal()
                #expect(restarted.facts.renewal.phase == .scheduled)
                continue
            }
            for _ in 0..<3 where !restarted.renewals.isEmpty {
                restarted.failRenewal(.busy)
                if restarted.facts.renewal.phase != .postponed { restarted.passToNextAttempt() }
            }
            #expect(restarted.facts.renewal.phase == .postponed)
            restarted.pass(.seconds(500))
            #expect(restarted.everAsked.isEmpty)
        }
    }

    @Test func `a postponement that ends during a refresh retry leaves the backoff as it is`() throws {
        var before = Bench.signedIn(mode: .handler)
        before.register(1)
        before.renew()
        before.answerQuestion(.renew)
        var record = try #require(before.written.last)
        var stored = try #require(before.storedSession)
        stored.postponement = StoredPostponement(until: before.now.wall + .seconds(30))
        record.content = .session(stored)

        let later = Moment(wall: before.now.wall + .seconds(60), uptime: before.now.uptime + .seconds(60))
        var bench = Bench(at: later, mode: .handler, .restored(record, SessionSecrets(), damaged: nil))
        #expect(bench.renewals.count == 1)
        bench.failRenewal(.busy)
        #expect(bench.facts.renewal.phase == .backingOff)
    }

    @Test func `a crash in flight leaves no postponement that would delay the refresh retry`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(3_000))
        // The intent of a lost attempt is open. Then no handler can help, and then a caller requests a renewal.
        bench.answerQuestion(.renew)
        bench.failRenewal(.lost)
        for _ in 0..<2 {
            bench.passToNextAttempt()
            bench.failRenewal(.busy)
        }
        bench.pass(.seconds(30))
        bench.answerQuestion(.unable)
        #expect(bench.facts.renewal.phase == .postponed)
        bench.renew()
        bench.answerQuestion(.renew)
        #expect(bench.renewals.count == 1)

        let restarted = bench.restarted(mode: .handler)

        #expect(restarted.renewals.count == 1)
        #expect(restarted.facts.renewal.phase == .inFlight)
    }

    @Test
    func `a start with an open intent of a handler's token asks a handler again, also if reauthentication is required`()
    {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.renew()
        bench.answerQuestion(.renew)
        bench.failRenewal(.reauthenticationRequired)
        bench.pass(.seconds(11))
        bench.renew()
        bench.answerQuestion(.credential)
        #expect(bench.renewals.count == 1 && bench.storedSession?.renewalUnderWay == true)

        var after = bench.restarted(mode: .handler)
        after.register(1)
        #expect(after.questions.count == 1)
    }
}
