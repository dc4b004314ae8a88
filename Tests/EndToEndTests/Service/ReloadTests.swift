import Foundation
import JunctionTesting
import Testing

/// Tests of a reload that changes settings which only a start applies.
struct ReloadTests {
    private static let elsewhere = "http://127.0.0.1:9"

    /// Changes the server for sign-ins in the configuration file.
    private func move(_ installation: Installation) throws {
        try installation.changeProvider { "[junction]\nauthUrl = \"\(Self.elsewhere)\"\napiUrl = \"\($0)\"" }
    }

    @Test func `a setting that needs a restart is reported everywhere until it is set back`() throws {
        let installation = try Installation()
        let notify = try installation.startDaemon()
        let user = try installation.signInNewUser()
        let (provider, client) = (installation.providerSettings, try installation.connect())

        try move(installation)
        let result = try client.call("daemon.reload")
        let status = try notify.wait("the status") { $0.hasPrefix("STATUS=") && $0.contains("junction.authUrl") }

        #expect(result["pendingRestart"] as? [String] == ["junction.authUrl"])
        #expect(status.last == "STATUS=A user is signed in; waiting for a restart: junction.authUrl")
        #expect(try client.call("daemon.info")["pendingRestart"] as? [String] == ["junction.authUrl"])
        let text = try installation.ctl("status")
        #expect(text.status == 0)
        #expect(text.output.contains("junction.authUrl"))
        #expect(text.output.contains("systemctl restart junctiond"))
        try installation.daemon?.awaitError("settings=junction.authUrl")

        try installation.signOut()
        let failing = try installation.ctl("sign-in", input: "nonsense")
        #expect(failing.status == 1)
        #expect(failing.errors.contains("junction.authUrl"))
        #expect(failing.errors.contains("systemctl restart junctiond"))
        try installation.daemon?.awaitError("waits for a restart (junction.authUrl)")

        try installation.signIn(user)
        try installation.changeProvider(provider)
        #expect(try client.call("daemon.reload")["pendingRestart"] as? [String] == [])
        #expect(try client.call("daemon.info")["pendingRestart"] as? [String] == [])
        #expect(try !installation.ctl("status").output.contains("restart"))
    }

    @Test func `a secret file with another content needs a restart while a user is signed in`() throws {
        let installation = try Installation.social()
        let client = try installation.connect()
        try client.call("session.signIn", ["scheme": "userLogin", "userId": "Anna"])

        _ = try installation.folder.write("another-api-key", to: "api-key")
        #expect(try client.call("daemon.reload")["pendingRestart"] as? [String] == ["social.apiKeyFile"])
        let doctor = try installation.ctl("doctor")
        _ = try installation.folder.write("sandbox-api-key", to: "api-key")

        #expect(doctor.output.contains("what takes effect at the next start only: social.apiKeyFile."))
        #expect(!doctor.output.contains("another-api-key"))
        #expect(try client.call("daemon.reload")["pendingRestart"] as? [String] == [])
    }

    @Test func `a refused reload fails for any reason`() throws {
        let installation = try Installation()
        try installation.startDaemon()
        let user = try installation.signInNewUser()
        let client = try installation.connect()

        try installation.changeProvider { _ in "provider = \"social\"" }
        let provider = try client.refusal("daemon.reload")
        let ending = try installation.ctl("rpc", "daemon.reload")
        try installation.changeProvider { _ in "nonsense = 1" }
        let nonsense = try client.refusal("daemon.reload")

        #expect(provider.kind == "misconfigured")
        #expect(provider.message.contains("belongs to provider \"junction\""))
        #expect(ending.status == 78)
        #expect(nonsense.message.contains("nonsense"))
        #expect(try client.call("session.status").userId == user)
    }

    @Test(arguments: [true, false])
    func `without a signed-in user a reload applies every setting in the same process`(isPassed: Bool) throws {
        let installation = try Installation()
        let listener = isPassed ? try installation.listen() : nil
        let passed = listener.map { ["rpc": $0.descriptor] } ?? [:]
        let notify = try installation.startDaemon(kept: passed)
        let process = try #require(installation.daemon?.identifier)

        try installation.changeProvider { _ in "provider = \"social\"" }
        installation.daemon?.signal(SIGHUP)
        let lines = try notify.wait("the end of the reload") { $0 == "READY=1" }

        #expect(lines.contains("RELOADING=1"))
        #expect(!lines.contains("STOPPING=1"))
        let info = try installation.connect().call("daemon.info")
        #expect(info["provider"] as? String == "social")
        #expect(info["pid"] as? Int == Int(process))
        #expect(info["pendingRestart"] as? [String] == [])
        try installation.stopDaemon()
        #expect(FileManager.default.fileExists(atPath: installation.socket) == isPassed)
    }

    @Test func `a reload that waits for its file does not delay the end of the daemon`() throws {
        let installation = try Installation()
        let notify = try installation.startDaemon()
        // No program opens the other end of this pipe.
        let path = "\(installation.folder.path)/junctiond.toml"
        #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)

        installation.daemon?.signal(SIGHUP)
        try notify.wait("the beginning of the reload") { $0 == "RELOADING=1" }
        installation.daemon?.signal(SIGTERM)

        try notify.wait("the end") { $0 == "STOPPING=1" }
        #expect(try installation.daemon?.wait().status == 0)
    }

    /// The next start would refuse a session of the old provider.
    @Test func `while a grant waits, another provider waits for a restart, and nobody can sign in with the old one`()
        throws
    {
        let installation = try Installation.started()
        let client = try installation.connect()
        let (code, user) = try installation.spendLinkCode(on: client)

        let ours = installation.providerSettings
        try installation.changeProvider { _ in "provider = \"social\"" }
        #expect(try (client.call("daemon.reload")["pendingRestart"] as? [String])?.isEmpty == false)
        let refusal = try client.refusal("session.signIn", code)
        #expect(refusal.kind == "misconfigured")
        #expect(refusal.message.contains("(provider"))
        #expect(refusal.message.contains("systemctl restart junctiond"))

        try installation.changeProvider(ours)
        try client.call("daemon.reload")
        #expect(try client.call("session.signIn", code).userId == user)
    }

    @Test func `after the end of a session a reload applies every setting`() throws {
        let installation = try Installation.social()
        try installation.stopDaemon()
        let notify = try installation.startDaemon()
        let client = try installation.connect()
        try client.call("session.signIn", ["scheme": "userLogin", "userId": "Anna"])
        try installation.cloud.sandbox("POST", "social/users/Anna/disable")
        try client.call("api.request", ["method": "GET", "path": "/api/v3/users/Anna"])
        try installation.awaitSnapshot { $0.state == "terminated" }

        try installation.change("[limits]\nproviderCallsPerMinute = 50")
        installation.daemon?.signal(SIGHUP)
        try notify.wait("the end of the reload") { $0 == "READY=1" }

        try installation.awaitSnapshot { $0.state == "terminated" }
        #expect(try installation.connect().call("daemon.info")["pendingRestart"] as? [String] == [])
    }

    @Test func `a changed api.socket needs a restart, because only a start can create the socket`() throws {
        let installation = try Installation()
        try installation.startDaemon()

        try installation.change("[api]\nsocket = \"\(installation.folder.path)/missing/api.sock\"")
        let client = try installation.connect()

        #expect(try client.call("daemon.reload")["pendingRestart"] as? [String] == ["api.socket"])
        // The same daemon answers on the same connection.
        #expect(try client.call("daemon.info")["pendingRestart"] as? [String] == ["api.socket"])
    }

    @Test func `the daemon does not restart itself while a revocation is pending`() throws {
        let installation = try Installation.social()
        try installation.connect().call("session.signIn", ["scheme": "userLogin", "userId": "anna"])
        try installation.cloud.stop()
        try installation.signOut()

        try installation.change("[limits]\nconnections = 7")

        #expect(
            try installation.connect().call("daemon.reload")["pendingRestart"] as? [String] == ["limits.connections"]
        )
        try installation.stopDaemon()
        #expect(
            try #require(installation.daemon?.errors).contains(
                "The provider has not confirmed the revocation of ended sessions"
            )
        )
    }

    @Test func `a call that restarts the daemon is answered, and a client that connects then waits`() throws {
        let installation = try Installation()
        let listener = try installation.listen()
        try installation.startDaemon(kept: ["rpc": listener.descriptor])
        let client = try installation.connect()

        try move(installation)
        let result = try client.call("daemon.reload")

        #expect(result["pendingRestart"] as? [String] == [])
        #expect(try installation.connect().call("daemon.info")["pendingRestart"] as? [String] == [])
        // The daemon uses the new server.
        let failing = try installation.ctl(
            "sign-in",
            input: installation.cloud.signInToken(for: installation.cloud.makeUser())
        )
        #expect(failing.status == 75)
        try installation.stopDaemon()
    }
}
