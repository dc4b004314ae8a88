import Foundation
import JunctionTesting
import Testing

/// Tests of the postponement after `unableToRetrieveAuthToken`: `renewal.notBefore`, and the exceptions from it.
struct UnableHandlerTests {
    /// Creates an installation whose only handler was unable, and returns the time of the answer.
    private func postponed() throws -> (Installation, from: Date) {
        let installation = try Installation.sinch()
        let caller = try installation.connect()
        try caller.call("session.signIn", installation.registration(of: "anna"))
        let app = try RenewingApp(installation)
        let renewal = try caller.request("session.renew")
        let question = try app.question()
        let from = Date()
        try app.client.reply(to: question.identifier, ["action": "unableToRetrieveAuthToken"])
        _ = try caller.refusal(of: renewal)
        return (installation, from)
    }

    @Test func `unable postpones by 600 to 661 s, and a kill and a restart change nothing`() throws {
        let (installation, from) = try postponed()
        let before = try installation.status()
        #expect(before.state == "established")
        #expect(before.phase == "postponed")
        let notBefore = try #require(before.renewal.time("notBefore"))
        #expect((600...661).contains(notBefore.timeIntervalSince(from)))

        try installation.restartDaemon()

        let after = try installation.status()
        #expect(after.state == "established")
        #expect(after.phase == "postponed")
        // The daemon reads its two clocks one after the other, so the times may differ by milliseconds.
        let afterRestart = try #require(after.renewal.time("notBefore"))
        #expect(abs(afterRestart.timeIntervalSince(notBefore)) < 1)
    }

    @Test func `session.renew asks a handler at once, and a success ends the postponement`() throws {
        let (installation, _) = try postponed()
        try installation.restartDaemon()
        let app = try RenewingApp(installation)
        let caller = try installation.connect()

        let again = try caller.request("session.renew")
        let question = try app.answer(["action": "unableToRetrieveAuthToken"])
        #expect(question["reason"] as? String == "requested")
        #expect((600...661).contains(try caller.refusal(of: again).retryAfter ?? 0))
        #expect(try installation.status().phase == "postponed")
        // After a failure the daemon makes one attempt in ten seconds. A new process has no failure.
        #expect((0...10).contains(try caller.refusal("session.renew").retryAfter ?? -1))
        try installation.restartDaemon()

        let token = try installation.registrationToken(for: "anna")
        let answer: Object = ["action": "renewWithAuthToken", "authToken": token]
        #expect(try RenewingApp(installation).renewal(answering: answer).generation == 2)
        // The new registration is unlimited, so no renewal is due.
        #expect(try installation.status().phase == "none")
        // The record does not contain the postponement any more.
        try installation.restartDaemon()
        #expect(try installation.status().phase == "none")
    }

    @Test func `a sign-in ends a postponement and a pending reauthentication`() throws {
        let installation = try Installation.junctionWithHandlers()
        let user = try installation.signInNewUser()
        try installation.cloud.drive("require-reauthentication", user)
        for answer in ["renew", "unableToRetrieveAuthToken"] {
            try installation.restartDaemon()
            try RenewingApp(installation).refusedRenewal(answering: ["action": answer])
        }
        #expect(try installation.status().flags.contains("pendingReauthentication"))

        let snapshot = try installation.signIn(user)

        #expect(!snapshot.flags.contains("pendingReauthentication"))
        #expect(snapshot.phase == "scheduled")
        try installation.restartDaemon()
        #expect(try installation.status().phase == "scheduled")
    }
}
