import Foundation
import JunctionTesting
import Testing

/// Tests which sign-ins are allowed while a session exists.
@Suite struct WhoMaySignInTests {
    @Test func `a sign-in of the same user succeeds without a provider call`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let before = try installation.status()

        let again = try installation.signIn(user)

        #expect(again.revision == before.revision)
        #expect(again.generation == before.generation)
        #expect(try installation.cloud.counter("tokenRequests") == 1)
    }

    @Test func `a sign-in of another user is refused and names the signed-in user`() throws {
        let installation = try Installation.started()
        let alice = try installation.signInNewUser("alice")
        let bob = try installation.cloud.makeUser("bob")

        let credential = try installation.cloud.credential(for: bob)
        let error = try installation.connect().refusal("session.signIn", credential)

        #expect(error.code == 1001)
        #expect(error.kind == "alreadySignedIn")
        #expect(error.userId == alice)
        #expect(try installation.status().userId == alice)
        #expect(try installation.cloud.counter("tokenRequests") == 1)
    }

    @Test func `the same name in another environment or region is another user`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let client = try installation.connect()

        for place in [["environment": "production"], ["region": "eu"]] {
            let token = try installation.cloud.signInToken(for: user, place)
            let error = try client.refusal("session.signIn", ["scheme": "signInToken", "token": token])
            #expect(error.kind == "alreadySignedIn", "\(place)")
        }

        #expect(try installation.cloud.counter("tokenRequests") == 1)
    }

    @Test func `a link code is refused during a healthy session and is not spent`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser("alice")
        let bob = try installation.cloud.makeUser("bob")
        let code: Object = ["scheme": "linkCode", "code": try installation.cloud.linkCode(for: bob)]
        let client = try installation.connect()

        #expect(try client.refusal("session.signIn", code).kind == "alreadySignedIn")
        try client.call("session.signOut")

        #expect(try client.call("session.signIn", code).userId == bob)
    }

    @Test func `a link code that is unknown, spent or malformed is an invalid credential`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let code = try installation.cloud.linkCode(for: user)
        let client = try installation.connect()
        try client.call("session.signIn", ["scheme": "linkCode", "code": code])
        try client.call("session.signOut")

        for wrong in [code, "skus00000000", "hello", "xxus0a1b2c3d"] {
            let error = try client.refusal("session.signIn", ["scheme": "linkCode", "code": wrong])
            #expect(error.kind == "invalidCredential", "\(wrong)")
        }

        #expect(try client.call("session.status").state == "notLoggedIn")
    }

    @Test func `while reauthentication is pending only the same user may sign in`() throws {
        let installation = try Installation.started()
        let alice = try installation.signInNewUser("alice")
        let bob = try installation.cloud.makeUser("bob")
        try installation.cloud.drive("require-reauthentication", alice)
        let client = try installation.connect()
        #expect(try client.refusal("session.renew").kind == "reauthenticationRequired")

        let refused = try client.refusal("session.signIn", try installation.cloud.credential(for: bob))
        let healed = try client.call("session.signIn", try installation.cloud.credential(for: alice))

        #expect(refused.kind == "alreadySignedIn")
        #expect(healed.userId == alice)
        #expect(!healed.flags.contains("pendingReauthentication"))
        #expect(try client.call("session.renew").state == "established")
    }

    @Test func `of two simultaneous sign-ins one succeeds, and the other error names the signed-in user`() throws {
        let installation = try Installation.started()
        let users = try [installation.cloud.makeUser("alice"), installation.cloud.makeUser("bob")]
        try installation.cloud.fault(["match": "/v1/token", "hang": true, "times": 1])
        let clients = try users.map { _ in try installation.connect() }

        let first = try clients[0].request("session.signIn", installation.cloud.credential(for: users[0]))
        try installation.cloud.wait(for: "hanging")
        let second = try clients[1].request("session.signIn", installation.cloud.credential(for: users[1]))
        try clients[1].call("daemon.info")
        try installation.cloud.release()

        #expect(try clients[0].answer(to: first).userId == users[0])
        #expect(try clients[1].refusal(of: second).userId == users[0])
        #expect(try installation.cloud.counter("exchanges") == 1)
    }

    // MARK: API keys

    @Test func `a Sign-In Token replaces the API key of the same user without a sign-out`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let watcher = try installation.watch()
        let client = try installation.connect()
        let keyed = try client.call("session.signIn", APIKey.credential(for: user))

        let migrated = try client.call("session.signIn", try installation.cloud.credential(for: user))

        #expect(keyed.userId == user)
        #expect(keyed.flags.contains("useApiKey"))
        #expect(migrated.userId == user)
        #expect(migrated.flags.contains("useSignInToken"))
        #expect(!migrated.flags.contains("useApiKey"))
        #expect(try installation.token() != nil)
        var states: [String] = []
        try watcher.awaitSnapshot { snapshot in
            states.append(snapshot.state)
            return snapshot["scheme"] as? String == "signInToken"
        }
        #expect(!states.drop { $0 != "established" }.contains("notLoggedIn"))
    }

    @Test func `an API key session refuses the token of another user, environment or region`() throws {
        let installation = try Installation.started()
        let alice = try installation.cloud.makeUser("alice")
        let bob = try installation.cloud.makeUser("bob")
        let client = try installation.connect()
        try client.call("session.signIn", APIKey.credential(for: alice))
        let before = try client.call("session.status")

        for (user, place) in [(bob, [:]), (alice, ["environment": "production"]), (alice, ["region": "eu"])] {
            let token = try installation.cloud.signInToken(for: user, place)
            let error = try client.refusal("session.signIn", ["scheme": "signInToken", "token": token])
            #expect(error.code == 1008)
            #expect(error.kind == "incompatibleCredential")
        }

        #expect(try client.call("session.status").revision == before.revision)
        #expect(try installation.cloud.counter("tokenRequests") == 0)
    }

    @Test func `an API key is accepted again for the same user and refused for another`() throws {
        let installation = try Installation.started()
        let alice = try installation.cloud.makeUser("alice")
        let bob = try installation.cloud.makeUser("bob")
        let client = try installation.connect()
        try client.call("session.signIn", APIKey.credential(for: alice))

        #expect(try client.call("session.signIn", APIKey.credential(for: alice.uppercased())).userId == alice)
        #expect(try client.refusal("session.signIn", APIKey.credential(for: bob)).kind == "alreadySignedIn")
    }

    @Test func `an API key without a user configures the daemon, and the user can follow`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let client = try installation.connect()

        let configured = try client.call("session.signIn", APIKey.credential(for: nil))
        try installation.restartDaemon()
        let completed = try installation.connect().call("session.signIn", ["scheme": "apiKey", "userId": user])

        #expect(configured.state == "notLoggedIn")
        #expect(configured.flags == ["configured"])
        #expect(completed.state == "established")
        #expect(completed.userId == user)
        let answer = try installation.connect().call("api.request", ["method": "GET", "path": "/v2/user/\(user)"])
        #expect(answer["status"] as? Int == 200)
    }

    @Test func `an API key session has no token and no renewal, but can call the API`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let client = try installation.connect()
        try client.call("session.signIn", APIKey.credential(for: user))

        let token = try client.refusal("token.get")
        let renewal = try client.refusal("session.renew")
        let answer = try client.call("api.request", ["method": "GET", "path": "/v2/user/\(user)"])

        #expect(token.code == 1012)
        #expect(renewal.kind == "unsupported")
        #expect(answer["status"] as? Int == 200)
    }
}

/// Tests of restrictions that only the daemon enforces, because a team API key allows everything.
@Suite struct TeamApiKeyTests {
    @Test func `an API call that manages the user is refused without a provider call`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let client = try installation.connect()
        try client.call("session.signIn", APIKey.credential(for: user))
        let before = try installation.cloud.counter("requests")

        for (method, path) in [
            ("POST", "/v2/user/\(user)/sign_in_token"), ("GET", "/v2/user/\(user)/sign%5Fin_token"),
            ("DELETE", "/v2/user/\(user)"), ("PATCH", "/v2/user/\(user.uppercased())"), ("PUT", "/v2/user/\(user)/"),
            ("DELETE", "/v2/user//\(user)"), ("DELETE", "/v2/user/\(user)/x/.."),
        ] {
            let error = try client.refusal("api.request", ["method": method, "path": path])
            #expect(error.kind == "permissionDenied", "\(method) \(path)")
        }

        #expect(try installation.cloud.counter("requests") == before)
        let answer = try client.call("api.request", ["method": "GET", "path": "/v2/user/\(user)"])
        #expect(answer["status"] as? Int == 200)
    }

    @Test func `a production key is unsupported unless the configuration allows it`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let key: Object = [
            "scheme": "apiKey", "apiKey": "pk_us_shop", "userId": user, "environment": "production", "region": "us",
        ]

        let error = try installation.connect().refusal("session.signIn", key)
        #expect(error.kind == "unsupported")
        #expect(try installation.status().state == "notLoggedIn")

        try installation.stopDaemon()
        installation.configuration = "apiKeyInProduction = true"
        try installation.startDaemon()
        #expect(try installation.connect().call("session.signIn", key)["environment"] as? String == "production")
    }
}

/// The Team API Key scheme.
enum APIKey {
    static func credential(for user: String?) -> Object {
        var credential: Object = [
            "scheme": "apiKey", "apiKey": Cloud.teamKey, "environment": "sandbox", "region": "us",
        ]
        credential["userId"] = user
        return credential
    }
}
