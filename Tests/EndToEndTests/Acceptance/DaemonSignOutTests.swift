import Foundation
import JunctionTesting
import Testing

/// Tests of sign-outs from every state, offline, and during other requests.
@Suite struct DaemonSignOutTests {
    @Test func `a sign-out erases all data of the user`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        try IdentifyingApp(installation, users: ["alice": user]).identify("alice")

        let snapshot = try installation.signOut()

        #expect(snapshot.state == "notLoggedIn")
        #expect(snapshot.flags == [])
        #expect(snapshot.isDurable)
        for member in ["userId", "externalUserId", "teamId", "environment", "region", "scheme", "accessToken"] {
            #expect(snapshot[member] is NSNull, "\(member)")
        }
        let client = try installation.connect()
        #expect(try client.refusal("token.get").kind == "notSignedIn")
        #expect(try client.refusal("session.renew").kind == "notSignedIn")
        let call: Object = ["method": "GET", "path": "/v2/user/\(user)"]
        #expect(try client.refusal("api.request", call).kind == "notSignedIn")
        #expect(SecretSearch.found([user, "alice"], inFilesBelow: installation.stateDirectory) == [])
        try installation.restartDaemon()
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `a sign-out without a signed-in user succeeds`() throws {
        let installation = try Installation.started()

        #expect(try installation.signOut().state == "notLoggedIn")
        #expect(try installation.signOut().state == "notLoggedIn")
        #expect(try installation.ctl("sign-out").status == 0)
    }

    @Test func `a sign-out works offline, with an expired token and after a termination`() throws {
        let installation = try Installation.started(accessTokenLifetime: 1)
        let watcher = try installation.watch()
        let user = try installation.signInNewUser()
        try installation.cloud.stop()
        try watcher.awaitSnapshot { $0.state == "tokenExpired" }

        let signedOut = try installation.signOut()
        #expect(signedOut.state == "notLoggedIn" && signedOut.isDurable)
        try installation.restartDaemon()
        #expect(try installation.status().state == "notLoggedIn")

        try installation.cloud.restart()
        try installation.cloud.change(["accessTokenLifetime": 3_600])
        try installation.signIn(user)
        try installation.cloud.drive("delete", user)
        #expect(try installation.connect().refusal("session.renew").kind == "sessionTerminated")
        #expect(try installation.signOut().state == "notLoggedIn")
        #expect(try installation.status().termination == nil)
    }

    @Test func `a sign-out removes a configured API key`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let client = try installation.connect()
        try client.call("session.signIn", APIKey.credential(for: nil))

        #expect(try client.call("session.signOut").flags == [])

        let error = try client.refusal("session.signIn", ["scheme": "apiKey", "userId": user])
        #expect([1002, -32602].contains(error.code))
        #expect(try client.call("session.status").state == "notLoggedIn")
    }

    @Test func `a sign-out during a refresh wins, in memory and on disk`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        try installation.cloud.fault(["hang": true, "times": 1])
        let renewer = try installation.connect()
        let renewal = try renewer.request("session.renew")
        try installation.cloud.wait(for: "hanging")

        let snapshot = try installation.signOut()
        try installation.cloud.release()

        #expect(snapshot.state == "notLoggedIn")
        #expect(try renewer.refusal(of: renewal).kind == "notSignedIn")
        #expect(try installation.status().state == "notLoggedIn")
        try installation.restartDaemon()
        #expect(try installation.status().state == "notLoggedIn")
    }
}
