import Foundation
import JunctionTesting
import Testing

/// Tests of app-driven renewal with the built daemon and the sandbox's Junction.
struct HandlerEndToEndTests {
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

    @Test func `a new Sign-In Token from a handler clears a pending reauthentication`() throws {
        let installation = try Installation.junctionWithHandlers()
        let user = try installation.signInNewUser()
        try installation.cloud.drive("require-reauthentication", user)
        let app = try RenewingApp(installation)
        let caller = try installation.connect()
        let vain = try caller.request("session.renew")
        try app.answer(["action": "renew"])
        #expect(try caller.refusal(of: vain).kind == "reauthenticationRequired")

        // The daemon repeats the error for ten seconds without asking a handler. A restart is quicker than waiting.
        let repeated = try caller.refusal("session.renew")
        #expect(repeated.kind == "reauthenticationRequired")
        #expect((0...10).contains(repeated.retryAfter ?? -1))
        try installation.restartDaemon()
        let another = try RenewingApp(installation)
        let healer = try installation.connect()
        let healing = try healer.request("session.renew")
        try another.answer([
            "action": "renewWithAuthToken", "authToken": try installation.cloud.signInToken(for: user),
        ])

        #expect(try !healer.answer(to: healing).flags.contains("pendingReauthentication"))
    }

    @Test func `unable postpones by at least ten minutes, despite a restart and a reconnecting handler`() throws {
        let installation = try Installation.junctionWithHandlers()
        try installation.signInNewUser()
        let app = try RenewingApp(installation)
        let caller = try installation.connect()
        let renewal = try caller.request("session.renew")
        let began = Date()
        try app.answer(["action": "unableToRetrieveAuthToken"])

        let refusal = try caller.refusal(of: renewal)
        #expect(refusal.kind == "providerUnavailable")
        #expect((600...661).contains(refusal.retryAfter ?? 0))
        try installation.restartDaemon()
        let again = try RenewingApp(installation)
        let snapshot = try installation.connect().call("session.status")

        #expect(snapshot.renewal["phase"] as? String == "postponed")
        let time = try #require(snapshot.renewal["notBefore"] as? String)
        let notBefore = try Date(
            time,
            strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: time.contains("."))
        )
        #expect(notBefore >= began.addingTimeInterval(599))
        #expect(!again.client.socket.hasInput)
    }

    @Test func `a user's latest handler is asked first, and the next round asks the earlier one if it has died`() throws
    {
        let (installation, time) = try Installation.junctionWithHandlersAndTime()
        try installation.signInNewUser()
        let first = try RenewingApp(installation)
        var second: RenewingApp? = try RenewingApp(installation)
        let caller = try installation.connect()
        let vain = try caller.request("session.renew")
        _ = try second?.client.question()
        second = nil
        #expect(try caller.refusal(of: vain).kind == "providerUnavailable")
        time.advance(by: .seconds(11))

        let renewal = try caller.request("session.renew")
        try first.answer(["action": "renew"])

        #expect(try caller.answer(to: renewal).generation == 2)
    }

    @Test(
        .enabled("only root can act as another user") { geteuid() == 0 },
        .enabled("setpriv is not installed") { SystemPrograms.has(SystemPrograms.setpriv) }
    )
    func `one user's silent handlers cost one question, then another user's handler is asked`()
        throws
    {
        let (installation, time) = try Installation.junctionWithHandlersAndTime(
            "[[access]]\nallow = [\"handle\"]\nuser = \"\(OtherUser.name)\""
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

    @Test func `an answer after a sign-out signs no user in`() throws {
        let installation = try Installation.junctionWithHandlers()
        try installation.signInNewUser()
        let app = try RenewingApp(installation)
        let caller = try installation.connect()
        let renewal = try caller.request("session.renew")
        let question = try app.client.question()

        try installation.connect().call("session.signOut")
        try app.client.reply(to: question.identifier, ["action": "renew"])

        #expect(try caller.refusal(of: renewal).kind == "notSignedIn")
        #expect(try installation.connect().call("session.status").state == "notLoggedIn")
        #expect(try installation.cloud.counter("refreshes") == 0)
    }

    @Test func `without a handler a due renewal waits, and begins when one registers`() throws {
        let installation = try Installation(accessTokenLifetime: 2)
        installation.configuration = "[renewal]\nmode = \"handler\""
        try installation.startDaemon()
        try installation.signInNewUser()
        try installation.awaitSnapshot { $0.renewal["phase"] as? String == "waitingForHandler" }

        let app = try RenewingApp(installation)
        try app.answer(["action": "renew"])

        try installation.awaitSnapshot { $0.generation == 2 }
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

        let app = try RenewingApp(installation)
        let caller = try installation.connect()
        let renewal = try caller.request("session.renew")
        try app.answer(["action": "unableToRetrieveAuthToken"])

        let refusal = try caller.refusal(of: renewal)
        #expect(refusal.kind == "providerUnavailable")
        #expect(refusal.message.contains("no session handler could help (1 was asked)"))
        let seconds = Int((refusal.retryAfter ?? 0).rounded(.up))
        #expect(refusal.message.contains("asked again in \(seconds) s"))
    }

    @Test func `handle-renewals answers with the output of its command`() throws {
        let installation = try Installation.junctionWithHandlers()
        try installation.signInNewUser()
        let handler = try Program(
            "junctionctl",
            ["--socket", installation.socket, "handle-renewals", "--exec", "cat >/dev/null; echo renew"],
            in: installation.folder
        )
        defer { handler.signal(SIGKILL) }
        let caller = try installation.connect()
        while handler.isRunning, try !caller.call("daemon.metrics").text.contains("junctiond_session_handlers 1\n") {}

        #expect(try caller.call("session.renew").generation == 2)
    }
}

extension [String: Any] {
    fileprivate var text: String { self["text"] as? String ?? "" }
}
