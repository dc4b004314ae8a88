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

    @Test func `identify with the same external id clears a pending reauthentication`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let app = IdentifyingApp(installation, users: ["alice": user])
        try app.identify("alice")
        try installation.cloud.drive("require-reauthentication", user)
        #expect(try installation.connect().refusal("session.renew").kind == "reauthenticationRequired")

        let result = try app.identify("alice")

        #expect(result["outcome"] as? String == "unchanged")
        #expect((result["snapshot"] as? Object)?.flags.contains("pendingReauthentication") == false)
        #expect(app.questions == 2)
        #expect(try installation.connect().call("session.renew").state == "established")
    }

    @Test func `a token that expires while reauthentication is pending is not renewed`() throws {
        let installation = try Installation.started(accessTokenLifetime: 1)
        let watcher = try installation.watch()
        let verdict: Object = ["detail": ["error_type": "reauthentication_required"]]
        try installation.cloud.fault(["status": 401, "body": verdict])
        try installation.signInNewUser()

        // The verdict arrives shortly before or after the token expires.
        try watcher.awaitSnapshot { $0.state == "tokenExpired" && $0.flags.contains("pendingReauthentication") }

        #expect(try installation.connect().refusal("token.get").kind == "reauthenticationRequired")
        #expect(try installation.cloud.counter("tokenRequests") == 2)
    }

    // MARK: The API says 401

    @Test func `a rejected token is renewed once and the call is repeated once`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.cloud.drive("expire-access-tokens", user)

        let answer = try installation.connect().call("api.request", ["method": "GET", "path": "/v2/user/\(user)"])

        #expect(answer["status"] as? Int == 200)
        let body = try #require(answer["body"] as? String)
        #expect(body.contains(user))
        let counters = try installation.cloud.counters()
        #expect(counters.integer("refreshes") == 1)
        #expect(counters.integer("endpoints", "GET /v2/user/{user}", "requests") == 2)
    }

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

    @Test func `a second rejection is returned to the caller`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.cloud.fault(["match": "/v2/user", "status": 401, "body": ["detail": "no"]])
        let client = try installation.connect()

        let first = try client.call("api.request", ["method": "GET", "path": "/v2/user/\(user)"])
        let second = try client.call("api.request", ["method": "GET", "path": "/v2/user/\(user)"])

        #expect(first["status"] as? Int == 401)
        #expect((first["body"] as? String)?.contains("detail") == true)
        #expect(second["status"] as? Int == 401)
        let counters = try installation.cloud.counters()
        // The second call used a token that had just replaced a rejected one.
        #expect(counters.integer("refreshes") == 1)
        #expect(counters.integer("endpoints", "GET /v2/user/{user}", "requests") == 3)
    }

    @Test func `a rejection with an API key is never retried`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let client = try installation.connect()
        try client.call("session.signIn", APIKey.credential(for: user))
        try installation.cloud.fault(["match": "/v2/user", "status": 401])

        let answer = try client.call("api.request", ["method": "GET", "path": "/v2/user/\(user)"])

        #expect(answer["status"] as? Int == 401)
        let counters = try installation.cloud.counters()
        #expect(counters.integer("endpoints", "GET /v2/user/{user}", "requests") == 1)
        #expect(counters.integer("tokenRequests") == 0)
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

    @Test func `a redirect is returned and not followed`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let elsewhere = installation.cloud.url + "/v2/providers"
        try installation.cloud.fault(["match": "/v2/user", "status": 302, "headers": ["Location": elsewhere]])

        let client = try installation.connect()
        let request = try client.request("api.request", ["method": "GET", "path": "/v2/user/\(user)"])
        let envelope = try client.envelope(of: request)

        let status = (envelope["result"] as? Object)?["status"] as? Int
        let kind = (envelope["error"] as? Object).map { RemoteError($0).kind }
        #expect(status == 302 || kind == "providerUnavailable")
        #expect(try installation.cloud.counters().integer("endpoints", "GET /v2/providers", "requests") == 0)
    }
}
