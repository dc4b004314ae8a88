import Foundation
import JunctionTesting
import Testing

/// Tests of a social.plus session: the device id and the revocation.
struct SocialSessionTests {
    private let login: Object = ["scheme": "userLogin", "userId": "Anna"]

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
