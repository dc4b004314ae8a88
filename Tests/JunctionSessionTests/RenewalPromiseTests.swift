import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// Each test says what a sentence of the normative pages wants, and fails for as long as the core does otherwise.
struct RenewalPromiseTests {
    // MARK: A postponement belongs to the mode that asks handlers

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
    }

    // MARK: A living token that is too short is busy (INTERFACE, Additions)

    @Test func `a living token that was just obtained is busy, not expired`() {
        var bench = Bench.signedIn(life: .seconds(20))
        bench.pass(.seconds(5))
        let request = bench.token(validFor: .seconds(16))
        #expect(bench.refusal(of: request) == .busy)
        #expect(bench.retryAfter(of: request) != nil)
    }

    @Test func `a living token while the renewal backs off is busy`() {
        var bench = Bench.signedIn()
        bench.pass(.seconds(2_900))
        #expect(bench.renewals.count == 1)
        bench.failRenewal(.busyForAnHour)
        let request = bench.token(validFor: .seconds(2_000))
        #expect(bench.state == .established)
        #expect(bench.refusal(of: request) == .busy)
        #expect(bench.retryAfter(of: request) != nil)
    }

    @Test func `a living token while the renewal is postponed is busy`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(2_900))
        bench.answerQuestion(.unable)
        #expect(bench.facts.renewal.phase == .postponed)
        let request = bench.token(validFor: .seconds(2_000))
        #expect(bench.state == .established)
        #expect(bench.refusal(of: request) == .busy)
        #expect(bench.retryAfter(of: request) != nil)
    }

    @Test func `a living token that a renewal just brought and that is too short is busy, with when to ask again`() {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(15))
        let request = bench.token(validFor: .seconds(47))
        #expect(bench.renewals.count == 1)
        let start = bench.now
        bench.now = Moment(wall: start.wall + .seconds(14), uptime: start.uptime + .seconds(14))
        let granted = bench.granted("alice", from: start)
        bench.perform(bench.machine.renewalSucceeded(bench.renewals[0], granted, now: bench.now))
        #expect(bench.state == .established)
        #expect(bench.refusal(of: request) == .busy)
        #expect(bench.retryAfter(of: request) != nil)
    }

    // MARK: A provider's demanded pause

    @Test func `a demand in answer to a replay is honoured once the replays are made`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(.lost)
        bench.passToAlarm()
        bench.failRenewal(.busyForAnHour)
        #expect(bench.machine.renewal.isReplaying)
        bench.passToAlarm()  // the late replay: it may be made
        #expect(bench.renewals.count == 1)
        bench.failRenewal(.unreachable)
        #expect(bench.failRenewals(for: .seconds(3_000), .unreachable) == 0)
    }

    @Test func `a demand beside an ambiguous outcome is honoured once the replays are made`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(.lostAndBusyForAnHour)
        bench.passToAlarm()
        bench.failRenewal(.unreachable)
        bench.passToAlarm()
        bench.failRenewal(.unreachable)
        #expect(bench.failRenewals(for: .seconds(3_000), .unreachable) == 0)
    }

    @Test func `a demand beside an open intent survives a restart, but for the replays`() {
        var bench = Bench.signedIn()
        bench.renew()
        for _ in 0..<7 {
            bench.failRenewal(.lostAndBusyForAnHour)
            if bench.machine.renewal.isReplaying { bench.passToAlarm() }
        }
        #expect(bench.facts.renewal.notBefore! - bench.now.wall >= .seconds(3_600))
        #expect(
            bench.written.last.map { if case .session(let s) = $0.content { s.demandedUntil != nil } else { false } }
                == true
        )
        var after = bench.restarted(after: .seconds(60), rebooted: true)
        #expect(after.renewals.count == 1)  // the replay
        after.failRenewal(.unreachable)
        #expect(after.failRenewals(for: .seconds(3_000), .unreachable) == 0)
    }

    @Test func `a session renew in a demanded pause is one attempt, and the pause goes on`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(.busyForAnHour)
        bench.pass(.seconds(11))
        bench.renew()
        #expect(bench.renewals.count == 1)
        bench.failRenewal(.unreachable)
        #expect(bench.failRenewals(for: .seconds(3_000), .unreachable) == 0)
    }

    // MARK: Replays

    @Test func `six replays in ten minutes, also over a demand for a new credential`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes()
        bench.passToPoll()
        bench.grantPoll()
        #expect(bench.state == .established)
        let began = bench.now.uptime
        var replays = 0
        bench.renew()
        for _ in 0..<40 where bench.now.uptime - began < .seconds(540) {
            while let tried = bench.renewals.last.flatMap({ bench.machine.renewal.sent($0)?.tried }) {
                if tried.isReplay { replays += 1 }
                bench.failRenewal(.lost)
            }
            if bench.machine.renewal.isReplaying { bench.passToAlarm() } else { break }
        }
        #expect(replays == 6)
        bench.pass(.seconds(11))
        while bench.renewals.isEmpty { bench.passToAlarm() }
        bench.failRenewal(.reauthenticationRequired)
        bench.pass(.seconds(11))
        bench.renew()
        bench.failRenewal(.lost)
        bench.pass(.seconds(2))
        for attempt in bench.renewals where bench.machine.renewal.sent(attempt)?.tried.isReplay == true { replays += 1 }
        #expect(bench.now.uptime - began < .seconds(600))
        #expect(replays == 6)
    }

    @Test func `a replay has to leave so that it arrives within 25 seconds`() {
        var bench = Bench.signedIn()
        bench.renew()
        let sent = bench.now.uptime
        bench.failRenewal(.lost)
        bench.passToAlarm()
        #expect(bench.machine.renewal.departure! - sent <= .seconds(25))
    }

    // MARK: A successor

    @Test func `a successor is tried, also while a new credential was wanted`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes()
        bench.passToPoll()
        bench.grantPoll()
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        bench.pass(.seconds(11))
        bench.renew()
        #expect(bench.renewals.count == 1)
        bench.grantSuccessor()
        bench.pass(.seconds(3_500))
        bench.pass(.seconds(7_200))
        #expect(bench.renewals.count == 1)
        #expect(bench.facts.renewal.phase != .none)
    }

    // MARK: Handlers

    @Test func `after unable no handler is asked for ten minutes, but by session renew itself`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(2_900))
        bench.answerQuestion(.unable)
        bench.pass(.seconds(30))
        bench.renew()
        #expect(bench.everAsked.count == 2)
        bench.answerQuestion(.renew)
        bench.failRenewal(.unreachable)
        bench.pass(.seconds(5))
        #expect(bench.everAsked.count == 2)
    }

    @Test func `a crash in a session renew does not end the ten minutes either`() {
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

    // MARK: Restarts and clocks

    @Test func `a token obtained less than ten seconds ago is not renewed early, after a restart either`() {
        let bench = Bench.signedIn(life: .seconds(20))
        var after = bench.restarted(after: .seconds(2), rebooted: true)
        after.pass(.seconds(3))
        after.token(validFor: .seconds(16))
        #expect(after.renewals.isEmpty)
    }

    @Test func `a token that is dead by the corrected clock is not handed to the provider as a living one`() {
        let first = OwnerBench().start().signIn()
        let restoration = first.store.restore()
        let bench = OwnerBench()
        // No clock of its own: it boots an hour before the record was written, though it was away for a day.
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

    // MARK: Verdicts

    @Test func `a verdict on an API key's user does not end the session of who replaces it meanwhile`() {
        var bench = Bench.withApiKey("alice")
        bench.holdsWrites = true
        bench.identify(switchingTo: "bob")
        #expect(bench.heldWrites.count == 1)
        // A call of alice leaves while bob's session is being written.
        let generation = bench.machine.servedGeneration
        #expect(bench.machine.identity?.userId == "alice")
        bench.holdsWrites = false
        bench.endWrite()
        #expect(bench.facts.userId == "bob")
        let verdict = Verdict(code: "400312", message: "alice is banned")
        bench.judge(verdict, generation: generation)
        #expect(bench.state == .established)
    }

    // MARK: A demand for a new credential

    /// The token is dead, the provider has said `invalid_grant`, and a caller has asked once more.
    private func askedAgain() -> Bench {
        var bench = Bench()
        bench.life = .seconds(60)
        bench.signIn(.device)
        bench.giveCodes()
        bench.passToPoll()
        bench.grantPoll()
        bench.pass(.seconds(61))
        bench.failRenewal(.reauthenticationRequired)
        bench.pass(.seconds(3_600))
        #expect(bench.renewals.isEmpty)
        return bench
    }

    @Test func `one refusal without a word does not make a presumption of the provider's own demand`() {
        var bench = askedAgain()
        let request = bench.renew()
        var unexplained = Unavailability("id.example answered 400")
        unexplained.isUnexplainedRefusal = true
        bench.failRenewal(.unavailable(unexplained))
        // "for ten minutes or longer without a reason" is not so.
        #expect(bench.message(of: request)?.contains("ten minutes") != true)
        // No further network until a new credential comes.
        #expect(bench.failRenewals(for: .seconds(86_400), .unavailable(unexplained)) == 0)
    }

}
