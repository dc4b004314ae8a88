import Foundation
import JunctionTesting
import Testing

/// Tests of the postponement after `unableToRetrieveAuthToken`: `renewal.notBefore`, and the exceptions from it.
struct PostponementTests {
    private let login: Object = ["scheme": "userLogin", "userId": "anna"]

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

    /// Creates an installation with a postponed renewal and an expired token. Without the postponement the daemon would
    /// ask a handler at once.
    private func postponedAndExpired() throws -> Installation {
        let installation = try Installation.social(accessTokenLifetime: 2)
        try installation.connect().call("session.signIn", login)
        try RenewingApp(installation).answer(["action": "unableToRetrieveAuthToken"])
        try installation.awaitSnapshot { $0.state == "tokenExpired" && $0.phase == "postponed" }
        return installation
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

    @Test func `a reconnected or new handler is not asked, before and after a restart`() throws {
        let installation = try postponedAndExpired()
        let first = try RenewingApp(installation)
        #expect(try first.hasNoQuestion())

        try installation.restartDaemon()

        let (second, third) = (try RenewingApp(installation), try RenewingApp(installation))
        try second.client.call("handler.unregister")
        try second.client.call("handler.register")
        #expect(try second.hasNoQuestion())
        #expect(try third.hasNoQuestion())
        #expect(try installation.status().phase == "postponed")
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
        let another = try RenewingApp(installation)
        let patient = try installation.connect()

        let renewal = try patient.request("session.renew")
        try another.answer(["action": "renewWithAuthToken", "authToken": installation.registrationToken(for: "anna")])
        // The new registration is unlimited, so no renewal is due.
        #expect(try patient.answer(to: renewal).generation == 2)
        #expect(try installation.status().phase == "none")
        // The record does not contain the postponement any more.
        try installation.restartDaemon()
        #expect(try installation.status().phase == "none")
    }

    @Test func `a sign-in that no handler could complete postpones nothing`() throws {
        let installation = try Installation.sinch()
        let app = try RenewingApp(installation)
        let caller = try installation.connect()
        let wish: Object = ["scheme": "registration", "userId": "anna"]

        let vain = try caller.request("session.signIn", wish)
        try app.answer(["action": "unableToRetrieveAuthToken"])
        #expect(try caller.refusal(of: vain).kind == "providerUnavailable")

        let signIn = try caller.request("session.signIn", wish)
        let token = try installation.registrationToken(for: "anna")
        try app.answer(["action": "renewWithAuthToken", "authToken": token])
        #expect(try caller.answer(to: signIn).state == "established")
    }

    @Test func `a sign-in after a sign-out asks a handler at once`() throws {
        let (installation, _) = try postponed()
        let app = try RenewingApp(installation)
        try installation.signOut()
        let caller = try installation.connect()

        let signIn = try caller.request("session.signIn", ["scheme": "registration", "userId": "anna"])
        let token = try installation.registrationToken(for: "anna")
        let question = try app.answer(["action": "renewWithAuthToken", "authToken": token])

        #expect(question["reason"] as? String == "missing")
        #expect(try caller.answer(to: signIn).phase == "none")
    }

    @Test func `a sign-in ends a postponement and a pending reauthentication`() throws {
        let installation = try Installation.junctionWithHandlers()
        let user = try installation.signInNewUser()
        try installation.cloud.drive("require-reauthentication", user)
        for answer in ["renew", "unableToRetrieveAuthToken"] {
            try installation.restartDaemon()
            let app = try RenewingApp(installation)
            let caller = try installation.connect()
            let renewal = try caller.request("session.renew")
            try app.answer(["action": answer])
            _ = try caller.refusal(of: renewal)
        }
        #expect(try installation.status().flags.contains("pendingReauthentication"))

        let snapshot = try installation.signIn(user)

        #expect(!snapshot.flags.contains("pendingReauthentication"))
        #expect(snapshot.phase == "scheduled")
        try installation.restartDaemon()
        #expect(try installation.status().phase == "scheduled")
    }

    @Test func `a sign-in renews a postponed session with an expired token`() throws {
        let installation = try postponedAndExpired()
        try installation.cloud.change(["accessTokenLifetime": 3_600])

        let snapshot = try installation.connect().call("session.signIn", login)

        #expect(snapshot.state == "established")
        #expect(snapshot.generation == 2)
        #expect(snapshot.phase == "scheduled")
    }
}
