import Foundation
import JunctionTesting
import Testing

/// No network at all, or none yet.
@Suite struct OfflineTests {
    @Test func `a restart without network keeps the session and serves the living token`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        try IdentifyingApp(installation, users: ["alice": user]).identify("alice")
        let token = try installation.token()
        try installation.killDaemon()
        try installation.cloud.stop()

        try installation.startDaemon()

        let status = try installation.status()
        #expect(status.state == "established")
        #expect(status.userId == user)
        #expect(status.externalUserId == "alice")
        #expect(try installation.token() == token)
    }

    @Test func `a restart with a dead token and no network keeps the session until the network is back`() throws {
        let installation = try Installation.started(accessTokenLifetime: 1)
        let user = try installation.signInNewUser()
        try installation.killDaemon()
        try installation.cloud.stop()

        try installation.startDaemon()
        let failed = try installation.awaitSnapshot {
            $0.state == "tokenExpired" && ($0.renewal["failures"] as? Int ?? 0) > 0
        }
        let error = try installation.connect().refusal("token.get")
        try installation.cloud.restart()
        let recovered = try installation.awaitSnapshot { $0.state == "established" }

        #expect(failed.userId == user)
        #expect(["tokenExpired", "providerUnavailable"].contains(error.kind))
        #expect(recovered.userId == user)
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `sign-out works offline and over a restart`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        try installation.cloud.stop()

        #expect(try installation.signOut().isDurable)

        try installation.restartDaemon()
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `sign-in without network says so, names the host, and changes nothing`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let credential = try installation.cloud.credential(for: user)
        try installation.cloud.stop()

        let error = try installation.connect().refusal("session.signIn", credential)

        #expect(error.kind == "providerUnavailable")
        #expect(error.message.contains("127.0.0.1"))
        #expect(try installation.status().state == "notLoggedIn")
    }
}
