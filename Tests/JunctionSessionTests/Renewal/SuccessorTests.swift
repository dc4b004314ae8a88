import JunctionTesting
import Testing

@testable import JunctionSession

/// Renewals that bring a new refresh token and no usable access token.
struct SuccessorTests {

    @Test func `the new refresh token is written before any caller is notified that the renewal failed`() {
        var bench = Bench.signedIn()
        let present = bench.machine.servedSecrets
        let request = bench.renew()
        bench.holdsWrites = true
        bench.grantSuccessor()

        #expect(bench.reply(to: request) == nil)
        #expect(bench.machine.servedSecrets == present)
        #expect(bench.heldWrites.count == 1)
        #expect(bench.heldWrites.first?.secrets != present)

        let successor = bench.heldWrites.first?.secrets
        bench.endWrite()
        #expect(bench.refusal(of: request) == .providerUnavailable)
        #expect(bench.machine.servedSecrets == successor)
        #expect(bench.facts.renewal.phase == .backingOff)
        #expect(bench.facts.storage.durable)
    }

    @Test func `the access token is served while it is valid, and its generation stays`() {
        var bench = Bench.signedIn()
        let before = bench.reply { $0.token() }
        bench.renew()
        bench.grantSuccessor()

        #expect(bench.state == .established)
        #expect(bench.reply { $0.token() } == before)
    }

    @Test func `the next attempt waits for the backoff, and is not a refresh retry`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.grantSuccessor()
        #expect(bench.renewals.isEmpty)
        #expect(!bench.machine.renewal.isRetryingRefresh)

        bench.passToAlarm()
        #expect(bench.renewals.count == 1)
        bench.grantRenewal()
        #expect(bench.facts.renewal.phase == .scheduled)
        #expect(bench.facts.renewal.lastError == nil)
    }

    @Test func `callers that wait for a token get the failure`() {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        let waiting = bench.token()
        bench.grantSuccessor()

        #expect(bench.refusal(of: waiting) == .providerUnavailable)
        #expect(bench.state == .tokenExpired)
    }

    @Test func `a successor ends the refresh retries of the token that it replaced`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(.lost)
        #expect(bench.machine.renewal.isRetryingRefresh)
        bench.passToAlarm()
        bench.grantSuccessor()

        #expect(!bench.machine.renewal.isRetryingRefresh)
        #expect(!bench.machine.renewal.isOutcomeUnknown)
    }

    @Test func `a restart finds no renewal under way, and renews with the successor at once`() throws {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        bench.grantSuccessor()
        let record = try #require(bench.written.last)

        guard case .session(let stored) = record.content else {
            Issue.record("The record holds no session")
            return
        }
        #expect(!stored.renewalUnderWay)
        let restarted = Bench(at: bench.now, .restored(record, SessionSecrets(), damaged: nil))
        #expect(restarted.renewals.count == 1)
        #expect(!restarted.machine.renewal.isRetryingRefresh)
    }

    @Test func `a disk that refuses the successor does not lose it while the process lives`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.holdsWrites = true
        bench.grantSuccessor()
        let successor = bench.heldWrites.first?.secrets
        bench.endWrite(failure: StoreFailure("No space left on device"))

        #expect(bench.machine.servedSecrets == successor)
        #expect(!bench.facts.storage.durable)
        #expect(bench.facts.renewal.phase == .backingOff)
    }

    @Test func `a successor that a sign-out overtakes is revoked`() {
        var bench = Bench.signedIn()
        bench.renew()
        let attempt = bench.renewals[0]
        bench.signOut()
        bench.endRevocation()
        #expect(bench.revoked.count == 1)
        bench.fallShort(attempt)

        #expect(bench.state == .notLoggedIn)
        #expect(bench.revoked.count == 2)
    }

    @Test func `a verdict that comes while the successor is being written ends the session`() {
        var bench = Bench.signedIn()
        let generation = bench.machine.servedGeneration
        let request = bench.renew()
        bench.holdsWrites = true
        bench.grantSuccessor()
        bench.judge(Verdict(code: "400312", message: "Banned"), generation: generation)
        bench.endWrite()
        bench.endWrite()

        #expect(bench.state == .terminated)
        #expect(bench.reply(to: request) != nil)
    }

    @Test func `a successor of another user is not accepted`() {
        var bench = Bench.signedIn()
        let present = bench.machine.servedSecrets
        bench.renew()
        bench.fallShort(bench.renewals[0], of: "mallory")

        #expect(bench.machine.servedSecrets == present)
        #expect(bench.facts.userId == "alice")
    }

    @Test func `a handler's answer that brought a successor is not sent again, and the handlers are asked`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.renew()
        bench.answerQuestion(.credential)
        bench.grantSuccessor()
        let asked = bench.everAsked.count

        #expect(bench.machine.renewal.attemptToRepeat == nil)
        bench.passToAlarm()
        #expect(bench.everAsked.count == asked + 1)
        bench.answerQuestion(.renew)
        #expect(bench.renewals.count == 1)
    }

    @Test func `a clock that is set back does not make the old access token valid again`() throws {
        var bench = Bench.signedIn()
        let writtenAt = try #require(bench.written.last?.writtenAt)
        bench.stepWall(.seconds(-86_400))
        if bench.renewals.isEmpty { bench.renew() }
        bench.grantSuccessor()

        #expect(try #require(bench.written.last?.writtenAt) >= writtenAt)
    }

    @Test func `a successor is tried, also if reauthentication was pending`() {
        var bench = Bench.signedInByDevice()
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

    @Test func `a successor ends the hour after refusals without a reason`() {
        var why = Unavailability("auth.example answered 400")
        why.isUnexplainedRefusal = true
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(60))
        for _ in 0..<100 where !bench.facts.flags.contains(.pendingReauthentication) {
            if bench.renewals.isEmpty { bench.passToAlarm() }
            bench.failRenewal(.unavailable(why))
        }
        #expect(bench.facts.flags.contains(.pendingReauthentication))
        bench.pass(.seconds(11))
        bench.renew()
        bench.grantSuccessor()
        #expect(!bench.facts.flags.contains(.pendingReauthentication))
        bench.pass(RenewalPolicy.longestBackoff)
        #expect(bench.renewals.count == 1)
    }
}
