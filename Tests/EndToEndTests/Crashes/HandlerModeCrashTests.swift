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

    @Test func `a request in progress at a kill is replayed at once, even after a handler was unable`() throws {
        // The grace is longer than the test, so the first refresh token can be sent again.
        let installation = try Installation(rotationGrace: 3_600, configuration: "[renewal]\nmode = \"handler\"")
        let time = try ShiftedTime(installation)
        try installation.startDaemon()
        let user = try installation.signInNewUser()
        let caller = try installation.connect()
        // The provider carries out the first request and its answer is lost. The next requests are lost before they
        // arrive.
        try installation.cloud.fault(["drop": "after", "times": 1])
        try installation.cloud.fault(["drop": "before"])
        do {
            let app = try AnsweringApp(installation, "renew")
            #expect(try caller.refusal("session.renew").kind == "providerUnavailable")
            app.change(to: "unableToRetrieveAuthToken")
            // The daemon makes one attempt in ten seconds. Replays ask no handler.
            for _ in 0..<20 where app.questions == 1 {
                time.advance(by: .seconds(11))
                _ = try caller.refusal("session.renew")
            }
            try app.catchUp()

            app.change(to: "renew")
            try installation.cloud.clearFaults()
            try installation.cloud.fault(["hang": true])
            time.advance(by: .seconds(11))
            _ = try caller.request("session.renew")
            try installation.cloud.wait(for: "hanging")
        }
        let generation = try #require(try installation.status().generation)
        try installation.killDaemon()
        try installation.cloud.clearFaults()

        try installation.startDaemon()
        try installation.awaitSnapshot { ($0.generation ?? 0) > generation }

        let app = try AnsweringApp(installation, "renew")
        #expect(try installation.owners() == .all(user))
        #expect(app.questions == 1)
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }
}
