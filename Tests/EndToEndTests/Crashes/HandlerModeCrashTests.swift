import Foundation
import JunctionTesting
import Testing

/// Kills the daemon during rotations that a session handler allowed. The daemon sends the same request again without
/// asking a handler.
@Suite struct HandlerModeCrashTests {
    @Test(arguments: RotationCrashTests.points)
    func `a rotation that a handler allowed is completed without any handler`(
        point: RotationCrashTests.Point
    ) throws {
        let installation = try Installation.junctionWithHandlers()
        let user = try installation.signInNewUser()
        try installation.restartDaemon(["JUNCTIOND_CRASH_POINT": point.testDescription])
        let allowing = try AnsweringApp(installation, "renew")
        try installation.renewAndDie()
        #expect(allowing.questions == 1)

        try installation.startDaemon()
        let restored = try installation.status()
        let token = try installation.token()
        let settled = try installation.awaitSnapshot { $0.generation == 2 }

        for snapshot in [restored, settled] {
            #expect(snapshot.userId == user)
            #expect(snapshot.state == "established")
            #expect(snapshot.isDurable)
        }
        if point.isDone { #expect(restored.generation == 2) }
        #expect(try installation.cloud.owner(of: token) == user)
        let app = try AnsweringApp(installation, "renew")
        #expect(try installation.owners() == .all(user))
        #expect(app.questions == 1)
        let counters = try installation.cloud.counters()
        #expect(counters.integer("familyRevocations") == 0)
        #expect(counters.integer("replays") == (point.isReplayed ? 1 : 0))
        #expect(counters.integer("refreshes") == (point.isReplayed ? 3 : 2))
    }

    @Test func `a lost answer is replayed after the handler that allowed the rotation has gone`() throws {
        let installation = try Installation.junctionWithHandlers()
        let user = try installation.signInNewUser()
        try installation.cloud.fault(["drop": "after", "times": 1])
        do {
            let app = try RenewingApp(installation)
            let caller = try installation.connect()
            let renewal = try caller.request("session.renew")
            try app.answer(["action": "renew"])
            try app.client.call("handler.unregister")
            #expect(try caller.refusal(of: renewal).kind == "providerUnavailable")
        }

        try installation.awaitSnapshot { $0.generation == 2 }

        let app = try AnsweringApp(installation, "renew")
        #expect(try installation.owners() == .all(user))
        #expect(app.questions == 1)
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }
}
