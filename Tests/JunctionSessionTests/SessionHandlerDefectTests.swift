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

    // MARK: unableToRetrieveAuthToken()

    // MARK: "No sooner than 10 minutes"

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

    // MARK: Two sources of truth

    // MARK: Abort

    // MARK: Repeated login

    // MARK: Beside the table (A2: the first check comes after ten minutes)

}
