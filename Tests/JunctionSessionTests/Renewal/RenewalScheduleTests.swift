import Testing

@testable import JunctionSession

/// When a renewal is due.
struct RenewalScheduleTests {
    @Test func `the renewal is due at a random time between half and four fifths of the lifetime`() {
        for seed in 0..<200 {
            let bench = Bench.signedIn(seed: UInt64(seed))
            guard let token = bench.facts.accessToken, let at = bench.facts.renewal.notBefore else {
                Issue.record("nothing scheduled")
                return
            }
            let share = Double((at - token.issuedAt).wholeMilliseconds) / Double(token.life.wholeMilliseconds)
            #expect((0.5...0.8).contains(share))
        }
    }

    @Test func `a restart keeps the time of the renewal`() {
        let before = Bench.signedIn()
        let after = before.restarted(seed: 99)
        #expect(after.facts.renewal.notBefore == before.facts.renewal.notBefore)
        #expect(after.state == .established)
        #expect(after.renewals.isEmpty)
    }

    @Test func `each rotation draws a new renewal time`() {
        var bench = Bench.signedIn()
        var shares: Set<Int64> = []
        for _ in 0..<4 {
            let token = bench.facts.accessToken!
            shares.insert((bench.facts.renewal.notBefore! - token.issuedAt).wholeMilliseconds)
            bench.renew()
            bench.grantRenewal()
        }
        #expect(shares.count == 4)
    }

    @Test func `a token without an end is renewed only when a caller asks`() {
        var bench = Bench.withEndlessToken()
        #expect(bench.facts.renewal == Snapshot.Renewal())

        bench.pass(.seconds(365 * 86_400))
        #expect(bench.renewals.isEmpty)
        bench.renew()
        #expect(bench.renewals.count == 1)
    }

    @Test func `a session without an end sets an alarm of thirty days`() {
        var bench = Bench.withEndlessToken()
        let alarm = bench.machine.nextAlarm(now: bench.now)
        #expect(alarm == bench.now.wall + .seconds(30 * 86_400))
        let served = bench.reply { $0.token(validFor: .seconds(86_400)) }
        guard case .token? = served else {
            Issue.record("not served")
            return
        }
    }

    @Test func `in handler mode the alarm rings when a renewal is due, although no handler is registered`() throws {
        let bench = Bench.signedIn(mode: .handler)
        let due = try #require(bench.facts.renewal.notBefore)
        #expect(bench.machine.nextAlarm(now: bench.now) == due)
        #expect(due < bench.facts.accessToken!.expiresAt)
    }

    @Test func `a token of twenty seconds is renewed before it ends`() {
        var bench = Bench.signedIn(life: .seconds(20), mode: .handler)
        bench.register(1)
        bench.pass(.seconds(17))
        #expect(bench.state == .established)
        #expect(bench.questions.count == 1)
    }

    @Test func `sign-outs and new sign-ins leave one schedule`() {
        var bench = Bench(mode: .handler)
        bench.register(1)
        for _ in 0..<5 {
            bench.signIn(.signInToken("alice"))
            bench.grantExchange()
            bench.signOut()
            bench.endRevocation()
        }
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        bench.pass(.seconds(3_000))
        #expect(bench.everAsked.count == 1)
    }

    @Test func `a clock that is set back does not move the renewal past the end of the token`() {
        var late = 0
        for seed in 0..<20 as Range<UInt64> {
            var bench = Bench.signedIn(seed: seed)
            bench.pass(.seconds(1_500))
            bench.stepWall(.seconds(-1_490))
            let end = bench.machine.installation.session!.end(bench.now)!
            if bench.facts.renewal.notBefore! >= end { late += 1 }
        }
        #expect(late == 0)
    }

    @Test func `a clock that is set forward does not move the renewal past the end of the token`() {
        var late = 0
        for seed in 0..<20 as Range<UInt64> {
            var bench = Bench.signedIn(seed: seed)
            bench.stepWall(.seconds(1_750))
            guard let notBefore = bench.facts.renewal.notBefore else { continue }
            if notBefore >= bench.machine.installation.session!.end(bench.now)! { late += 1 }
        }
        #expect(late == 0)
    }

    @Test func `tokens that have expired on arrival cause no loop of renewals`() {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        var calls = 0
        for _ in 0..<50 {
            guard let attempt = bench.renewals.last else { break }
            calls += 1
            let start = Moment(wall: bench.now.wall + .seconds(-70), uptime: bench.now.uptime + .seconds(-70))
            let granted = bench.granted("alice", from: start)
            bench.perform(bench.machine.renewalSucceeded(attempt, granted, now: bench.now))
        }
        #expect(calls < 3, "\(calls) calls in no time")
    }
}
