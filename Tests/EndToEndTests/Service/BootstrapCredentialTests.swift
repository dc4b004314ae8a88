import Foundation
import JunctionTesting
import Testing

/// Devices that no user sits at: a bootstrap credential signs in, once.
@Suite struct BootstrapCredentialTests {
    /// A device on which no user has signed in, with a credential for a new user.
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

    @Test func `a Sign-In Token signs in at the first start, and never again`() throws {
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

    @Test func `a link code signs in, too`() throws {
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

    @Test func `a token that is refused is not tried again, and the log says so`() throws {
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

    @Test func `a link code is good for its second call, whatever comes between the two`() throws {
        let (installation, _, user) = try prepared("linkCode")
        try installation.cloud.fault(["match": "/v1/token", "status": 503, "headers": ["Retry-After": "1"], "times": 1])

        try installation.startDaemon()

        try installation.awaitSnapshot { $0.state == "established" && $0.userId == user }
        #expect(try installation.cloud.requests(to: "/v2/link/code/exchange").count == 1)
    }

    @Test func `a person's link code is, too`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let code: Object = ["scheme": "linkCode", "code": try installation.cloud.linkCode(for: user)]
        let client = try installation.connect()
        try installation.cloud.fault(["match": "/v1/token", "status": 503, "times": 1])
        #expect(try client.refusal("session.signIn", code).kind == "providerUnavailable")

        #expect(try client.call("session.signIn", code).userId == user)
    }

    @Test func `a credential that is refused waits for another one, which a running daemon finds, and doctor says so`()
        throws
    {
        let installation = try Installation()
        let credentials = try Credentials(installation)
        let user = try installation.cloud.makeUser()
        let gone = try installation.cloud.makeUser("bob")
        try credentials.place("signInToken", installation.cloud.signInToken(for: gone))
        try installation.cloud.drive("delete", gone)
        try installation.startDaemon()
        try installation.awaitLog("is not tried again")
        let finding = try installation.findings().first
        #expect(finding?["verdict"] as? String == "problem")
        #expect((finding?["remedy"] as? String)?.contains("new one") == true)

        try credentials.place("signInToken", installation.cloud.signInToken(for: user))

        try installation.awaitSnapshot { $0.state == "established" && $0.userId == user }
    }

    @Test func `a sign-out ends a credential that waits for its next try, over restarts, too`() throws {
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

    @Test func `a sign-out ends a credential that was set aside for somebody who is signed in, over restarts, too`()
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

    @Test func `a sign-out ends what was put in place before it, whether or not it has been looked up`() throws {
        let (installation, credentials, _) = try prepared()
        try installation.startDaemon()
        try installation.awaitSnapshot { $0.state == "established" }
        let client = try installation.connect()
        for name in ["bob", "carol", "dora"] {
            let other = try installation.cloud.makeUser(name)
            try credentials.place("signInToken", installation.cloud.signInToken(for: other))
            try client.call("session.signOut")
        }

        try installation.restartDaemon()
        try installation.awaitLog("it was used before")

        #expect(try installation.status().state == "notLoggedIn")
        #expect(try installation.cloud.counter("exchanges") == 1)
    }

    @Test func `one that is put in place while another one is at the provider is tried after it`() throws {
        let installation = try Installation()
        let credentials = try Credentials(installation)
        let user = try installation.cloud.makeUser()
        let gone = try installation.cloud.makeUser("bob")
        try credentials.place("signInToken", installation.cloud.signInToken(for: gone))
        try installation.cloud.drive("delete", gone)
        try installation.cloud.fault(["match": "/v1/token", "hang": true, "times": 1])
        try installation.startDaemon()
        try installation.awaitSnapshot { $0.state == "establishing" }

        try credentials.place("signInToken", installation.cloud.signInToken(for: user))
        // The folder is looked at on the same loop that answers this.
        _ = try installation.status()
        try installation.cloud.release()

        try installation.awaitSnapshot { $0.state == "established" && $0.userId == user }
    }

    @Test func `on a fresh device, too, a token that is refused is not tried again`() throws {
        let installation = try Installation()
        let credentials = try Credentials(installation)
        let gone = try installation.cloud.makeUser()
        try credentials.place("signInToken", installation.cloud.signInToken(for: gone))
        try installation.cloud.drive("delete", gone)
        try installation.startDaemon()
        try installation.awaitLog("is not tried again")
        let requests = try installation.cloud.counter("tokenRequests")

        try installation.restartDaemon()
        try installation.awaitLog("it was used before")

        #expect(try installation.cloud.counter("tokenRequests") == requests)
    }

    @Test func `what a link code brought is forgotten by a sign-out`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let code: Object = ["scheme": "linkCode", "code": try installation.cloud.linkCode(for: user)]
        let client = try installation.connect()
        try installation.cloud.fault(["match": "/v1/token", "status": 503, "times": 1])
        #expect(try client.refusal("session.signIn", code).kind == "providerUnavailable")

        try client.call("session.signOut")

        #expect(try client.refusal("session.signIn", code).kind == "invalidCredential")
        #expect(try installation.cloud.requests(to: "/v2/link/code/exchange").count == 2)
    }

    @Test func `while it cannot be read what was used, nothing is tried, and doctor says so`() throws {
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
    func `a credential that is of no use makes way for the next one, and doctor speaks of each`(
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
    func `one that waits while somebody else signs in is kept until nobody is`(isRestarted: Bool) throws {
        let (installation, _, user) = try prepared()
        let time = try ShiftedTime(installation)
        let busy: Object = ["match": "/v1/token", "status": 503, "headers": ["Retry-After": "600"], "times": 1]
        try installation.cloud.fault(busy)
        try installation.startDaemon()
        try installation.awaitLog("it is tried again")
        let other = try installation.signInNewUser("bob")

        if isRestarted { try installation.restartDaemon() }
        // The pause that the provider demands is over.
        time.advance(by: .minutes(20))
        try installation.awaitLog("it is kept until nobody is")
        #expect(try installation.status().userId == other)

        try installation.cloud.drive("delete", other)
        _ = try installation.connect().refusal("session.renew")
        try installation.awaitSnapshot { $0.state == "established" && $0.userId == user }
    }

    @Test func `somebody who is signed in stays signed in`() throws {
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
    /// What doctor says of the credentials, in order.
    fileprivate func findings() throws -> [Object] {
        let checks = try connect().call("daemon.diagnose")["checks"] as? [Object] ?? []
        return checks.filter { $0["name"] as? String == "provisioning" }
    }

    fileprivate func awaitLog(_ text: String) throws {
        try daemon?.awaitError(text)
    }
}
