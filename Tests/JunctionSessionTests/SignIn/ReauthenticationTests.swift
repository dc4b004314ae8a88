import Testing

@testable import JunctionSession

/// A session whose provider demands a new credential.
struct ReauthenticationTests {
    @Test func `a session that needs reauthentication serves its token and makes no further call`() {
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

    @Test func `in automatic mode session renew makes no call while reauthentication is pending`() {
        var bench = Bench.pendingReauthentication()
        bench.pass(.seconds(11))
        #expect(bench.refusal { $0.renew() } == .reauthenticationRequired)
        #expect(bench.renewals.isEmpty)
    }

    @Test func `session renew repeats reauthenticationRequired for ten seconds without asking a handler`() {
        var bench = Bench.pendingReauthentication(mode: .handler)
        #expect(bench.facts.renewal.lastError?.hasPrefix("reauthenticationRequired: ") == true)
        let again = bench.renew()
        #expect(bench.refusal(of: again) == .reauthenticationRequired)
        #expect(bench.retryAfter(of: again) == .seconds(10))
        #expect(bench.everAsked.count == 1)
    }

    @Test func `a demand for reauthentication does not shorten the ten seconds of session renew`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.renew()
        bench.answerQuestion(.renew)
        bench.failRenewal(.lost)
        bench.pass(.seconds(2))
        bench.failRenewal(.reauthenticationRequired)
        let asked = bench.everAsked.count
        let request = bench.renew()
        #expect(bench.refusal(of: request) == .providerUnavailable)
        #expect(bench.retryAfter(of: request) == .seconds(8))
        #expect(bench.everAsked.count == asked)
    }

    @Test func `a demand for reauthentication closes the intent on disk`() throws {
        let bench = Bench.pendingReauthentication()
        let stored = try #require(bench.storedSession)
        #expect(stored.reauthenticationPending && !stored.renewalUnderWay)
        #expect(bench.reports.last?.renewalOutcome == .reauthenticationRequired)
    }

    @Test func `the refresh token of a device session is tried again only when a caller asks`() {
        var bench = Bench.signedInByDevice()
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        #expect(bench.facts.flags.contains(.pendingReauthentication))
        bench.pass(.seconds(7_200))
        #expect(bench.renewals.isEmpty && bench.state == .tokenExpired)

        let vain = bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        #expect(bench.refusal(of: vain) == .reauthenticationRequired)
        let soon = bench.renew()
        #expect(bench.renewals.isEmpty && bench.refusal(of: soon) == .reauthenticationRequired)
        bench.pass(.seconds(11))
        let healed = bench.renew()
        bench.grantRenewal()
        #expect(bench.reply(to: healed) == .done && bench.state == .established)
        #expect(!bench.facts.flags.contains(.pendingReauthentication))
    }

    @Test func `a transient failure leaves pendingReauthentication set and starts no timer`() {
        var bench = Bench.signedInByDevice()
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        bench.pass(.seconds(11))
        bench.renew()
        bench.failRenewal(.unavailable(Unavailability("No route to host")))
        #expect(bench.facts.flags.contains(.pendingReauthentication))
        bench.pass(.seconds(3_700))
        #expect(bench.renewals.isEmpty)
    }

    @Test func `a renewal in flight while reauthentication is pending is shown`() {
        var bench = Bench.pendingReauthentication(mode: .handler)
        bench.pass(.seconds(11))
        bench.renew()
        #expect(bench.questions.count == 1)
        #expect(bench.facts.renewal.phase == .inFlight)
        bench.answerQuestion(.credential)
        bench.failRenewal(.busy)
        #expect(bench.facts.renewal.phase == .backingOff)
        let before = bench.machine.nextAlarm(now: bench.now)
        bench.pass(.seconds(5))
        #expect(
            bench.renewals.count == 1,
            "the auth token is kept and never used again by itself; alarm \(String(describing: before))"
        )
    }

    @Test func `in handler mode session renew ends pendingReauthentication with a new auth token only`() {
        var bench = Bench.pendingReauthentication(mode: .handler)
        #expect(bench.facts.flags.contains(.pendingReauthentication))

        bench.pass(.seconds(10))
        let vain = bench.renew()
        bench.answerQuestion(.renew)
        #expect(bench.refusal(of: vain) == .reauthenticationRequired)
        #expect(bench.renewals.isEmpty)

        bench.pass(.seconds(10))
        let healing = bench.renew()
        bench.answerQuestion(.credential)
        bench.grantRenewal()
        #expect(bench.reply(to: healing) == .done)
        #expect(!bench.facts.flags.contains(.pendingReauthentication))
    }

    @Test func `the error of an earlier device sign-in does not hide why the session needs reauthentication`() {
        var bench = Bench.signedIn("alice")
        let request = bench.identify("ext-bob")
        bench.answer(request, .success(.device))
        bench.giveCodes()
        bench.passToPoll()
        bench.failPoll(.denied)
        #expect(bench.refusal(of: request) == .invalidCredential && bench.facts.renewal.lastError == nil)
        bench.pass(.seconds(60))
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        #expect(bench.facts.renewal.lastError?.hasPrefix("reauthenticationRequired: ") == true)
    }
}
