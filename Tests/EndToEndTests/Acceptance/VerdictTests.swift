import Foundation
import JunctionTesting
import Testing

/// Tests of verdicts of the provider's token endpoint and of its API.
@Suite struct VerdictTests {
    @Test(arguments: ["delete", "disable"])
    func `a user that the provider has deleted or disabled is signed out with the reason`(verb: String) throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let watcher = try installation.watch()
        try installation.cloud.drive(verb, user)
        let client = try installation.connect()

        let error = try client.refusal("session.renew")

        #expect(error.code == 1005)
        #expect(error.kind == "sessionTerminated")
        #expect(error.termination == "invalid_token")
        let told = try watcher.awaitSnapshot { $0.state == "terminated" }
        #expect(told.termination?["code"] as? String == "invalid_token")
        #expect(!told.flags.contains("signedIn"))
        #expect(told["accessToken"] is NSNull)
        #expect(try client.refusal("token.get").kind == "sessionTerminated")
        let call: Object = ["method": "GET", "path": "/v2/user/\(user)"]
        #expect(try client.refusal("api.request", call).kind == "sessionTerminated")
    }

    @Test func `the termination reason survives restarts, and another user can sign in`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser("alice")
        let bob = try installation.cloud.makeUser("bob")
        try installation.cloud.drive("delete", user)
        #expect(try installation.connect().refusal("session.renew").kind == "sessionTerminated")
        let requests = try installation.cloud.counter("tokenRequests")

        try installation.restartDaemon()
        let restarted = try installation.status()

        #expect(restarted.state == "terminated")
        #expect(restarted.termination?["code"] as? String == "invalid_token")
        #expect(try installation.connect().refusal("token.get").termination == "invalid_token")
        #expect(try installation.cloud.counter("tokenRequests") == requests)
        #expect(try installation.signIn(bob).userId == bob)
    }

    @Test func `reauthentication required keeps the session, serves the valid token and stops renewals`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let token = try installation.token()
        let watcher = try installation.watch()
        try installation.cloud.drive("require-reauthentication", user)
        let client = try installation.connect()

        let error = try client.refusal("session.renew")

        #expect(error.code == 1004)
        #expect(error.kind == "reauthenticationRequired")
        let told = try watcher.awaitSnapshot { $0.flags.contains("pendingReauthentication") }
        #expect(told.state == "established")
        #expect(told.flags.contains("signedIn"))
        let requests = try installation.cloud.counter("tokenRequests")
        #expect(try client.refusal("session.renew").kind == "reauthenticationRequired")
        #expect(try client.call("token.get").accessToken == token)
        #expect(try installation.cloud.counter("tokenRequests") == requests)
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test func `the flag survives a restart without a call, and a new token of the same user clears it`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.cloud.drive("require-reauthentication", user)
        #expect(try installation.connect().refusal("session.renew").kind == "reauthenticationRequired")
        let requests = try installation.cloud.counter("tokenRequests")

        // An orderly stop, because the daemon reports the flag before it is written.
        try installation.stopDaemon()
        try installation.startDaemon()
        let restarted = try installation.status()
        let untouched = try installation.cloud.counter("tokenRequests")
        let healed = try installation.signIn(user)

        #expect(restarted.flags.contains("pendingReauthentication"))
        #expect(restarted.userId == user)
        #expect(untouched == requests)
        #expect(!healed.flags.contains("pendingReauthentication"))
        #expect(try installation.connect().call("session.renew").state == "established")
    }

    // MARK: The API says 401

    @Test func `many calls that are rejected at the same time cause one refresh`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.cloud.drive("expire-access-tokens", user)
        let client = try installation.connect()

        let requests = try (0..<20).map { _ in
            try client.request("api.request", ["method": "GET", "path": "/v2/user/\(user)"])
        }
        let answers = try requests.map { _ in try client.message()["result"] as? Object }

        #expect(answers.allSatisfy { $0?["status"] as? Int == 200 })
        #expect(try installation.cloud.counter("refreshes") == 1)
    }

    @Test func `a path outside the user's own resources is refused without a call`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let other = try installation.cloud.makeUser("bob")
        let client = try installation.connect()
        let before = try installation.cloud.counter("requests")

        for path in [
            "/v2/user/\(other)", "/v2/user", "/v2/user/\(user)/../\(other)", "/v2/user/\(user)/%2e%2e/\(other)",
            "/v2/user/\(user)%2f..%2f\(other)", "//evil.example/v2/user/\(user)", "/v1/token", "/sandbox/users",
            "/v2/user/resolve/bob", "/v2/summary/\(user)", "/v2/user/\(user)/\(other)/..", "/v2//user/\(other)",
        ] {
            let error = try client.refusal("api.request", ["method": "GET", "path": path])
            #expect([1007, -32602].contains(error.code), "\(path): \(error)")
        }

        #expect(try installation.cloud.counter("requests") == before)
    }
}
