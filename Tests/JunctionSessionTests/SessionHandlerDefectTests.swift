import JunctionSecret
import JunctionTesting
import Synchronization
import Testing

@testable import JunctionSession

/// Every defect that was found in the renewal of the vendor's own SDKs (the table A3 of the facts), row by row, as a
/// test that we do not have it.
struct SessionHandlerDefectTests {
    // MARK: Handler called while a renewal is outstanding

    // MARK: renew() twice quickly

    // MARK: The app ignores the callback

    @Test func `A3 an app that ignores the question is asked again later, not never and not at once`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.pass(.seconds(60))
        #expect(bench.facts.renewal.phase == .postponed)
        bench.pass(.seconds(599))
        #expect(bench.everAsked.count == 1)
        bench.pass(.seconds(61))
        #expect(bench.everAsked.count == 2)
    }

    @Test func `A3 an app that ignored the question is also asked after the token has ended`() {
        var bench = Bench.renewalDue(handlers: 1, life: .seconds(600))
        bench.pass(.seconds(60))
        bench.pass(.seconds(660))
        #expect(bench.state == .tokenExpired)
        #expect(bench.everAsked.count == 2)
        #expect(bench.questions.last?.question.reason == .expired)
        bench.answerQuestion(.renew)
        bench.grantRenewal()
        #expect(bench.state == .established)
    }

    // MARK: unableToRetrieveAuthToken()

    @Test func `A3 unable does not pile up timers`() {
        var bench = Bench.renewalDue(handlers: 1, life: .seconds(864_000))
        for round in 1...10 {
            #expect(bench.everAsked.count == round)
            bench.answerQuestion(.unable)
            // One alarm, for the end of the postponement; nothing rings before it, and one question comes of it.
            #expect(bench.machine.nextAlarm(now: bench.now) == bench.facts.renewal.notBefore)
            bench.passToNextAttempt()
        }
        #expect(bench.everAsked.count == 11)
    }

    // MARK: "No sooner than 10 minutes"

    @Test func `A3 not sooner than ten minutes after unable, whatever rings, registers or asks`() {
        for seed in 0..<20 as Range<UInt64> {
            var bench = Bench.signedIn(life: .seconds(60), seed: seed, mode: .handler)
            bench.register(1)
            bench.pass(.seconds(61))
            bench.answerQuestion(.unable)
            for minute in 1..<10 {
                bench.pass(.seconds(60))
                bench.stepWall(.seconds(3_600))
                bench.register(UInt64(1 + minute))
                bench.token()
                bench.rejected(1)
            }
            bench.pass(.seconds(59))
            #expect(bench.everAsked.count == 1)
            bench.pass(.seconds(61))
            #expect(bench.everAsked.count == 2)
        }
    }

    // MARK: After logout

    @Test func `A3 a sign-out ends the schedule and the postponement: no handler is asked after it`() {
        var waiting = Bench.signedIn(mode: .handler)
        waiting.register(1)
        var postponed = Bench.renewalDue(handlers: 1)
        postponed.answerQuestion(.unable)
        for var bench in [waiting, postponed] {
            let asked = bench.everAsked.count
            bench.signOut()
            bench.endRevocation()
            #expect(bench.machine.nextAlarm(now: bench.now) == nil)
            bench.pass(.seconds(86_400))
            #expect(bench.everAsked.count == asked)
            #expect(bench.state == .notLoggedIn)
        }
    }

    // MARK: A proactive renewal fails (network)

    // MARK: A proactive renewal finds a ban

    // MARK: An expired renewal finds 400312 / 400100

    // MARK: An expired renewal, any other error

    @Test func `A3 an expired token is still renewed`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(120))
        #expect(bench.state == .tokenExpired)
        bench.register(1)
        #expect(bench.questions.last?.question.reason == .expired)
        bench.answerQuestion(.renew)
        bench.failRenewal(.unavailable(Unavailability("No network")))
        bench.pass(.seconds(2))
        bench.answerQuestion(.renew)
        bench.grantRenewal()
        #expect(bench.state == .established)
    }

    // MARK: Two sources of truth

    // MARK: Abort

    // MARK: Repeated login

    // MARK: Beside the table (A2: the first check comes after ten minutes)

}
