import Foundation
import JunctionTesting
import Testing

/// Tests without a network, or with one that is missing at first.
@Suite struct OfflineTests {
    @Test func `a restart restores the whole session without the network`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        try IdentifyingApp(installation, users: ["alice": user]).identify("alice")
        let (before, token) = try (installation.status(), installation.token())
        try installation.cloud.stop()

        try installation.restartDaemon()
        let after = try installation.status()

        #expect(after.state == "established")
        for member in ["userId", "externalUserId", "teamId", "environment", "region", "scheme", "provider"] {
            #expect(after[member] as? String == before[member] as? String, "\(member)")
        }
        #expect(after.generation == before.generation)
        // The renewal time is chosen once for each token, and a restart keeps it. It is shown by two clocks that are read
        // one after the other, so it may differ by a millisecond or two.
        let (first, second) = (before.renewal.time("notBefore"), after.renewal.time("notBefore"))
        #expect(try abs(#require(first).timeIntervalSince(#require(second))) < 0.003)
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
}
