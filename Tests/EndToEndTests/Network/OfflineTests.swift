import Foundation
import JunctionTesting
import Testing

/// Tests without a network, or with one that is missing at first.
@Suite struct OfflineTests {
    @Test func `a restart without network keeps the session and serves the valid token`() throws {
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

    @Test func `a restart with an expired token keeps the session until the network is back`() throws {
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

    @Test func `a sign-out works offline and survives a restart`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        try installation.cloud.stop()

        #expect(try installation.signOut().isDurable)

        try installation.restartDaemon()
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `a sign-in without network reports the host and changes nothing`() throws {
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
