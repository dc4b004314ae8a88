import Testing

@testable import JunctionSession

/// The scheduler: when a renewal is made, by whom it may be hurried, and what its outcomes mean.
struct RenewalTests {
    @Test func `a token without an end is not due by itself, and is renewed for who asks`() {
        var bench = Bench()
        bench.life = WallTime.never - bench.now.wall
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        #expect(bench.facts.renewal == Snapshot.Renewal())

        bench.pass(.seconds(365 * 86_400))
        #expect(bench.renewals.isEmpty)
        bench.renew()
        #expect(bench.renewals.count == 1)
    }

    @Test func `the renewal time is drawn once, between half and four fifths of the life`() {
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

    @Test func `a restart does not draw again`() {
        let before = Bench.signedIn()
        let after = before.restarted(seed: 99)
        #expect(after.facts.renewal.notBefore == before.facts.renewal.notBefore)
        #expect(after.state == .established)
        #expect(after.renewals.isEmpty)
    }

    @Test func `the intent is durable before the request leaves, and the new generation before it counts`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true

        bench.renew()
        #expect(bench.renewals.isEmpty)
        guard case .session(let noted)? = bench.heldWrites.first?.record.content else {
            Issue.record("no intent")
            return
        }
        #expect(noted.renewalUnderWay)
        bench.endWrite()
        #expect(bench.renewals.count == 1)

        bench.grantRenewal()
        #expect(bench.facts.accessToken?.generation == 1)
        bench.endWrite()
        #expect(bench.facts.accessToken?.generation == 2)
    }

    @Test func `an open intent is replayed at once after a restart`() {
        var bench = Bench.signedIn()
        bench.renew()
        let restarted = bench.restarted()
        #expect(restarted.renewals.count == 1)
        #expect(restarted.state == .established)
    }

    @Test func `a disk that refuses the intent does not stop the renewal`() {
        var bench = Bench.signedIn()
        bench.writeFailure = StoreFailure("No space left on device")
        let request = bench.renew()
        #expect(bench.renewals.count == 1)

        bench.grantRenewal()

        #expect(bench.reply(to: request) == .done)
        #expect(bench.facts.accessToken?.generation == 2)
        #expect(!bench.facts.storage.durable)
    }

    @Test func `what a full disk refused is written as soon as it can be`() {
        var bench = Bench.signedIn()
        bench.writeFailure = StoreFailure("No space left on device")
        bench.renew()
        bench.grantRenewal()

        bench.writeFailure = nil
        bench.pass(.seconds(60))

        #expect(bench.facts.storage.durable)
        #expect(bench.written.last?.generation == 2)
    }

    @Test func `everybody who waits gets the one result`() {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        let waiters = (0..<50).map { _ in bench.token() }
        #expect(bench.renewals.count == 1)

        bench.grantRenewal()

        for waiter in waiters {
            guard case .token(let token)? = bench.reply(to: waiter) else {
                Issue.record("not served")
                continue
            }
            #expect(token.generation == 2)
        }
        #expect(bench.renewals.isEmpty)
    }

    @Test func `everybody who waits gets the one failure, and nobody starts another attempt`() {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        let waiters = (0..<50).map { _ in bench.token() }

        bench.failRenewal(.unavailable(Unavailability("No answer")))

        for waiter in waiters {
            #expect(bench.refusal(of: waiter) == .providerUnavailable)
            #expect(bench.retryAfter(of: waiter) != nil)
        }
        #expect(bench.renewals.isEmpty)
    }

    @Test func `a living token is served while the provider hangs`() {
        var bench = Bench.signedIn()
        bench.renew()
        let request = bench.token()
        guard case .token(let token)? = bench.reply(to: request) else {
            Issue.record("not served")
            return
        }
        #expect(token.generation == 1)
    }

    @Test func `backoff is full jitter from two seconds to ten minutes`() {
        for seed in 0..<50 {
            var bench = Bench.signedIn(life: .seconds(60), seed: UInt64(seed))
            bench.pass(.seconds(61))
            for failure in 1...14 {
                bench.failRenewal(.unavailable(Unavailability("No answer")))
                guard let at = bench.facts.renewal.notBefore else {
                    Issue.record("no retry")
                    return
                }
                let delay = at - bench.now.wall
                let ceiling = min(Duration.seconds(600), .seconds(2) * (1 << min(failure - 1, 20)))
                #expect(delay <= ceiling)
                #expect(delay >= RenewalPolicy.shortestBackoff)
                #expect(bench.facts.renewal.phase == .backingOff)
                #expect(bench.facts.renewal.failures == failure)
                bench.pass(delay)
                #expect(bench.renewals.count == 1)
            }
        }
    }

    @Test(arguments: [
        (Duration.seconds(5), Duration.seconds(5)), (.seconds(120), .seconds(120)), (.milliseconds(1), .seconds(1)),
        (.seconds(86_400), .seconds(3_600)),
    ])
    func `Retry-After is honoured within an hour`(asked: Duration, believed: Duration) {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        bench.failRenewal(.unavailable(Unavailability("Too many requests", retryAfter: asked)))
        let delay = bench.facts.renewal.notBefore! - bench.now.wall
        #expect(delay >= believed)
        #expect(delay <= believed * 1.11)

        bench.pass(.milliseconds(900))
        let waiter = bench.token()
        #expect(bench.refusal(of: waiter) == .tokenExpired)
        #expect(bench.renewals.isEmpty)
    }

    // MARK: Replays

    @Test func `an ambiguous outcome is replayed within two seconds, once more inside the grace, then by the backoff`()
    {
        for seed in 0..<100 {
            var bench = Bench.signedIn(seed: UInt64(seed))
            bench.renew()
            let sent = bench.now.uptime

            bench.failRenewal(.lost)
            let first = bench.facts.renewal.notBefore! - bench.now.wall
            #expect(first <= .seconds(2))
            bench.pass(first)
            #expect(bench.renewals.count == 1)

            // A 503 to a replay is the server's own no to that one: the first request's outcome is as unknown as before.
            bench.failRenewal(.busy)
            bench.passToNextAttempt()
            let second = bench.now.uptime - sent
            #expect(second >= .seconds(10) && second <= .seconds(24))
            #expect(bench.renewals.count == 1)

            bench.failRenewal(.busy)
            #expect(bench.facts.renewal.notBefore! - bench.now.wall <= .seconds(8))
            #expect(!bench.machine.renewal.isReplaying)
        }
    }

    @Test func `every ambiguous outcome opens the window anew, six replays in ten minutes at the most`() {
        for seed in 0..<50 {
            var bench = Bench.signedIn(life: .seconds(600), seed: UInt64(seed))
            bench.renew()
            for _ in 0..<6 {
                bench.failRenewal(.lost)
                let delay = bench.facts.renewal.notBefore! - bench.now.wall
                #expect(bench.machine.renewal.isReplaying)
                #expect(delay <= .seconds(2))
                bench.pass(delay)
                #expect(bench.renewals.count == 1)
            }
            bench.failRenewal(.lost)
            #expect(!bench.machine.renewal.isReplaying)

            // Ten minutes later the window opens again.
            bench.now.uptime = bench.now.uptime + .seconds(601)
            bench.pass(.seconds(600))
            bench.failRenewal(.lost)
            #expect(bench.machine.renewal.isReplaying)
        }
    }

    @Test func `a replay by 503s alone does not count for ever: a window has two`() {
        for seed in 0..<50 {
            var bench = Bench.signedIn(seed: UInt64(seed))
            bench.renew()
            bench.failRenewal(.lost)
            var replays = 0
            while bench.machine.renewal.isReplaying {
                replays += 1
                bench.passToNextAttempt()
                bench.failRenewal(.busy)
            }
            #expect(replays == 2)
        }
    }

    @Test func `a token of the app that met an ambiguous outcome opens no window: it is used again by the backoff`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(3_000))
        bench.answerQuestion(.credential)
        bench.failRenewal(.unavailable(Unavailability("Lost", retryAfter: .seconds(300), ambiguous: true)))
        #expect(!bench.machine.renewal.isReplaying)
        #expect(bench.facts.renewal.notBefore! - bench.now.wall >= .seconds(300))
        bench.pass(.seconds(331))
        #expect(bench.everAsked.count == 1)
        #expect(bench.renewals.count == 1)
    }

    @Test func `a caller with a dead token may pass the backoff once in ten seconds`() {
        var bench = Bench.backingOff()
        for _ in 0..<8 {
            bench.passToNextAttempt()
            bench.failRenewal(.unavailable(Unavailability("No answer")))
        }
        let retryAt = bench.facts.renewal.notBefore!
        guard retryAt - bench.now.wall > .seconds(11) else { return }

        #expect(bench.refusal { $0.token() } == .tokenExpired)
        bench.pass(.seconds(10))
        let waiter = bench.token()
        #expect(bench.renewals.count == 1)
        bench.grantRenewal()
        guard case .token? = bench.reply(to: waiter) else {
            Issue.record("not served")
            return
        }
    }

    @Test func `a resume from suspend retries sooner, once in ten seconds`() {
        var bench = Bench.backingOff()
        for _ in 0..<8 {
            bench.passToNextAttempt()
            bench.failRenewal(.unavailable(Unavailability("No answer")))
        }
        bench.stepWall(.seconds(1))
        #expect(bench.renewals.isEmpty)
        bench.now.uptime = bench.now.uptime + .seconds(10)
        bench.stepWall(.seconds(1))
        #expect(bench.renewals.count == 1)
    }

    @Test func `session renew passes the backoff, and after a failure answers with it for ten seconds`() {
        var bench = Bench.backingOff()
        let first = bench.renew()
        #expect(bench.renewals.count == 1)
        bench.failRenewal(.unavailable(Unavailability("Still no answer")))
        #expect(bench.refusal(of: first) == .providerUnavailable)

        bench.now.uptime = bench.now.uptime + .seconds(4)
        let second = bench.renew()
        #expect(bench.refusal(of: second) == .providerUnavailable)
        #expect(bench.retryAfter(of: second) == .seconds(6))

        bench.now.uptime = bench.now.uptime + .seconds(6)
        bench.renew()
        #expect(bench.renewals.count == 1)
    }

    @Test func `a success clears what session renew remembered`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(.unavailable(Unavailability("No answer")))
        bench.passToNextAttempt()
        bench.grantRenewal()
        #expect(bench.facts.renewal.failures == 0)
        #expect(bench.facts.renewal.lastError == nil)

        bench.renew()
        #expect(bench.renewals.count == 1)
    }

    @Test func `a provider's verdict ends the session and erases it, with its reason`() {
        var bench = Bench.signedIn()
        let request = bench.renew()
        bench.failRenewal(.terminated(code: "invalid_token", message: "The user was deleted"))

        #expect(bench.refusal(of: request) == .sessionTerminated)
        #expect(bench.state == .terminated)
        #expect(bench.facts.termination?.code == "invalid_token")
        #expect(!bench.facts.flags.contains(.signedIn))
        #expect(bench.refusal { $0.token() } == .sessionTerminated)

        let restarted = bench.restarted()
        #expect(restarted.state == .terminated)
        #expect(restarted.facts.termination?.code == "invalid_token")
    }

    @Test func `reauthentication keeps the session and makes no further call`() {
        var bench = Bench.pendingReauthentication()
        let served = bench.reply { $0.token() }
        guard case .token? = served else {
            Issue.record("a living token is served")
            return
        }
        #expect(bench.refusal { $0.renew() } == .reauthenticationRequired)

        bench.pass(.seconds(4_000))
        #expect(bench.state == .tokenExpired)
        #expect(bench.refusal { $0.token() } == .reauthenticationRequired)
        #expect(bench.renewals.isEmpty)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
    }

    @Test func `a longer validity renews early, once a call, and not a token that is new`() {
        var bench = Bench.signedIn(life: .seconds(100))
        bench.pass(.seconds(9))
        let tooSoon = bench.token(validFor: .seconds(80))
        guard case .token? = bench.reply(to: tooSoon) else {
            Issue.record("still valid for 91 s")
            return
        }

        bench.pass(.seconds(21))
        let early = bench.token(validFor: .seconds(75))
        #expect(bench.renewals.count == 1)
        bench.grantRenewal()
        guard case .token(let token)? = bench.reply(to: early) else {
            Issue.record("not served")
            return
        }
        #expect(token.generation == 2)
    }

    @Test func `a new token that is not valid for long enough is not replaced within ten seconds`() {
        var bench = Bench.signedIn(life: .seconds(20))
        bench.pass(.seconds(6))
        let request = bench.token(validFor: .seconds(16))
        #expect(bench.refusal(of: request) == .busy)
        #expect(bench.retryAfter(of: request) == .seconds(4))
        #expect(bench.renewals.isEmpty)
    }

    @Test func `more than four fifths of the life cannot be asked for`() {
        var bench = Bench.signedIn(life: .seconds(100))
        let request = bench.token(validFor: .seconds(81))
        guard case .refused(let refusal)? = bench.reply(to: request) else {
            Issue.record("served")
            return
        }
        #expect(refusal.kind == .invalidParameters)
        #expect(refusal.maximum == .seconds(80))
    }

    @Test func `a rejected token is renewed only if it is still the current one`() {
        var bench = Bench.signedIn()
        let first = bench.rejected(1)
        let late = bench.rejected(1)
        #expect(bench.renewals.count == 1)
        bench.grantRenewal()
        #expect(bench.reply(to: first) == .authorized(generation: 2))
        #expect(bench.reply(to: late) == .authorized(generation: 2))

        #expect(bench.reply { $0.rejected(1) } == .authorized(generation: 2))
        #expect(bench.reply { $0.rejected(2) } == .rejectionStands)
        #expect(bench.renewals.isEmpty)
    }

    @Test func `a token request while a sign-in is under way waits for it`() {
        var bench = Bench()
        bench.signIn(.signInToken("alice"))
        let request = bench.token()
        #expect(bench.reply(to: request) == nil)
        bench.grantExchange()
        guard case .token? = bench.reply(to: request) else {
            Issue.record("not served")
            return
        }
    }

    @Test func `a wall clock before the record was written is not trusted`() {
        let written = Bench.signedIn().written.last!
        var bench = Bench(.restored(written, SessionSecrets(), damaged: nil))
        bench.stepWall(.seconds(-86_400))
        #expect(bench.state == .tokenExpired)
        #expect(bench.renewals.count == 1)
    }

    @Test func `a wall clock that comes back is believed again`() {
        var bench = Bench.signedIn()
        bench.stepWall(.seconds(-86_400))
        #expect(bench.state == .tokenExpired)
        bench.failRenewal(.unavailable(Unavailability("No network yet")))
        bench.stepWall(.seconds(86_400))
        #expect(bench.state == .established)
    }

    @Test func `a token ends by the clock that never steps, whatever the wall clock says`() {
        var bench = Bench.signedIn(life: .seconds(3_600))
        bench.stepWall(.seconds(1_800))
        bench.stepWall(.seconds(-1_800))
        bench.now.uptime = bench.now.uptime + .seconds(3_600)
        #expect(bench.state == .tokenExpired)
    }

    // MARK: What the provider demands

    @Test func `a pause that the provider has demanded holds over a restart`() {
        var before = Bench.signedIn()
        before.renew()
        before.failRenewal(.unavailable(Unavailability("Too many requests", retryAfter: .seconds(600))))
        var bench = before.restarted(after: .seconds(2))

        #expect(bench.renewals.isEmpty && bench.facts.renewal.phase == .backingOff)
        bench.pass(.seconds(597))
        #expect(bench.renewals.isEmpty)
        bench.pass(.seconds(70))
        #expect(bench.renewals.count == 1)
        bench.grantRenewal()
        #expect(bench.restarted(after: .seconds(2)).facts.renewal.phase == .scheduled)
    }

    @Test func `a wall clock that is set during such a pause neither ends nor lengthens it over a restart`() {
        var before = Bench.signedIn()
        before.renew()
        before.failRenewal(.unavailable(Unavailability("Too many requests", retryAfter: .seconds(600))))
        before.stepWall(.seconds(1_000))
        var bench = before.restarted(after: .seconds(2))

        #expect(bench.renewals.isEmpty)
        bench.pass(.seconds(500))
        #expect(bench.renewals.isEmpty)
        bench.pass(.seconds(170))
        #expect(bench.renewals.count == 1)
    }

    @Test func `a clock that was behind at start shows the session, with an alarm, when it can be believed again`()
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
}
