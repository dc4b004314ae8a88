import Foundation
import JunctionTesting
import Testing

/// Tests a token endpoint that answers every request with an empty 400, as a load balancer without servers may.
@Suite struct EmptyRefusalTests {
    @Test func `empty 400s require reauthentication only after ten minutes, and a later success clears it`() throws {
        var shifted: ShiftedTime?
        let installation = try Installation.oauth(accessTokenLifetime: 300) { shifted = try ShiftedTime($0) }
        let time = try #require(shifted)
        let tokens = try installation.cloud.sandbox("POST", "oauth/users/alice/tokens", [:])
        let credential = ["scheme": "refreshToken", "refreshToken": tokens["refreshToken"] as? String ?? ""]
        try installation.connect().call("session.signIn", credential)
        try installation.cloud.fault(["match": "/oauth/token", "status": 400, "body": "", "contentType": "text/plain"])

        // The token expires. The refusals of one minute change nothing.
        time.advance(by: .minutes(6))
        for failures in 1...5 {
            let snapshot = try installation.awaitSnapshot { $0.failures >= failures }
            #expect(snapshot.state == "tokenExpired")
            #expect(!snapshot.flags.contains("pendingReauthentication"))
            time.advance(by: .seconds(11))
        }

        // The record contains the count and the time of the first refusal.
        try installation.stopDaemon()
        try installation.startDaemon()
        let restarted = try installation.awaitSnapshot { $0.failures >= 1 }
        #expect(!restarted.flags.contains("pendingReauthentication"))
        time.advance(by: .minutes(10))
        let pending = try installation.awaitSnapshot { $0.flags.contains("pendingReauthentication") }
        #expect(pending.state == "tokenExpired")
        #expect(pending.phase == "backingOff")
        let wait = try #require(pending.notBefore).timeIntervalSince(time.now)
        // The test and the daemon read their clocks at different moments.
        #expect((3_000...3_601).contains(wait))
        #expect(try installation.connect().refusal("token.get").kind == "reauthenticationRequired")
        #expect(pending.lastError.contains("once an hour"))

        // Another restart keeps the time of the next attempt. The servers are available again.
        try installation.stopDaemon()
        try installation.startDaemon()
        try installation.awaitSnapshot { $0.phase == "backingOff" && $0.failures == 0 }
        try installation.cloud.clearFaults()
        time.advance(by: .minutes(61))

        let healed = try installation.awaitSnapshot { $0.state == "established" }
        #expect(!healed.flags.contains("pendingReauthentication"))
        #expect(healed.generation == 2)
        #expect(try installation.connect().call("session.renew").generation == 3)
    }
}

extension Object {
    fileprivate var failures: Int { renewal["failures"] as? Int ?? 0 }
}
