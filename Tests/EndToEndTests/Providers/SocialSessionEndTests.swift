import Foundation
import Testing

/// Tests of social.plus's error codes at a renewal. Two of them end the session, the others do not.
struct SocialSessionEndTests {
    private let login: Object = ["scheme": "userLogin", "userId": "Anna"]

    @Test func `a ban that an API call detects ends the session, and the caller gets the provider's answer`() throws {
        let installation = try Installation.social()
        let caller = try installation.connect()
        try caller.call("session.signIn", login)
        try installation.cloud.sandbox("POST", "social/users/Anna/disable")

        let answer = try caller.call("api.request", ["method": "GET", "path": "/api/v3/users/Anna"])

        #expect(answer.integer("status") == 403)
        try installation.awaitSnapshot { $0.state == "terminated" }
        let snapshot = try caller.call("session.status")
        #expect(snapshot.termination?["code"] as? String == "400312")
        #expect(try installation.cloud.counter("refreshes") == 0)
    }

    @Test func `in secure mode a deleted user is detected, whatever the app answers`() throws {
        for answer in [Object?.none, ["action": "renew"]] {
            let installation = try Installation.social()
            let caller = try installation.connect()
            try caller.call("session.signIn", login)
            try installation.cloud.sandbox("POST", "social/settings", ["secureMode": true])
            let app = try RenewingApp(installation)
            let token = try installation.authToken(for: "Anna")
            try installation.cloud.sandbox("POST", "social/users/Anna/delete")

            let error = try app.refusedRenewal(
                answering: answer ?? ["action": "renewWithAuthToken", "authToken": token]
            )

            #expect(error.kind == "sessionTerminated")
            #expect(try caller.call("session.status").termination?["code"] as? String == "400100")
        }
    }

    @Test func `a deleted user's session ends with 400100, and its data is erased`() throws {
        let installation = try Installation.social()
        try installation.connect().call("session.signIn", login)
        let app = try RenewingApp(installation)
        try installation.cloud.sandbox("POST", "social/users/Anna/delete")

        let error = try app.refusedRenewal(answering: ["action": "renew"])

        #expect(error.kind == "sessionTerminated")
        #expect(error.termination == "400100")
        // A restart shows only the data that was stored.
        try installation.restartDaemon()
        let client = try installation.connect()
        let snapshot = try client.call("session.status")
        #expect(snapshot.state == "terminated")
        #expect(snapshot.termination?["code"] as? String == "400100")
        #expect(snapshot.generation == nil)
        #expect(!snapshot.flags.contains("signedIn"))
        let call: Object = ["method": "GET", "path": "/api/v3/users/Anna"]
        for (method, params) in [("token.get", nil), ("session.renew", nil), ("api.request", call)] {
            #expect(try client.refusal(method, params).kind == "sessionTerminated", "\(method)")
        }
        #expect(try installation.cloud.counter("requests") == 3)
    }

    @Test func `400100 for a handler's auth token keeps and postpones the session, and a valid token renews it`()
        throws
    {
        let installation = try Installation.social()
        try installation.connect().call("session.signIn", login)
        try installation.cloud.sandbox("POST", "social/settings", ["secureMode": true])
        let token = try installation.token()

        for (count, answer) in [(1, "sat_nobody_knows"), (2, try installation.authToken(for: "Bert"))] {
            let app = try RenewingApp(installation)
            let refusal = try app.refusedRenewal(answering: ["action": "renewWithAuthToken", "authToken": answer])

            #expect(refusal.kind == "providerUnavailable")
            #expect((600...661).contains(refusal.retryAfter ?? 0))
            let snapshot = try installation.status()
            #expect(snapshot.state == "established")
            #expect(snapshot.phase == "postponed")
            #expect(snapshot.termination == nil)
            #expect(try installation.token() == token)
            #expect(try installation.cloud.counters().integer("grants", "session", "400100") == count)
            // A new process has no recorded failure, so the daemon may ask at once.
            try installation.restartDaemon()
        }

        let valid: Object = ["action": "renewWithAuthToken", "authToken": try installation.authToken(for: "Anna")]
        #expect(try RenewingApp(installation).renewal(answering: valid).generation == 2)
    }
}
