import Testing

@testable import JunctionSession

/// A refresh request whose answer was lost is sent again within the provider's grace.
struct RefreshRetryTests {
    @Test func `a lost answer is retried within two seconds, once more inside the grace, then by the backoff`() {
        for seed in 0..<100 {
            var bench = Bench.signedIn(seed: UInt64(seed))
            bench.renew()
            let sent = bench.now.uptime

            bench.failRenewal(.lost)
            let first = bench.facts.renewal.notBefore! - bench.now.wall
            #expect(first <= .seconds(2))
            bench.pass(first)
            #expect(bench.renewals.count == 1)

            // The 503 refuses only the refresh retry. The outcome of the first request is still unknown.
            bench.failRenewal(.busy)
            bench.passToNextAttempt()
            let second = bench.now.uptime - sent
            #expect(second >= .seconds(16) && second <= .seconds(20))
            #expect(bench.renewals.count == 1)

            bench.failRenewal(.busy)
            #expect(bench.facts.renewal.notBefore! - bench.now.wall <= .seconds(8))
            #expect(!bench.machine.renewal.isRetryingRefresh)
        }
    }

    @Test func `a lost answer after many 503s is retried within two seconds`() {
        for seed in 0..<50 {
            var bench = Bench.signedIn(life: .seconds(60), seed: UInt64(seed))
            bench.pass(.seconds(61))
            for _ in 0..<8 {
                bench.failRenewal(.busy)
                bench.passToNextAttempt()
            }
            bench.failRenewal(.lost)
            #expect(bench.facts.renewal.notBefore! - bench.now.wall <= .seconds(2))
        }
    }

    @Test func `each lost answer allows new refresh retries, six in ten minutes at most`() {
        for seed in 0..<50 {
            var bench = Bench.signedIn(life: .seconds(600), seed: UInt64(seed))
            bench.renew()
            for _ in 0..<6 {
                bench.failRenewal(.lost)
                let delay = bench.facts.renewal.notBefore! - bench.now.wall
                #expect(bench.machine.renewal.isRetryingRefresh)
                #expect(delay <= .seconds(2))
                bench.pass(delay)
                #expect(bench.renewals.count == 1)
            }
            bench.failRenewal(.lost)
            #expect(!bench.machine.renewal.isRetryingRefresh)

            // Ten minutes later the window opens again.
            bench.now.uptime = bench.now.uptime + .seconds(601)
            bench.pass(.seconds(600))
            bench.failRenewal(.lost)
            #expect(bench.machine.renewal.isRetryingRefresh)
        }
    }

    @Test func `a lost answer followed by 503s allows two refresh retries`() {
        for seed in 0..<50 {
            var bench = Bench.signedIn(seed: UInt64(seed))
            bench.renew()
            bench.failRenewal(.lost)
            var refreshRetries = 0
            while bench.machine.renewal.isRetryingRefresh {
                refreshRetries += 1
                bench.passToNextAttempt()
                bench.failRenewal(.busy)
            }
            #expect(refreshRetries == 2)
        }
    }

    @Test func `every refresh retry arrives within thirty seconds, however slow the answers are`() {
        for seed in 0..<200 as Range<UInt64> {
            var bench = Bench.signedIn(seed: seed)
            var random = Randomness(seed: seed)
            bench.renew()
            let sent = bench.now.uptime
            var isAmbiguous = true
            var inside = 0
            for _ in 0..<2 {
                bench.pass(random.uniform(in: .zero...(.seconds(10))))
                bench.failRenewal(isAmbiguous ? .lost : .busy)
                guard bench.machine.renewal.isRetryingRefresh else { break }
                bench.passToNextAttempt()
                #expect(bench.renewals.count == 1)
                if bench.now.uptime - sent <= .seconds(25) { inside += 1 }
                isAmbiguous = random.next() % 2 == 0
            }
            #expect(inside >= 1)
            if inside == 1 { #expect(bench.now.uptime - sent >= .seconds(14)) }
        }
    }

    @Test func `a refresh retry has a send deadline within 25 seconds`() {
        var bench = Bench.signedIn()
        bench.renew()
        let sent = bench.now.uptime
        bench.failRenewal(.lost)
        bench.passToAlarm()
        #expect(bench.machine.renewal.sendDeadline! - sent <= .seconds(25))
    }

    @Test func `Retry-After does not delay a refresh retry`() {
        var bench = Bench.signedIn()
        bench.renew()
        let sent = bench.now.uptime
        let asked = Unavailability("It answered 502", retryAfter: .seconds(600), ambiguous: true)
        bench.failRenewal(.unavailable(asked))
        #expect(bench.facts.renewal.notBefore! - bench.now.wall <= .seconds(2))
        bench.pass(.seconds(2))
        bench.failRenewal(.unavailable(Unavailability("It answered 503", retryAfter: .seconds(600))))
        bench.passToNextAttempt()
        #expect(bench.renewals.count == 1)
        #expect(bench.now.uptime - sent <= .seconds(24))
        // The window is closed, so the provider's Retry-After applies.
        bench.failRenewal(.unavailable(Unavailability("It answered 503", retryAfter: .seconds(600))))
        #expect(bench.facts.renewal.notBefore! - bench.now.wall >= .seconds(600))
    }

    @Test func `in handler mode a refresh retry asks no handler`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(3_000))
        bench.answerQuestion(.renew)
        bench.unregister(1)
        bench.failRenewal(.lost)
        bench.pass(.seconds(2))
        #expect(bench.renewals.count == 1)
        #expect(bench.everAsked.count == 1)
    }

    @Test func `a refused refresh retry asks the handlers, and their answer is not a refresh retry`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.renew)
        bench.failRenewal(.unavailable(Unavailability("Lost", ambiguous: true)))
        bench.pass(.seconds(2))
        bench.failRenewal(.answerRefused("The registration is gone"))
        #expect(bench.questions.last?.question.reason == .expiring)
        bench.answerQuestion(.credential)
        bench.failRenewal(.unavailable(Unavailability("Busy")))
        #expect(!bench.machine.renewal.isRetryingRefresh)
        #expect(bench.machine.renewal.attemptToRepeat != nil)
    }

    @Test func `an auth token of a handler is sent again after the backoff, not by a refresh retry`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(3_000))
        bench.answerQuestion(.credential)
        bench.failRenewal(.unavailable(Unavailability("Lost", retryAfter: .seconds(300), ambiguous: true)))
        #expect(!bench.machine.renewal.isRetryingRefresh)
        #expect(bench.facts.renewal.notBefore! - bench.now.wall >= .seconds(300))
        bench.pass(.seconds(331))
        #expect(bench.everAsked.count == 1)
        #expect(bench.renewals.count == 1)
    }

    @Test(arguments: [Scheme.userLogin, .registration, .registrationSignature])
    func `a session without a refresh token has no refresh retry`(scheme: Scheme) throws {
        var bench = Bench(mode: .handler)
        bench.register(1)
        bench.signIn(CredentialFacts(scheme: scheme, subject: .user(.user("alice"))))
        bench.grantExchange(scheme: scheme)
        bench.renew()
        bench.answerQuestion(.renew)
        #expect(try #require(bench.storedSession).intentCannotBeResent)
        bench.failRenewal(.lost)
        #expect(!bench.machine.renewal.isRetryingRefresh)
        #expect(bench.facts.renewal.phase == .backingOff)
    }

    @Test func `a caller does not use up the last refresh retry before the outage is over`() {
        var closed = 0
        for seed in 0..<100 as Range<UInt64> {
            var bench = Bench.signedIn(life: .seconds(60), seed: seed)
            bench.pass(.seconds(61))
            for _ in 0..<8 {
                bench.failRenewal(.busy)
                bench.passToNextAttempt()
            }
            let sent = bench.now.uptime
            bench.failRenewal(.lost)
            bench.passToNextAttempt()
            bench.failRenewal(.busy)
            bench.pass(.seconds(10))
            bench.token()
            guard bench.renewals.count == 1 else { continue }
            let at = bench.now.uptime
            bench.failRenewal(.busy)
            // The window of 25 s is closed 12 s after the first send time.
            let delay = bench.facts.renewal.notBefore! - bench.now.wall
            if bench.now.uptime - sent < .seconds(13), (at + delay) - sent > .seconds(25) { closed += 1 }
        }
        #expect(closed == 0)
    }

    @Test func `a grant for another user is ambiguous and causes a refresh retry`() {
        var bench = Bench.signedIn()
        bench.renew()
        for _ in 0..<8 where !bench.renewals.isEmpty {
            bench.failRenewal(.busy)
            bench.passToNextAttempt()
        }
        bench.grantLate(bench.renewals[0], of: "bob")
        #expect(bench.machine.renewal.isRetryingRefresh)
        #expect(bench.facts.renewal.notBefore! - bench.now.wall <= .seconds(2))
    }

    @Test func `at most six refresh retries leave in ten minutes, also across a demand for reauthentication`() {
        var bench = Bench.signedInByDevice()
        #expect(bench.state == .established)
        let began = bench.now.uptime
        var refreshRetries = 0
        bench.renew()
        for _ in 0..<40 where bench.now.uptime - began < .seconds(540) {
            while let tried = bench.renewals.last.flatMap({ bench.machine.renewal.sent($0) }) {
                if tried.isRefreshRetry { refreshRetries += 1 }
                bench.failRenewal(.lost)
            }
            if bench.machine.renewal.isRetryingRefresh { bench.passToAlarm() } else { break }
        }
        #expect(refreshRetries == 6)
        bench.pass(.seconds(11))
        while bench.renewals.isEmpty { bench.passToAlarm() }
        bench.failRenewal(.reauthenticationRequired)
        bench.pass(.seconds(11))
        bench.renew()
        bench.failRenewal(.lost)
        bench.pass(.seconds(2))
        for attempt in bench.renewals where bench.machine.renewal.sent(attempt)?.isRefreshRetry == true {
            refreshRetries += 1
        }
        #expect(bench.now.uptime - began < .seconds(600))
        #expect(refreshRetries == 6)
    }

    @Test func `a grant settles a lost answer, and the next refusal closes the intent`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(.lost)
        bench.passToAlarm()
        bench.grantRenewal()

        bench.renew()
        bench.failRenewal(.busy)

        #expect(bench.storedIntent() == false)
    }

    @Test func `a 503 to a refresh retry leaves the intent open while another is to come`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(.unavailable(Unavailability("Lost", ambiguous: true)))
        bench.pass(.seconds(2))
        bench.failRenewal(.unavailable(Unavailability("Busy")))
        #expect(bench.machine.renewal.isRetryingRefresh)
        #expect(bench.storedIntent() == true)
    }

    @Test func `a lost answer leaves the intent open, also when no refresh retry is left`() {
        var bench = Bench.signedIn()
        bench.renew()
        for _ in 0..<7 {
            bench.failRenewal(.unavailable(Unavailability("Lost", ambiguous: true)))
            if bench.machine.renewal.isRetryingRefresh { bench.passToNextAttempt() }
        }
        #expect(!bench.machine.renewal.isRetryingRefresh)
        #expect(bench.storedIntent() == true)
    }

    @Test
    func `after a restart an open intent is retried at once, and once more inside the grace of the record's time`() {
        for seed in 0..<50 as Range<UInt64> {
            var bench = Bench.signedIn(seed: seed)
            bench.renew()
            let record = bench.written.last!
            var later = bench.now
            later = Moment(wall: later.wall + .seconds(5), uptime: Uptime(milliseconds: 2_000))
            var restarted = Bench(seed: seed, at: later, .restored(record, SessionSecrets(), damaged: nil))
            #expect(restarted.renewals.count == 1)
            restarted.failRenewal(.busy)
            restarted.passToNextAttempt()
            #expect(restarted.renewals.count == 1)
            #expect(restarted.now.wall - record.writtenAt <= .seconds(24))
            #expect(restarted.now.wall - record.writtenAt >= .seconds(15))
        }
    }

    @Test func `after a restart a refresh token is retried, and a handler is asked again for its answer`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.renew)
        let retried = bench.restarted(mode: .handler)
        #expect(retried.renewals.count == 1)

        bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.credential)
        var asking = bench.restarted(mode: .handler)
        #expect(asking.renewals.isEmpty)
        asking.register(1)
        #expect(asking.questions.count == 1)
    }
}
