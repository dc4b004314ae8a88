import Testing

@testable import JunctionSession

/// The pause after a failed renewal: the backoff, the provider's Retry-After, and the callers that may end them early.
struct RenewalBackoffTests {
    @Test func `the backoff has full jitter from two seconds to ten minutes`() {
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
        #expect(delay <= max(believed * 1.11, RenewalPolicy.firstBackoff))

        bench.pass(.milliseconds(900))
        let waiter = bench.token()
        #expect(bench.refusal(of: waiter) == .tokenExpired)
        #expect(bench.renewals.isEmpty)
    }

    @Test func `Retry-After with its spread stays within an hour`() {
        var random = Randomness(seed: 1)
        for _ in 0..<1_000 {
            #expect(RenewalPolicy.delay(afterBeingAsked: .seconds(3_590), using: &random) <= .seconds(3_600))
        }
    }

    @Test func `a caller with an expired token may end the backoff once in ten seconds`() {
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
        #expect(bench.servedToken(to: waiter) != nil)
    }

    @Test func `a caller with a valid token does not end the backoff`() {
        var bench = Bench.longBackoff(life: .seconds(360_000))
        bench.now.uptime = bench.now.uptime + .seconds(10)
        bench.now.wall = bench.now.wall + .seconds(10)
        #expect(bench.facts.renewal.notBefore! > bench.now.wall)
        #expect(bench.refusal { $0.token(validFor: .seconds(288_000)) } == nil)
        bench.pass(.seconds(1))
        #expect(bench.renewals.isEmpty)
    }

    @Test func `a valid token that is too short for the caller does not end the backoff`() {
        // More than ten minutes of the token's forty have passed.
        var bench = Bench.longBackoff(life: .seconds(2_400))
        bench.pass(.seconds(11))
        let remaining = bench.machine.installation.session?.validity(bench.now) ?? .zero
        let request = bench.token(validFor: remaining + .seconds(1))
        #expect(bench.renewals.isEmpty && bench.refusal(of: request) == .busy)
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

    @Test func `session renew ends the backoff, and repeats its failure for ten seconds`() {
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

    @Test func `a success ends the failure that session renew repeats`() {
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

    @Test func `a successful refresh retry ends the failure that session renew repeats`() {
        var bench = Bench.signedIn()
        let first = bench.renew()
        bench.failRenewal(.lost)
        #expect(bench.refusal(of: first) == .providerUnavailable)
        bench.pass(.seconds(2))
        bench.grantRenewal()
        bench.renew()
        #expect(bench.renewals.count == 1)
    }

    @Test(arguments: [HandlerReply.credential, .unable, .renew])
    func `session renew repeats any failure for ten seconds, after any answer of the handlers`(answer: HandlerReply) {
        var bench = Bench.signedIn(life: .seconds(86_400), mode: .handler)
        bench.register(1)
        var (calls, questions) = (0, 0)
        for _ in 0..<600 {
            bench.renew()
            questions += bench.questions.count
            while !bench.questions.isEmpty { bench.answerQuestion(answer) }
            calls += bench.renewals.count
            while !bench.renewals.isEmpty {
                bench.failRenewal(answer == .renew ? .reauthenticationRequired : .answerRefused("It is used up"))
            }
            bench.pass(.milliseconds(100))
        }
        #expect(calls <= 7)
        #expect(questions <= 7)
    }

    @Test func `only session renew sends a request before the Retry-After ends`() {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        bench.failRenewal(.unavailable(Unavailability("Busy", retryAfter: .seconds(300))))
        bench.pass(.seconds(60))
        let waiting = bench.token()
        #expect(bench.refusal(of: waiting) == .tokenExpired)
        bench.stepWall(.seconds(1))
        #expect(bench.renewals.isEmpty)
        bench.renew()
        #expect(bench.renewals.count == 1)
    }

    @Test func `a restart keeps a demanded pause`() {
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

    @Test func `a step of the wall clock neither ends nor lengthens a demanded pause, also across a restart`() {
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

    @Test func `a wrong clock at a start makes a demanded pause no longer than it was`() {
        var before = Bench.signedIn()
        before.renew()
        before.failRenewal(.unavailable(Unavailability("Too many requests", retryAfter: .seconds(60))))
        var bench = before.restarted(after: .seconds(600), clockSetBy: .seconds(-86_400), rebooted: true)

        #expect(bench.renewals.isEmpty)
        bench.pass(.seconds(70))
        #expect(bench.renewals.count == 1)
    }

    @Test func `a second start after one with a wrong clock has no longer pause either`() {
        var before = Bench.signedIn()
        before.renew()
        before.failRenewal(.unavailable(Unavailability("Too many requests", retryAfter: .seconds(60))))
        var wrong = before.restarted(after: .seconds(600), clockSetBy: .seconds(-86_400), rebooted: true)
        wrong.pass(.seconds(70))
        wrong.failRenewal(.unreachable)
        for step in [Duration.zero, .seconds(86_400)] {
            var bench = wrong.restarted(after: .seconds(600), clockSetBy: step, rebooted: true)
            for _ in 0..<2 {
                bench.failRenewal(.unreachable)
                bench.passToNextAttempt()
            }
            bench.failRenewal(.unreachable)
            #expect(bench.facts.renewal.notBefore! - bench.now.wall < .seconds(600))
        }
    }

    @Test func `a pause that was over when the record was written does not begin again at a start with a wrong clock`()
    {
        var before = Bench.signedIn()
        before.renew()
        before.failRenewal(.unavailable(Unavailability("Too many requests", retryAfter: .seconds(60))))
        before.pass(.seconds(70))
        var bench = before.restarted(after: .seconds(600), clockSetBy: .seconds(-86_400), rebooted: true)

        // The intent is open, so the first attempts are refresh retries.
        for _ in 0..<2 {
            bench.failRenewal(.unreachable)
            bench.passToNextAttempt()
        }
        bench.failRenewal(.unreachable)
        #expect(bench.facts.renewal.notBefore! - bench.now.wall < .seconds(600))
    }

    @Test func `a pause that is demanded in answer to a refresh retry is honoured after the refresh retries`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(.lost)
        bench.passToAlarm()
        bench.failRenewal(.busyForAnHour)
        #expect(bench.machine.renewal.isRetryingRefresh)
        bench.passToAlarm()  // the late refresh retry, which is allowed
        #expect(bench.renewals.count == 1)
        bench.failRenewal(.unreachable)
        #expect(bench.failRenewals(for: .seconds(3_000), .unreachable) == 0)
    }

    @Test func `a pause that is demanded beside a lost answer is honoured after the refresh retries`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(.lostAndBusyForAnHour)
        bench.passToAlarm()
        bench.failRenewal(.unreachable)
        bench.passToAlarm()
        bench.failRenewal(.unreachable)
        #expect(bench.failRenewals(for: .seconds(3_000), .unreachable) == 0)
    }

    @Test func `a restart keeps a pause that is demanded beside an open intent, except for the refresh retries`() {
        var bench = Bench.signedIn()
        bench.renew()
        for _ in 0..<7 {
            bench.failRenewal(.lostAndBusyForAnHour)
            if bench.machine.renewal.isRetryingRefresh { bench.passToAlarm() }
        }
        #expect(bench.facts.renewal.notBefore! - bench.now.wall >= .seconds(3_600))
        #expect(
            bench.written.last.map { if case .session(let s) = $0.content { s.demandedUntil != nil } else { false } }
                == true
        )
        var after = bench.restarted(after: .seconds(60), rebooted: true)
        #expect(after.renewals.count == 1)  // the refresh retry
        after.failRenewal(.unreachable)
        #expect(after.failRenewals(for: .seconds(3_000), .unreachable) == 0)
    }

    @Test func `session renew in a demanded pause makes one attempt, and the pause continues`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(.busyForAnHour)
        bench.pass(.seconds(11))
        bench.renew()
        #expect(bench.renewals.count == 1)
        bench.failRenewal(.unreachable)
        #expect(bench.failRenewals(for: .seconds(3_000), .unreachable) == 0)
    }

    @Test func `session renew sends one request in ten seconds during a demanded pause, whatever handlers give`() {
        var bench = Bench.renewalDue(handlers: 1, 2, 3)
        bench.answerQuestion(.credential)
        bench.failRenewal(.busyForAnHour)
        bench.pass(.seconds(60))
        bench.renew()
        var sent = 0
        for _ in 0..<3 {
            if bench.renewals.isEmpty, !bench.questions.isEmpty { bench.answerQuestion(.credential) }
            guard !bench.renewals.isEmpty else { break }
            sent += 1
            bench.failRenewal(.answerRefused("The token has expired"))
        }
        #expect(sent == 1)
    }

    // MARK: A backoff that is longer than a demand for a second

    /// A session with a dead token, whose backoff is longer than 40 s. The provider demands a second each time.
    private func longBackoff() -> Bench {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        let busy = RenewalFailure.unavailable(Unavailability("It answered 503", retryAfter: .seconds(1)))
        for _ in 0..<100 {
            bench.failRenewal(busy)
            if bench.facts.renewal.notBefore! - bench.now.wall > .seconds(40) { break }
            bench.passToNextAttempt()
        }
        return bench
    }

    @Test func `a resume shortens the backoff that is longer than a demand`() {
        var bench = longBackoff()
        #expect(bench.renewals.isEmpty)
        bench.advance(by: .seconds(11))
        bench.stepWall(.zero)
        #expect(bench.renewals.count == 1)
    }

    @Test func `a caller with a dead token shortens the backoff that is longer than a demand`() {
        var bench = longBackoff()
        bench.pass(.seconds(11))
        let waiter = bench.token()
        #expect(bench.renewals.count == 1)
        #expect(bench.reply(to: waiter) == nil)
    }
}
