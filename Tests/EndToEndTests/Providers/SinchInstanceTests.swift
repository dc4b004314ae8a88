import Foundation
import JunctionTesting
import Testing

/// Tests of limited Sinch registrations (`sinch:rtc:instance:exp`) and of registrations without a credential.
struct SinchInstanceTests {
    private static let twoDays = 172_800

    @Test func `a limited registration ends its session, and its extension is due after 50 to 80 % of it`()
        throws
    {
        let installation = try Installation.sinch()

        let snapshot = try installation.connect().call("session.signIn", limited("anna", installation))

        let token = try #require(snapshot["accessToken"] as? Object)
        let (from, end) = (try #require(token.time("issuedAt")), try #require(token.time("expiresAt")))
        let instance = try #require(try installation.instances().first)
        // The daemon knows the service's clock only from the `Date` header, which has whole seconds.
        #expect(abs(end.timeIntervalSince(try #require(instance.time("expiresAt")))) < 3)
        #expect(abs(end.timeIntervalSince(from) - Double(Self.twoDays)) < 60)
        let due = try #require(snapshot.renewal.time("notBefore"))
        #expect(snapshot.phase == "scheduled")
        #expect((0.5...0.8).contains(due.timeIntervalSince(from) / end.timeIntervalSince(from)))
    }

    @Test func `the extension of a limited registration is requested before it ends`() throws {
        let (installation, time) = try installationWithTime()
        try installation.connect().call("session.signIn", limited("anna", installation))
        let app = try RenewingApp(installation)
        try installation.answerOnce(endingIn: 300)
        let end = try #require(try installation.renew(app, [:]).tokenEnd)

        // After 80 % of the registration, and before its end.
        time.advance(by: .seconds(250))
        let question = try app.question()

        // The daemon chooses the reason by its own clock: it asked before the end.
        #expect(question.params["reason"] as? String == "expiring")
        #expect(question.params.time("expiresAt") == end)
        let token = try installation.registrationToken(for: "anna", ["instanceTtl": Self.twoDays])
        try app.client.reply(to: question.identifier, ["action": "renewWithAuthToken", "authToken": token])
        let extended = try installation.awaitSnapshot { $0.generation == 3 }
        #expect(try #require(extended.tokenEnd) > end.addingTimeInterval(86_400))
        // The service extended the same instance.
        #expect(try installation.instances().map { $0.integer("refreshes") } == [1])
    }

    @Test func `a limited registration can be extended and never becomes unlimited`() throws {
        let installation = try Installation.sinch()
        let first = try installation.connect().call("session.signIn", limited("anna", installation))
        let end = try #require(first.tokenEnd)
        let app = try RenewingApp(installation)

        let unlimited = try installation.renew(app, [:])
        #expect(unlimited.generation == 2)
        #expect(abs(try #require(unlimited.tokenEnd).timeIntervalSince(end)) < 3)

        // An answer without an end does not make the registration unlimited.
        try installation.answerOnce(endingIn: nil)
        let silent = try installation.renew(app, [:])
        #expect(silent.generation == 3)
        #expect(abs(try #require(silent.tokenEnd).timeIntervalSince(end)) < 3)

        let extended = try installation.renew(app, ["instanceTtl": 2 * Self.twoDays])
        #expect(try #require(extended.tokenEnd).timeIntervalSince(end) > Double(Self.twoDays) - 60)
    }

    @Test func `an ended registration is expired but not lost, and an app's token renews it`() throws {
        let (installation, time) = try installationWithTime()
        try installation.answerOnce(endingIn: 300, instance: "gone")
        let first = try installation.connect().call("session.signIn", limited("anna", installation))
        #expect(first.state == "established")
        time.advance(by: .seconds(301))
        let expired = try installation.awaitSnapshot { $0.state == "tokenExpired" }
        #expect(expired.phase == "waitingForHandler")
        #expect(expired.userId == "anna")

        let app = try RenewingApp(installation)
        let question = try app.answer(
            ["action": "renewWithAuthToken", "authToken": installation.registrationToken(for: "anna")]
        )

        // The service has forgotten the instance, so the token registers a new one.
        let renewed = try installation.awaitSnapshot { $0.generation == 2 }
        #expect(question["reason"] as? String == "expired")
        #expect(renewed.state == "established")
        #expect(try app.hasNoQuestion())
    }

    // MARK: Credentials

    @Test func `token.get returns the registration's credential, or unsupported without one`() throws {
        let installation = try Installation.sinch()
        try installation.cloud.sandbox("POST", "sinch/settings", ["credentials": false])
        let client = try installation.connect()
        #expect(try client.call("session.signIn", installation.registration(of: "anna")).state == "established")
        #expect(try client.refusal("token.get").kind == "unsupported")
        #expect(try installation.ctl("token").errors.contains("(unsupported)"))

        try installation.cloud.sandbox("POST", "sinch/settings", ["credentials": true])
        let app = try RenewingApp(installation)
        _ = try installation.renew(app, [:])
        let credential = try client.call("token.get")
        #expect(credential["tokenType"] as? String == "Bearer")
        #expect(credential.accessToken?.hasPrefix("sinch_") == true)

        // The credential of an earlier registration is not returned.
        try installation.cloud.sandbox("POST", "sinch/settings", ["credentials": false])
        _ = try installation.renew(app, [:])
        #expect(try client.refusal("token.get").kind == "unsupported")
    }

    private func installationWithTime() throws -> (Installation, ShiftedTime) {
        let installation = try Installation.sinch()
        let time = try ShiftedTime(installation)
        try installation.restartDaemon()
        return (installation, time)
    }

    private func limited(_ user: String, _ installation: Installation) throws -> Object {
        try installation.registration(of: user, ["instanceTtl": Self.twoDays])
    }
}

extension Installation {
    fileprivate func instances() throws -> [Object] {
        let logins = try cloud.sandbox("GET", "sinch/logins")["logins"] as? [Object] ?? []
        return logins.filter(\.isAlive)
    }

    /// Makes the next registration answer with this end, or with none for `nil`.
    fileprivate func answerOnce(endingIn seconds: Int?, instance: String? = nil) throws {
        let end: Any = seconds.map { Int(Date().timeIntervalSince1970) + $0 } ?? NSNull()
        let known = try instances().first?["id"] as? String
        let body: Object = ["instanceId": instance ?? known ?? "", "credential": "sinch_short", "expiresAt": end]
        try cloud.fault(["match": "/v1/instance", "method": "POST", "status": 200, "body": body, "times": 1])
    }

    /// Renews with a new token from the app.
    fileprivate func renew(_ app: RenewingApp, _ options: Object) throws -> Object {
        let token = try registrationToken(for: "anna", options)
        return try app.renewal(answering: ["action": "renewWithAuthToken", "authToken": token])
    }
}
