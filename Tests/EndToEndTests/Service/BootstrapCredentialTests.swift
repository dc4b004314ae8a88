import Foundation
import JunctionTesting
import Testing

/// Tests of bootstrap credentials, which sign a device in once without a user.
@Suite struct BootstrapCredentialTests {
    /// Creates an installation without a session, with a bootstrap credential for a new user.
    private func prepared(
        _ kind: String = "signInToken"
    ) throws -> (installation: Installation, credentials: Credentials, user: String) {
        let installation = try Installation()
        let credentials = try Credentials(installation)
        let cloud = installation.cloud
        let user = try cloud.makeUser()
        try credentials.place(kind, kind == "linkCode" ? cloud.linkCode(for: user) : cloud.signInToken(for: user))
        return (installation, credentials, user)
    }

    /// The same with the token of a user that the provider has deleted.
    private func preparedForDeletedUser() throws -> (installation: Installation, credentials: Credentials) {
        let (installation, credentials, gone) = try prepared()
        try installation.cloud.drive("delete", gone)
        return (installation, credentials)
    }

    @Test func `a Sign-In Token signs in at the first start and is not used again`() throws {
        let (installation, credentials, user) = try prepared()

        try installation.startDaemon()
        try installation.awaitSnapshot { $0.state == "established" && $0.userId == user }
        try installation.restartDaemon()
        #expect(try installation.status().userId == user)
        try installation.signOut()
        for _ in 0..<2 {
            try installation.restartDaemon()
            try installation.awaitLog("is not used")
            #expect(try installation.status().state == "notLoggedIn")
        }
        #expect(try installation.cloud.counter("exchanges") == 1)

        try credentials.place("signInToken", installation.cloud.signInToken(for: user))
        try installation.restartDaemon()
        try installation.awaitSnapshot { $0.userId == user }
    }

    @Test func `a link code signs in at the first start`() throws {
        let (installation, _, user) = try prepared("linkCode")

        try installation.startDaemon()

        try installation.awaitSnapshot { $0.state == "established" && $0.userId == user }
    }

    @Test func `a device that is offline at its first start signs in when the provider is back`() throws {
        let (installation, _, user) = try prepared()
        try installation.cloud.fault(["match": "/v1/", "status": 503, "headers": ["Retry-After": "1"], "times": 1])

        try installation.startDaemon()

        try installation.awaitSnapshot { $0.state == "established" && $0.userId == user }
    }

    @Test func `a refused token is not tried again after a sign-out, and the log reports it`() throws {
        let installation = try Installation()
        let user = try installation.cloud.makeUser()
        let credentials = try Credentials(installation)
        let token = try installation.cloud.signInToken(for: user)
        try installation.startDaemon()
        try installation.connect().call("session.signIn", ["scheme": "signInToken", "token": token])
        try installation.signOut()
        try installation.cloud.drive("delete", user)
        try credentials.place("signInToken", token)
        try installation.restartDaemon()
        try installation.awaitLog("is not tried again")
        let exchanges = try installation.cloud.counter("tokenRequests")

        try installation.restartDaemon()
        try installation.awaitLog("is not used")

        #expect(try installation.cloud.counter("tokenRequests") == exchanges)
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `a link code completes its second request after a failure between the two`() throws {
        let (installation, _, user) = try prepared("linkCode")
        try installation.cloud.fault(["match": "/v1/token", "status": 503, "headers": ["Retry-After": "1"], "times": 1])

        try installation.startDaemon()

        try installation.awaitSnapshot { $0.state == "established" && $0.userId == user }
        #expect(try installation.cloud.requests(to: "/v2/link/code/exchange").count == 1)
    }

    @Test func `a user's link code completes its second request after a failure between the two`() throws {
        let installation = try Installation.started()
        let client = try installation.connect()
        let (code, user) = try installation.spendLinkCode(on: client)

        #expect(try client.call("session.signIn", code).userId == user)
    }

    @Test func `a running daemon uses the replacement of a refused credential, and doctor reports the refusal`()
        throws
    {
        let (installation, credentials) = try preparedForDeletedUser()
        let user = try installation.cloud.makeUser("bob")
        try installation.startDaemon()
        try installation.awaitLog("is not tried again")
        let finding = try installation.findings().first
        #expect(finding?["verdict"] as? String == "problem")
        #expect((finding?["remedy"] as? String)?.contains("new one") == true)

        try credentials.place("signInToken", installation.cloud.signInToken(for: user))

        try installation.awaitSnapshot { $0.state == "established" && $0.userId == user }
    }

    @Test func `a credential that is placed after the start is used, and a sign-out ends one that is not used yet`()
        throws
    {
        let installation = try Installation()
        let credentials = try Credentials(installation)
        let user = try installation.cloud.makeUser()
        try installation.startDaemon()

        try credentials.place("signInToken", installation.cloud.signInToken(for: user))
        try installation.awaitSnapshot { $0.state == "established" && $0.userId == user }

        try credentials.place("signInToken", installation.cloud.signInToken(for: user))
        try installation.signOut()
        try installation.restartDaemon()
        try installation.awaitLog("it was used before")
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `a sign-out cancels a credential that waits for a retry, also across restarts`() throws {
        let (installation, _, _) = try prepared()
        let busy: Object = ["match": "/v1/", "status": 503, "headers": ["Retry-After": "3600"], "times": 1]
        try installation.cloud.fault(busy)
        try installation.startDaemon()
        try installation.awaitLog("it is tried again")

        try installation.signOut()
        try installation.restartDaemon()
        try installation.awaitLog("is not used")

        #expect(try installation.status().state == "notLoggedIn")
        #expect(try installation.cloud.counter("exchanges") == 0)
    }

    @Test func `a sign-out cancels a credential that was not used because of a session, also across restarts`()
        throws
    {
        let installation = try Installation()
        let credentials = try Credentials(installation)
        try installation.startDaemon()
        try installation.signInNewUser("alice")
        let other = try installation.cloud.makeUser("bob")
        try credentials.place("signInToken", installation.cloud.signInToken(for: other))
        try installation.restartDaemon()
        try installation.awaitLog("is not used")

        try installation.signOut()
        try installation.restartDaemon()
        try installation.awaitLog("it was used before")

        #expect(try installation.status().state == "notLoggedIn")
        #expect(try installation.cloud.counter("exchanges") == 1)
    }

    @Test func `a sign-out cancels every credential placed before it, read or unread`() throws {
        let (installation, credentials, _) = try prepared()
        try installation.startDaemon()
        try installation.awaitSnapshot { $0.state == "established" }
        let client = try installation.connect()
        for name in ["bob", "carol", "dora"] {
            let other = try installation.cloud.makeUser(name)
            try credentials.place("signInToken", installation.cloud.signInToken(for: other))
            try client.call("session.signOut")
        }

        // A credential that the daemon read before the sign-out may have been sent. None is used from now on.
        try installation.restartDaemon()
        try installation.awaitLog("it was used before")

        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `a credential that is placed during another one's exchange is tried afterwards`() throws {
        let (installation, credentials) = try preparedForDeletedUser()
        let user = try installation.cloud.makeUser("bob")
        try installation.cloud.fault(["match": "/v1/token", "hang": true, "times": 1])
        try installation.startDaemon()
        try installation.awaitSnapshot { $0.state == "establishing" }

        try credentials.place("signInToken", installation.cloud.signInToken(for: user))
        // The event loop that answers this request has also checked the folder.
        _ = try installation.status()
        try installation.cloud.release()

        try installation.awaitSnapshot { $0.state == "established" && $0.userId == user }
    }

    @Test func `a refused token is not tried again on a new device`() throws {
        let (installation, _) = try preparedForDeletedUser()
        try installation.startDaemon()
        try installation.awaitLog("is not tried again")
        let requests = try installation.cloud.counter("tokenRequests")

        try installation.restartDaemon()
        try installation.awaitLog("it was used before")

        #expect(try installation.cloud.counter("tokenRequests") == requests)
    }

    @Test func `a sign-out deletes the Sign-In Token that a link code returned`() throws {
        let installation = try Installation.started()
        let client = try installation.connect()
        let (code, _) = try installation.spendLinkCode(on: client)

        try client.call("session.signOut")

        #expect(try client.refusal("session.signIn", code).kind == "invalidCredential")
        #expect(try installation.cloud.requests(to: "/v2/link/code/exchange").count == 2)
    }

    @Test func `no credential is tried while the list of used ones is unreadable, and doctor reports it`() throws {
        let (installation, _, _) = try prepared()
        try installation.cloud.change(["singleUseSignInTokens": false])
        try installation.startDaemon()
        try installation.awaitSnapshot { $0.state == "established" }
        try installation.signOut()
        try installation.stopDaemon()
        let files = FileManager.default
        let notes = installation.stateDirectory + "/used-credentials"
        try files.moveItem(atPath: notes, toPath: notes + ".aside")
        try files.createDirectory(atPath: notes, withIntermediateDirectories: false)

        try installation.startDaemon()
        try installation.awaitLog("whether it was used before cannot be known")

        #expect(try installation.status().state == "notLoggedIn")
        let finding = try #require(try installation.findings().first)
        #expect(finding["verdict"] as? String == "problem")
        #expect((finding["detail"] as? String)?.contains(notes) == true)

        try files.removeItem(atPath: notes)
        try files.moveItem(atPath: notes + ".aside", toPath: notes)
        installation.daemon?.signal(SIGHUP)
        try installation.awaitLog("it was used before")
        #expect(try installation.cloud.counter("exchanges") == 1)
    }

    @Test(arguments: [false, true])
    func `an invalid credential is followed by the next one, and doctor reports both`(
        isThereAtFirst: Bool
    ) throws {
        let installation = try Installation()
        let credentials = try Credentials(installation)
        let user = try installation.cloud.makeUser()
        let code = try installation.cloud.linkCode(for: user)
        let expired = try installation.cloud.signInToken(for: user, ["expired": true])
        try credentials.place("signInToken", expired)
        if isThereAtFirst { try credentials.place("linkCode", code) }
        try installation.startDaemon()
        try installation.awaitLog("is not tried again")

        if !isThereAtFirst { try credentials.place("linkCode", code) }

        try installation.awaitSnapshot { $0.state == "established" && $0.userId == user }
        let findings = try installation.findings()
        #expect(findings.map { $0["verdict"] as? String } == ["problem", "ok"])
        #expect(
            try findings.map { try #require($0["detail"] as? String) }.map { $0.split(separator: " ")[2] }
                == ["signInToken", "linkCode"]
        )

        try installation.signOut()
        try installation.restartDaemon()
        try installation.awaitLog("linkCode is not used: it was used before")
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test(arguments: [false, true])
    func `a credential that waits during another user's session is kept for later`(isRestarted: Bool) throws {
        let (installation, _, user) = try prepared()
        let time = try ShiftedTime(installation)
        let busy: Object = ["match": "/v1/token", "status": 503, "headers": ["Retry-After": "600"], "times": 1]
        try installation.cloud.fault(busy)
        try installation.startDaemon()
        try installation.awaitLog("it is tried again")
        let other = try installation.signInNewUser("bob")

        if isRestarted { try installation.restartDaemon() }
        // The provider's Retry-After has passed.
        time.advance(by: .minutes(20))
        try installation.awaitLog("it is kept until nobody is")
        #expect(try installation.status().userId == other)

        try installation.cloud.drive("delete", other)
        _ = try installation.connect().refusal("session.renew")
        try installation.awaitSnapshot { $0.state == "established" && $0.userId == user }
    }

    @Test func `a bootstrap credential does not replace the signed-in user`() throws {
        let installation = try Installation()
        let credentials = try Credentials(installation)
        try installation.startDaemon()
        let user = try installation.signInNewUser("alice")
        let other = try installation.cloud.makeUser("bob")
        try credentials.place("signInToken", installation.cloud.signInToken(for: other))

        try installation.restartDaemon()
        try installation.awaitLog("is not used")

        #expect(try installation.status().userId == user)
    }
}

extension Credentials {
    fileprivate func place(_ name: String, _ secret: String) throws {
        try write(Data("\(secret)\n".utf8), to: name)
    }
}

extension Installation {
    /// Returns doctor's findings about the credentials, in order.
    fileprivate func findings() throws -> [Object] {
        let checks = try connect().call("daemon.diagnose")["checks"] as? [Object] ?? []
        return checks.filter { $0["name"] as? String == "provisioning" }
    }

    fileprivate func awaitLog(_ text: String) throws {
        try daemon?.awaitError(text)
    }
}
