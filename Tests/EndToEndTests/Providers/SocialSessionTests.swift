import Foundation
import JunctionTesting
import Testing

/// Tests of a social.plus session from start to end: the five states, the device id and the revocation.
struct SocialSessionTests {
    private let login: Object = ["scheme": "userLogin", "userId": "Anna"]

    @Test func `a watcher receives all five states`() throws {
        let installation = try Installation.social(accessTokenLifetime: 4)
        let watcher = try installation.connect()
        #expect(try watcher.call("session.subscribe").state == "notLoggedIn")
        try installation.cloud.fault(["match": "/api/v5/sessions", "hang": true, "times": 1])

        let caller = try installation.connect()
        let signIn = try caller.request("session.signIn", login)
        try watcher.awaitSnapshot { $0.state == "establishing" }
        try installation.cloud.wait(for: "hanging")
        try installation.cloud.release()
        #expect(try caller.answer(to: signIn).state == "established")
        try watcher.awaitSnapshot { $0.state == "established" }
        try watcher.awaitSnapshot { $0.state == "tokenExpired" && $0.phase == "waitingForHandler" }

        try installation.cloud.sandbox("POST", "social/users/Anna/disable")
        try RenewingApp(installation).answer(["action": "renew"])
        let last = try watcher.awaitSnapshot { $0.state != "tokenExpired" }
        #expect(last.state == "terminated")
        #expect(last.termination?["code"] as? String == "400312")
        #expect(last.termination?.time("at") != nil)
        #expect(try installation.signOut().state == "notLoggedIn")
    }

    @Test func `absolute times of the server are converted to the daemon's clock`() throws {
        let server = try ClockedHost(ahead: 7_200) { now in
            let (from, to) = (now, now.addingTimeInterval(3_600))
            return
                #"{"accessToken":"t","issuedAt":"\#(from.rfc3339)","expiresAt":"\#(to.rfc3339)","users":[],"files":[]}"#
        }
        let installation = try Installation.social()
        try installation.stopDaemon()
        let key = try installation.folder.write("sandbox-api-key", to: "key")
        installation.providerSettings = { _ in
            "provider = \"social\"\n[social]\napiUrl = \"\(server.url)\"\napiKeyFile = \"\(key)\""
        }
        try installation.startDaemon()

        let end = try #require(try installation.connect().call("session.signIn", login).tokenEnd)

        #expect(abs(end.timeIntervalSinceNow - 3_600) < 60)
    }

    // MARK: The device

    @Test func `the installation keeps one device id across sign-outs, users and restarts`() throws {
        let installation = try Installation.social()
        let client = try installation.connect()
        try client.call("session.signIn", login)
        let first = try installation.devices()
        try client.call("session.signOut")
        try installation.cloud.wait(for: "requests", atLeast: 2)
        try client.call("session.signIn", ["scheme": "userLogin", "userId": "Bert"])
        let second = try installation.devices()
        try client.call("session.signOut")
        try installation.restartDaemon()
        try installation.connect().call("session.signIn", login)

        let device = try #require(first.first)
        #expect((1...150).contains(device.count))
        #expect(second == first)
        #expect(try installation.devices() == first)
        #expect(try Installation.social().signedInDevice(login) != device)
    }

    // MARK: Revocation

    @Test func `a hanging or unreachable provider does not delay the sign-out`() throws {
        let installation = try Installation.social()
        let client = try installation.connect()
        try client.call("session.signIn", login)
        try installation.cloud.fault(["match": "/api/v4/sessions", "hang": true])

        let snapshot = try client.call("session.signOut")
        // The answer has come, and the request still hangs.
        try installation.cloud.wait(for: "hanging")
        #expect(snapshot.state == "notLoggedIn")
        #expect(snapshot.isDurable)
        try client.call("session.signIn", login)
        try installation.cloud.stop()
        #expect(try client.call("session.signOut").state == "notLoggedIn")
    }

    @Test func `a session signed out offline is revoked when the provider is reachable again`() throws {
        let installation = try Installation.social()
        let client = try installation.connect()
        try client.call("session.signIn", login)
        try installation.cloud.stop()
        #expect(try client.call("session.signOut").state == "notLoggedIn")

        try installation.cloud.restart()

        try installation.cloud.wait(for: "signOuts")
        #expect(try installation.cloud.requests(to: "/api/v4/sessions").first?["method"] as? String == "DELETE")
        #expect(try installation.sessionsOfUsers() == [0])
    }

    @Test func `a session that the provider grants after the sign-out is revoked too`() throws {
        let installation = try Installation.social()
        try installation.cloud.fault(["match": "/api/v5/sessions", "hang": true, "times": 1])
        let client = try installation.connect()
        let signIn = try client.request("session.signIn", login)
        try installation.cloud.wait(for: "hanging")

        try installation.signOut()
        #expect(try client.refusal(of: signIn).kind == "notSignedIn")
        try installation.cloud.release()

        try installation.cloud.wait(for: "signOuts")
        #expect(try installation.sessionsOfUsers() == [0])
        #expect(try installation.status().state == "notLoggedIn")
    }
}

extension Installation {
    /// Returns the devices with a session at social.plus.
    fileprivate func devices() throws -> Set<String> {
        let logins = try cloud.sandbox("GET", "social/logins")["logins"] as? [Object] ?? []
        return Set(logins.filter(\.isAlive).compactMap { $0["deviceId"] as? String })
    }

    /// Returns the number of active logins of each user.
    fileprivate func sessionsOfUsers() throws -> [Int] {
        let users = try cloud.sandbox("GET", "social/users")["users"] as? [Object] ?? []
        return users.map { $0.integer("logins") }
    }

    fileprivate func signedInDevice(_ login: Object) throws -> String? {
        try connect().call("session.signIn", login)
        return try devices().first
    }
}

extension Date {
    fileprivate var rfc3339: String { formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}
