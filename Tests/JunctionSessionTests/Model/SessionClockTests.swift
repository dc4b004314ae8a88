import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// Lifetimes are measured on the monotonic clock. Across a restart the wall clock counts, if it can be trusted.
struct SessionClockTests {
    @Test func `a token ends by the monotonic clock, with any reading of the wall clock`() {
        var bench = Bench.signedIn(life: .seconds(3_600))
        bench.stepWall(.seconds(1_800))
        bench.stepWall(.seconds(-1_800))
        bench.now.uptime = bench.now.uptime + .seconds(3_600)
        #expect(bench.state == .tokenExpired)
    }

    @Test func `a token ends by whichever clock ends it first`() throws {
        var bench = Bench.signedIn(life: .seconds(1_000))
        let start = bench.now
        let session = try #require(bench.machine.installation.session)
        let end = try #require(bench.facts.accessToken?.expiresAt)

        bench.now.wall = start.wall + .seconds(-500)
        #expect(session.end(bench.now) == bench.now.wall + .seconds(1_000))
        bench.now.wall = start.wall + .seconds(400)
        #expect(session.validity(bench.now) == .seconds(600))
        #expect(session.end(bench.now) == end)
        #expect(session.revocationWindow(bench.now) == .seconds(600))
        // The age of the token is that of the monotonic clock.
        bench.now.uptime = start.uptime + .seconds(900)
        #expect(session.validity(bench.now) == .seconds(100))

        // A wall clock before the record's own time is not trusted.
        bench.now = Moment(wall: start.wall + .seconds(-86_400), uptime: start.uptime + .seconds(100))
        #expect(session.validity(bench.now) == .zero)
        #expect(session.revocationWindow(bench.now) == .seconds(900))
    }

    @Test func `a wall clock before the record's own time ends the token`() {
        let written = Bench.signedIn().written.last!
        var bench = Bench(.restored(written, SessionSecrets(), damaged: nil))
        bench.stepWall(.seconds(-86_400))
        #expect(bench.state == .tokenExpired)
        #expect(bench.renewals.count == 1)
    }

    @Test func `a wrong wall clock ends no token without an end`() {
        var bench = Bench.withEndlessToken()

        bench.stepWall(.seconds(-86_400))

        #expect(bench.state == .established && bench.renewals.isEmpty)
        #expect(bench.restarted(clockSetBy: .seconds(-86_400), rebooted: true).renewals.isEmpty)
    }

    @Test func `a wall clock that comes back makes the token valid again`() {
        var bench = Bench.signedIn()
        bench.stepWall(.seconds(-86_400))
        #expect(bench.state == .tokenExpired)
        bench.failRenewal(.unavailable(Unavailability("No network yet")))
        bench.stepWall(.seconds(86_400))
        #expect(bench.state == .established)
    }

    @Test func `a clock that was behind at start shows the session again when it has caught up`()
        throws
    {
        let record = try #require(Bench.signedIn().written.last)
        var moment = Bench().now
        moment.wall = moment.wall + .seconds(-600)
        var bench = Bench(at: moment, mode: .handler, .restored(record, SessionSecrets(), damaged: nil))
        #expect(bench.state == .tokenExpired)

        bench.passToAlarm()

        #expect(bench.state == .established)
        #expect(bench.now.wall <= record.writtenAt)
    }

    @Test(arguments: [-28_800, 28_800])
    func `a wall clock that is set while a request is in flight changes no lifetime`(step: Int) {
        for isRenewal in [true, false] {
            var bench = isRenewal ? Bench.signedIn() : Bench()
            if isRenewal { bench.renew() } else { bench.signIn(.signInToken("alice")) }
            let start = bench.now
            bench.stepWall(.seconds(step))
            bench.pass(.seconds(3))
            let granted = bench.granted("alice", from: start)
            if isRenewal {
                bench.perform(bench.machine.renewalSucceeded(bench.renewals[0], granted, now: bench.now))
            } else {
                bench.perform(bench.machine.exchangeSucceeded(bench.exchanges[0], granted, now: bench.now))
            }
            #expect(bench.state == .established)
            #expect(bench.facts.accessToken!.expiresAt - bench.now.wall == .seconds(3_597))

            let restarted = bench.restarted()
            #expect(restarted.facts.accessToken!.expiresAt - restarted.now.wall == .seconds(3_597))
        }
    }

    @Test func `a record that was written under a wrong clock does not make an expired token valid`() {
        let bench = Bench.signedIn()
        let first = Moment(wall: WallTime(milliseconds: 60_000), uptime: Uptime(milliseconds: 60_000))
        let booted = Bench(at: first, .restored(bench.written.last!, SessionSecrets(), damaged: nil))
        #expect(booted.state == .tokenExpired)
        let second = Moment(wall: WallTime(milliseconds: 120_000), uptime: Uptime(milliseconds: 60_000))
        var again = Bench(at: second, .restored(booted.written.last!, SessionSecrets(), damaged: nil))
        #expect(again.state == .tokenExpired)
        let request = again.token()
        #expect(again.reply(to: request) == nil)
    }

    @Test func `after a restart a token ends by the monotonic clock too`() {
        let bench = Bench.signedIn()
        var at = bench.now
        at = Moment(wall: at.wall + .seconds(3_000), uptime: Uptime(milliseconds: 10_000))
        var r = Bench(at: at, .restored(bench.written.last!, SessionSecrets(), damaged: nil))
        #expect(r.renewals.count == 1)
        r.failRenewal(.busy)
        let noted = r.written.last!.writtenAt
        r.stepWall(.seconds(-2_700))
        if !r.renewals.isEmpty { r.failRenewal(.busy) }
        #expect(r.now.wall < noted)
        r.pass(.seconds(660))  // really 3 660 s old
        if !r.renewals.isEmpty { r.failRenewal(.busy) }
        let q = r.token()
        if case .token = r.reply(to: q) {
            Issue.record(
                "a token of 3600 s is served 3660 s after it was granted; record written at \(noted) now \(r.now.wall)"
            )
        }
    }

    @Test func `after a restart a clock that is set back does not delay the renewal`() {
        let bench = Bench.signedIn()
        let at = Moment(wall: bench.now.wall + .seconds(1_500), uptime: Uptime(milliseconds: 10_000))
        var r = Bench(at: at, .restored(bench.written.last!, SessionSecrets(), damaged: nil))
        r.stepWall(.seconds(-1_490))
        r.pass(.seconds(1_700))
        if !r.renewals.isEmpty { r.failRenewal(.busy) }
        r.pass(.seconds(450))
        while !r.renewals.isEmpty { r.failRenewal(.busy) }
        let q = r.token()
        if case .token = r.reply(to: q) { Issue.record("dead token served") }
    }

    @Test func `a clock event without a step writes nothing`() {
        var bench = Bench.postponed()
        let written = bench.written.count
        bench.stepWall(.zero)
        #expect(bench.written.count == written)
        bench.stepWall(.seconds(60))
        #expect(bench.written.count == written + 1)
    }

    @Test func `a step of the clock moves the shown times, an alarm does not`() throws {
        let bench = OwnerBench().start().signIn()
        let due = try #require(bench.snapshot().facts.renewal.notBefore)
        bench.clock.advance(by: .seconds(700))
        bench.clock.stepWall(by: .seconds(-600))
        bench.on { $0.alarmRang(clockJumped: false) }
        #expect(bench.snapshot().facts.renewal.notBefore == due)
        bench.on { $0.alarmRang(clockJumped: true) }
        #expect(bench.snapshot().facts.renewal.notBefore == due + .seconds(-600))
    }

    @Test func `a step of the clock moves a shown pause, a reading that is a millisecond off does not`() throws {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(.unavailable(Unavailability("Too many requests", retryAfter: .seconds(600))))
        let shown = try #require(bench.facts.renewal.notBefore)
        let end = bench.now.uptime + (shown - bench.now.wall)

        bench.now.wall = bench.now.wall + .milliseconds(1)
        bench.pass(.seconds(1))
        #expect(bench.facts.renewal.notBefore == shown)

        bench.stepWall(.seconds(60))
        #expect(bench.facts.renewal.notBefore == bench.now.wall(at: end))
    }

    @Test func `an access token that has expired by the corrected clock is not sent with a renewal`() {
        let first = OwnerBench().start().signIn()
        let restoration = first.store.restore()
        let bench = OwnerBench()
        // The machine has no battery-backed clock: it boots an hour before the record's time, although it was off for a
        // day.
        bench.clock.stepWall(by: .seconds(-3_600))
        bench.provider.failRenewals(.unavailable(Unavailability("No network yet")))
        bench.on { $0.start(with: restoration) }
        bench.clock.stepWall(by: .seconds(3_600 + 86_400))
        bench.provider.failRenewals(.unavailable(Unavailability("No")), .unavailable(Unavailability("No")))
        bench.on { $0.alarmRang(clockJumped: true) }
        bench.pass(.seconds(30))
        #expect(bench.snapshot().facts.state == .tokenExpired)
        #expect(bench.provider.renewalSecrets.count >= 2)
        #expect(bench.provider.renewalSecrets.last?.accessToken == nil)
    }

    @Test func `a wall clock before the record's own write time ends the token`() {
        var bench = Bench.signedIn()
        bench.pass(.seconds(600))
        let request = bench.identify("ext-alice")
        bench.answer(request, .success(.signInToken("alice")))
        #expect(bench.written.last?.writtenAt == bench.now.wall)
        bench.stepWall(.seconds(-300))
        #expect(bench.state == .tokenExpired && bench.renewals.count == 1)
        #expect(bench.restarted().state == bench.state)
    }

    @Test func `the write time of a session never decreases`() throws {
        var bench = Bench.signedIn()
        bench.pass(.seconds(600))
        let request = bench.identify("ext-alice")
        bench.answer(request, .success(.signInToken("alice")))
        let before = try #require(bench.written.last?.writtenAt)
        bench.stepWall(.seconds(-300))
        let again = bench.identify("ext-anna")
        bench.answer(again, .success(.signInToken("alice")))
        #expect(try #require(bench.written.last?.writtenAt) >= before)
    }

    @Test func `a wall clock that is behind does not remove a valid token from a renewal`() {
        let bench = OwnerBench(rules: RenewalRules(mode: .handler)).start().signIn()
        bench.clock.stepWall(by: .seconds(-7_200))
        bench.on { $0.alarmRang(clockJumped: true) }
        #expect(bench.snapshot().facts.state == .tokenExpired)

        let handler = bench.register()
        handler.answer(.renew)

        #expect(bench.provider.renewalSecrets.last?.accessToken != nil)
    }

    // MARK: Two steps of the clock, one report

    @Test func `a demanded pause survives a restart after two steps of the clock that one report covers`() {
        var bench = Bench.signedIn(life: .seconds(864_000))
        bench.pass(.seconds(86_400))
        bench.now.wall = bench.now.wall + .seconds(-7_200)
        bench.renew()
        bench.failRenewal(.busyForAnHour)
        bench.stepWall(.seconds(7_200))
        #expect(bench.facts.renewal.notBefore! - bench.now.wall >= .seconds(3_600))

        let restarted = bench.restarted(after: .seconds(1))

        #expect(restarted.facts.renewal.phase == .backingOff)
        #expect(restarted.facts.renewal.notBefore.map { $0 - restarted.now.wall >= .seconds(3_590) } == true)
    }

    @Test func `a postponement survives a restart after two steps of the clock that one report covers`() {
        var bench = Bench.signedIn(life: .seconds(864_000), mode: .handler)
        bench.register(1)
        bench.pass(.seconds(86_400))
        bench.now.wall = bench.now.wall + .seconds(-7_200)
        bench.renew()
        bench.answerQuestion(.unable)
        bench.stepWall(.seconds(7_200))
        #expect(bench.facts.renewal.phase == .postponed)

        var restarted = bench.restarted(after: .seconds(1), mode: .handler)
        restarted.register(1)

        #expect(restarted.facts.renewal.phase == .postponed)
        #expect(restarted.everAsked.isEmpty)
    }
}
