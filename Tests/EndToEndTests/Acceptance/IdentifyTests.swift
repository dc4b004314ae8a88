import Foundation
import JunctionTesting
import Testing

/// Tests of `identify`, by which an app names the user that should be signed in.
@Suite struct IdentifyTests {
    @Test func `identify signs a user in, and does not ask again for the same user`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let app = IdentifyingApp(installation, users: ["alice": user])

        let first = try app.identify("alice")
        let second = try app.identify("alice")

        #expect(first["outcome"] as? String == "signedIn")
        #expect((first["snapshot"] as? Object)?.externalUserId == "alice")
        #expect((first["snapshot"] as? Object)?.userId == user)
        #expect(second["outcome"] as? String == "unchanged")
        #expect(app.questions == 1)
        #expect(try installation.cloud.counter("tokenRequests") == 1)
    }

    @Test func `identify with another user exchanges first, then switches without a signed-out state`() throws {
        let installation = try Installation.started()
        let users = try ["alice": installation.cloud.makeUser("alice"), "bob": installation.cloud.makeUser("bob")]
        let app = IdentifyingApp(installation, users: users)
        try app.identify("alice")
        let watcher = try installation.watch()

        let result = try app.identify("bob")

        #expect(result["outcome"] as? String == "switched")
        #expect(try installation.status().userId == users["bob"])
        #expect(try watcher.awaitSnapshot { $0.userId != users["alice"] }.userId == users["bob"])
        try installation.restartDaemon()
        #expect(try installation.status().externalUserId == "bob")
    }

    @Test func `a switch that fails leaves the old user signed in`() throws {
        let installation = try Installation.started()
        let users = try ["alice": installation.cloud.makeUser("alice"), "bob": installation.cloud.makeUser("bob")]
        let app = IdentifyingApp(installation, users: users)
        try app.identify("alice")
        try installation.cloud.fault(["match": "/v1/token", "status": 503, "times": 1])

        #expect(throws: RemoteError.self) { try app.identify("bob") }

        let status = try installation.status()
        #expect(status.userId == users["alice"])
        #expect(status.externalUserId == "alice")
        #expect(try installation.token() != nil)
    }

    @Test func `identify binds a session without an external id to the id`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let app = IdentifyingApp(installation, users: ["alice": user])

        let result = try app.identify("alice")

        #expect(result["outcome"] as? String == "unchanged")
        #expect(try installation.status().externalUserId == "alice")
        try installation.restartDaemon()
        #expect(try installation.status().externalUserId == "alice")
    }

    @Test func `an error or an invalid answer of the app changes nothing`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        try IdentifyingApp(installation, users: ["alice": user]).identify("alice")
        let client = try installation.connect()
        let before = try client.call("session.status")

        let refusing = try client.request("session.identify", ["externalUserId": "bob"])
        let question = try client.question()
        #expect(question.method == "session.authenticate")
        #expect(question.params["externalUserId"] as? String == "bob")
        try client.replyError(to: question.identifier)
        #expect(try client.refusal(of: refusing).kind == "invalidCredential")
        let babbling = try client.request("session.identify", ["externalUserId": "bob"])
        try client.reply(to: client.question().identifier, ["scheme": "no such thing"])
        #expect(try client.refusal(of: babbling).kind == "invalidCredential")

        #expect(try client.call("session.status").revision == before.revision)
    }

    @Test func `a connection that closes before its app answers changes nothing`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        do {
            let client = try installation.connect()
            _ = try client.request("session.identify", ["externalUserId": "alice"])
            _ = try client.question()
        }

        // The daemon asks the next app, so it has dropped the first question.
        let app = IdentifyingApp(installation, users: ["alice": user])

        #expect(try app.identify("alice")["outcome"] as? String == "signedIn")
    }

    @Test func `two apps that identify at the same time are asked one after the other`() throws {
        let installation = try Installation.started()
        let users = try ["alice": installation.cloud.makeUser("alice"), "bob": installation.cloud.makeUser("bob")]
        let (first, second) = try (installation.connect(), installation.connect())

        let one = try first.request("session.identify", ["externalUserId": "alice"])
        let question = try first.question()
        let two = try second.request("session.identify", ["externalUserId": "bob"])
        let info = try second.request("daemon.info")
        // The daemon answers a later request of this app without asking it a question first.
        #expect(try second.message()["id"] as? Int == info)
        try first.reply(to: question.identifier, installation.cloud.credential(for: users["alice"] ?? ""))
        #expect(try first.answer(to: one)["outcome"] as? String == "signedIn")
        try second.reply(to: second.question().identifier, installation.cloud.credential(for: users["bob"] ?? ""))

        #expect(try second.answer(to: two)["outcome"] as? String == "switched")
        #expect(try installation.cloud.counters().integer("mostConcurrentTokenRequests") == 1)
    }

    @Test func `identify without a user signs out`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        let client = try installation.connect()

        let first = try client.call("session.identify", ["externalUserId": NSNull()])
        let second = try client.call("session.identify", ["externalUserId": NSNull()])

        #expect(first["outcome"] as? String == "signedOut")
        #expect(second["outcome"] as? String == "unchanged")
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test(arguments: [1_025, 300_000])
    func `an id that is too long for the record is refused, and later rotations are stored`(length: Int) throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let id = String(repeating: "e", count: length)
        let app = IdentifyingApp(installation, users: [id: user])

        let error = #expect(throws: RemoteError.self) { try app.identify(id) }

        #expect(error?.code == -32602)
        #expect(app.questions == 0)
        let renewed = try installation.connect().call("session.renew")
        #expect((renewed["storage"] as? Object)?["durable"] as? Bool == true)
        let token = try installation.token()
        try installation.restartDaemon()
        #expect(try installation.token() == token)
    }

    @Test func `the longest id survives a restart, whatever characters it has`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let id = String(repeating: "\u{1}", count: 1_024)

        try IdentifyingApp(installation, users: [id: user]).identify(id)
        try installation.connect().call("session.renew")

        try installation.restartDaemon()
        #expect(try installation.status().externalUserId == id)
        #expect((try installation.status()["storage"] as? Object)?["durable"] as? Bool == true)
    }
}
