import Foundation
import JunctionTesting
import Testing

/// A load balancer before the token endpoint has lost its servers, and answers every request with an empty 400.
@Suite struct UnexplainedRefusalTests {
    @Test func `empty 400s cost a login only after ten minutes, over a restart, and a success heals it`() throws {
        var shifted: ShiftedTime?
        let installation = try Installation.oauth(accessTokenLifetime: 300) { shifted = try ShiftedTime($0) }
        let time = try #require(shifted)
        let tokens = try installation.cloud.sandbox("POST", "oauth/users/alice/tokens", [:])
        let credential = ["scheme": "refreshToken", "refreshToken": tokens["refreshToken"] as? String ?? ""]
        try installation.connect().call("session.signIn", credential)
        try installation.cloud.fault(["match": "/oauth/token", "status": 400, "body": "", "contentType": "text/plain"])

        // The token dies, and within a minute of refusals nothing is concluded.
        time.advance(by: .minutes(6))
        for failures in 1...5 {
            let snapshot = try installation.awaitSnapshot { $0.failures >= failures }
            #expect(snapshot.state == "tokenExpired")
            #expect(!snapshot.flags.contains("pendingReauthentication"))
            time.advance(by: .seconds(11))
        }

        // The count and the first refusal's time are in the record.
        try installation.stopDaemon()
        try installation.startDaemon()
        let restarted = try installation.awaitSnapshot { $0.failures >= 1 }
        #expect(!restarted.flags.contains("pendingReauthentication"))
        time.advance(by: .minutes(10))
        let pending = try installation.awaitSnapshot { $0.flags.contains("pendingReauthentication") }
        #expect(pending.state == "tokenExpired")
        #expect(pending.phase == "backingOff")
        let wait = try #require(pending.notBefore).timeIntervalSince(time.now)
        #expect((3_000...3_600).contains(wait))
        #expect(try installation.connect().refusal("token.get").kind == "reauthenticationRequired")
        #expect(pending.lastError.contains("once an hour"))

        // A further restart neither hastens the next try nor forgets it; the servers are back.
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
