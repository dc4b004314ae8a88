import Foundation
import JunctionTesting
import Testing

/// Tests of `identify`, by which an app names the user that should be signed in.
@Suite struct IdentifiedUserTests {
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
