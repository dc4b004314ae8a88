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
@Suite struct ApiKeyRestrictionTests {
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
