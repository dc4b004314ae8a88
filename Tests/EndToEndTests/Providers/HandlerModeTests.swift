import Foundation
import JunctionTesting
import Testing

/// Tests of `renewal.mode = "handler"` with Junction, which does not require it.
struct HandlerModeTests {
    @Test func `the answer renew lets the daemon use its refresh token`() throws {
        let installation = try Installation.junctionWithHandlers()
        let user = try installation.signInNewUser()
        let app = try RenewingApp(installation)
        let caller = try installation.connect()

        let renewal = try caller.request("session.renew")
        let question = try app.answer(["action": "renew"])

        #expect(try caller.answer(to: renewal).generation == 2)
        #expect(question["reason"] as? String == "requested")
        #expect(question["userId"] as? String == user)
        #expect(try installation.cloud.counter("refreshes") == 1)
    }

    @Test(.needsOtherUser)
    func `one user's silent handlers cost one question, then another user's handler is asked`()
        throws
    {
        let (installation, time) = try Installation.junctionWithHandlersAndTime(
            OtherUser.entry(allowing: "handle")
        )
        try installation.signInNewUser()
        let otherUser = try OtherUser(installation)
        try otherUser.openSocket()
        let other = try otherUser.start(["handle-renewals", "--exec", "cat >/dev/null; echo renew"])
        defer { other.signal(SIGKILL) }
        let caller = try installation.connect()
        while other.isRunning, try !caller.call("daemon.metrics").text.contains("junctiond_session_handlers 1\n") {}
        let idle = try (0..<15).map { _ in try RenewingApp(installation) }

        let renewal = try caller.request("session.renew")
        _ = try idle[14].question()
        time.advance(by: .seconds(60))
        #expect(try caller.answer(to: renewal).generation == 2)

        time.advance(by: .seconds(11))
        #expect(try caller.call("session.renew").generation == 3)
        for app in idle { #expect(try app.hasNoQuestion()) }
    }

    @Test func `session.renew reports that no handler is registered or none could help, and what to do`()
        throws
    {
        let installation = try Installation.junctionWithHandlers()
        try installation.signInNewUser()
        let nobody = try installation.ctl("renew")
        #expect(
            nobody.errors.contains("no session handler is registered. Register one (handler.register, or junctionctl")
        )
        #expect(nobody.errors.contains("(providerUnavailable)"))

        let refusal = try RenewingApp(installation).refusedRenewal(answering: ["action": "unableToRetrieveAuthToken"])

        #expect(refusal.kind == "providerUnavailable")
        #expect(refusal.message.contains("no session handler could help (1 was asked)"))
        let seconds = Int((refusal.retryAfter ?? 0).rounded(.up))
        #expect(refusal.message.contains("asked again in \(seconds) s"))
    }

    @Test func `without a handler an expired token is reported and session.renew fails`() throws {
        let installation = try Installation(
            accessTokenLifetime: 1,
            configuration: "[renewal]\nmode = \"handler\""
        )
        try installation.startDaemon()
        let user = try installation.signInNewUser()
        let waiting = try installation.awaitSnapshot { $0.state == "tokenExpired" }
        #expect(waiting.phase == "waitingForHandler")
        let client = try installation.connect()
        #expect(try client.refusal("token.get").kind == "tokenExpired")
        #expect(try client.refusal("session.renew").kind == "tokenExpired")
        #expect(try installation.cloud.counter("tokenRequests") == 1)
        try installation.restartDaemon()
        #expect(try installation.status().phase == "waitingForHandler")

        try installation.cloud.change(["accessTokenLifetime": 3_600])
        let question = try RenewingApp(installation).answer(["action": "renew"])

        #expect(question["reason"] as? String == "expired")
        #expect(question["userId"] as? String == user)
        #expect(try installation.awaitSnapshot { $0.state == "established" }.generation == 2)
        #expect(try installation.cloud.counter("refreshes") == 1)
    }

    @Test func `renew during a pending reauthentication needs no network, and a token clears it`() throws {
        let installation = try Installation.junctionWithHandlers()
        let user = try installation.signInNewUser()
        let token = try installation.token()
        let app = try RenewingApp(installation)
        try installation.cloud.drive("require-reauthentication", user)
        #expect(try app.refusedRenewal(answering: ["action": "renew"]).kind == "reauthenticationRequired")
        let calls = try installation.cloud.counter("tokenRequests")

        try installation.restartDaemon()
        let restarted = try installation.connect()
        let asked = try RenewingApp(installation)
        #expect(try asked.refusedRenewal(answering: ["action": "renew"]).kind == "reauthenticationRequired")
        // The daemon repeats the error for ten seconds without asking a handler.
        for _ in 0..<3 {
            let refusal = try restarted.refusal("session.renew")
            #expect(refusal.kind == "reauthenticationRequired")
            #expect((0...10).contains(refusal.retryAfter ?? -1))
        }
        #expect(try asked.hasNoQuestion())
        #expect(try installation.cloud.counter("tokenRequests") == calls)
        #expect(try installation.token() == token)

        try installation.restartDaemon()
        let healing: Object = [
            "action": "renewWithAuthToken", "authToken": try installation.cloud.signInToken(for: user),
        ]
        let snapshot = try RenewingApp(installation).renewal(answering: healing)
        #expect(!snapshot.flags.contains("pendingReauthentication"))
        #expect(snapshot.phase == "scheduled")
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }
}

extension [String: Any] {
    fileprivate var text: String { self["text"] as? String ?? "" }
}
