import Foundation
import JunctionTesting
import Testing

/// Tests of social.plus with the built programs: login, app-driven renewal, secure mode, ban and deletion.
struct SocialEndToEndTests {
    private let login: Object = ["scheme": "userLogin", "userId": "Anna", "displayName": "Anna"]

    @Test func `a login survives a restart with one device id, and the sign-out revokes it`() throws {
        let installation = try Installation.social()
        let snapshot = try installation.connect().call("session.signIn", login)
        #expect(snapshot.state == "established")
        #expect(snapshot["provider"] as? String == "social")
        #expect(snapshot.userId == "Anna")

        try installation.restartDaemon()

        let client = try installation.connect()
        #expect(
            try client.refusal("session.signIn", ["scheme": "userLogin", "userId": "anna"]).kind == "alreadySignedIn"
        )
        #expect(try client.call("session.status").state == "established")
        #expect(try client.call("token.get")["tokenType"] as? String == "Bearer")
        #expect(try client.call("session.signOut").state == "notLoggedIn")
        // The revocation follows the local sign-out in the background.
        try installation.stopDaemon()
        #expect(try installation.cloud.requests(to: "/api/v4/sessions").count == 1)
    }

    @Test func `the shutdown does not wait for the retry of a revocation`() throws {
        let installation = try Installation.social()
        let client = try installation.connect()
        try client.call("session.signIn", login)
        let retryAfter: Object = ["Retry-After": "3600"]
        try installation.cloud.fault(["match": "/api/v4/sessions", "status": 503, "headers": retryAfter])
        try client.call("session.signOut")
        try installation.cloud.wait(for: "requests", atLeast: 2)

        try installation.stopDaemon()

        let log = try #require(installation.daemon?.errors)
        #expect(!log.contains("without the provider's answer"))
    }

    @Test func `a ban ends the session with the provider's code, and a banned user cannot log in`() throws {
        let installation = try Installation.social()
        let caller = try installation.connect()
        try caller.call("session.signIn", login)
        try installation.cloud.sandbox("POST", "social/users/Anna/disable")
        let app = try RenewingApp(installation)

        #expect(try app.refusedRenewal(answering: ["action": "renew"]).kind == "sessionTerminated")
        let snapshot = try caller.call("session.status")
        #expect(snapshot.state == "terminated")
        #expect((snapshot["termination"] as? Object)?["code"] as? String == "400312")
        #expect(try caller.refusal("session.signIn", login).kind == "sessionTerminated")
        try installation.restartDaemon()
        #expect(try installation.connect().call("session.status").state == "terminated")
    }
}
