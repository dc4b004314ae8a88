import Foundation
import JunctionTesting
import Testing

/// Tests of the service manager's notifications, signals and passed descriptors.
@Suite struct ServiceManagerTests {
    @Test func `READY=1 is sent when the socket answers and the state is loaded`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.killDaemon()

        let notify = try FakeServiceManager(.path)
        try installation.launchDaemon(["NOTIFY_SOCKET": notify.name])
        var message: [String] = []
        while !message.contains("READY=1") { message = try notify.next() }
        let status = try installation.status()

        #expect(message.contains("STATUS=A user is signed in"))
        #expect(status.userId == user)
    }

    @Test func `the service manager's status text reports each transition`() throws {
        let installation = try Installation(accessTokenLifetime: 2)
        let notify = try installation.startDaemon()
        let user = try installation.cloud.makeUser()

        try installation.cloud.fault(["status": 503, "headers": ["Retry-After": "1"]])
        try installation.signIn(user)
        try notify.wait(for: "STATUS=Signing in")
        try notify.wait(for: "STATUS=A user is signed in")
        try notify.wait("the expiry") { $0.hasPrefix("STATUS=") && $0.contains("expired") }
        try installation.cloud.change(["accessTokenLifetime": 3_600])
        try installation.cloud.clearFaults()
        try notify.wait(for: "STATUS=A user is signed in")
        try installation.cloud.drive("delete", user)
        #expect(try installation.connect().refusal("session.renew").kind == "sessionTerminated")
        try notify.wait("the termination") { $0.hasPrefix("STATUS=") && $0.contains("invalid_token") }
        try installation.signOut()
        try notify.wait(for: "STATUS=Nobody is signed in")
    }

    @Test func `watchdog heartbeats are sent one after another if the service manager asks for them`() throws {
        let installation = try Installation()
        let notify = try installation.startDaemon(["WATCHDOG_USEC": "200000"])

        for _ in 0..<5 { try notify.wait(for: "WATCHDOG=1") }
    }

    @Test func `each issued token has a log line with the caller`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        let client = try installation.connect()
        for _ in 0..<3 { try client.call("token.get") }
        try installation.connect().call("session.renew")
        try client.call("token.get")
        try installation.stopDaemon()

        let log = try #require(installation.daemon?.errors)
        let lines = log.split(separator: "\n").filter { $0.contains("Handed out an access token") }
        let caller = "peerPid=\(getpid()) peerUid=\(getuid())"
        #expect(lines.count == 4)
        #expect(lines.filter { $0.contains("generation=1") && $0.contains(caller) }.count == 3)
        #expect(lines.filter { $0.contains("generation=2") && $0.contains(caller) }.count == 1)
    }

    @Test func `a closed log does not end the daemon`() throws {
        let installation = try Installation()
        try installation.writeConfiguration()
        let notify = try FakeServiceManager(.path)
        let daemon = try RunningProgram(
            "/bin/sh",
            ["-c", #"exec "$0" "$@" 2>&1"#, Program.path(of: "junctiond")] + installation.daemonArguments,
            in: installation.folder,
            environment: ["NOTIFY_SOCKET": notify.name]
        )
        try notify.waitUntilReady(daemon.program)

        daemon.stopListening()
        let user = try installation.signInNewUser()
        try installation.signOut()
        try installation.signIn(user)

        #expect(try installation.status().userId == user)
        #expect(daemon.program.isRunning)
    }

    // MARK: Reloading

    @Test func `SIGHUP applies a new configuration without a restart`() throws {
        let installation = try Installation()
        let notify = try installation.startDaemon()
        let user = try installation.signInNewUser()
        let call: Object = ["method": "GET", "path": "/v2/user/\(user)"]
        let client = try installation.connect()
        #expect(try client.call("api.request", call)["status"] as? Int == 200)

        try installation.change("[api]\nexpose = false")
        installation.daemon?.signal(SIGHUP)
        let lines = try notify.wait("the end of the reload") { $0 == "READY=1" }

        #expect(lines.contains("RELOADING=1"))
        #expect(lines.contains { $0.hasPrefix("MONOTONIC_USEC=") })
        #expect(try client.refusal("api.request", call).kind == "permissionDenied")
        #expect(try client.call("session.status").userId == user)
    }

    @Test func `SIGHUP with an invalid configuration keeps the old one and reports why`() throws {
        let installation = try Installation(configuration: "[api]\nexpose = false")
        let notify = try installation.startDaemon()
        let user = try installation.signInNewUser()

        try installation.change("[api]\nexpose = true\nexposed = true")
        installation.daemon?.signal(SIGHUP)
        let lines = try notify.wait("the complaint") { $0.hasPrefix("STATUS=") && $0.contains("api.exposed") }

        #expect(lines.contains("RELOADING=1"))
        let call: Object = ["method": "GET", "path": "/v2/user/\(user)"]
        #expect(try installation.connect().refusal("api.request", call).kind == "permissionDenied")
        try installation.daemon?.awaitError(installation.configurationFile)
        try installation.daemon?.awaitError("api.exposed")

        try installation.change("")
        installation.daemon?.signal(SIGHUP)
        try notify.wait(for: "STATUS=A user is signed in")
    }

    /// Configurations that a start refuses, with a word of the error.
    static let unstartable = [
        ("[tls]\ncaFile = \"/nowhere/ca.pem\"", "tls.caFile"),
        ("provider = \"sinch\"", "sinch.applicationKey"),
        ("provider = \"social\"\n[social]\napiKeyFile = \"KEY\"", "social.apiKeyFile"),
    ]

    @Test(arguments: unstartable.map(\.0))
    func `SIGHUP refuses what a start refuses, and the old rights stay in force`(configuration: String) throws {
        let installation = try Installation(configuration: "[api]\nexpose = false")
        let notify = try installation.startDaemon()
        let user = try installation.signInNewUser()
        let words = try #require(Self.unstartable.first { $0.0 == configuration }?.1)

        // A key that is not valid in an HTTP header.
        let key = try installation.folder.write("no key\n", to: "key")
        installation.providerSettings = { _ in configuration.replacingOccurrences(of: "KEY", with: key) }
        try installation.change("[api]\nexpose = true")
        installation.daemon?.signal(SIGHUP)
        try notify.wait("the complaint") { $0.hasPrefix("STATUS=") && $0.contains(words) }

        let call: Object = ["method": "GET", "path": "/v2/user/\(user)"]
        #expect(try installation.connect().refusal("api.request", call).kind == "permissionDenied")
        let check = try installation.checkConfiguration()
        #expect(check.status == 78)
        #expect(check.errors.contains(words))
    }

    @Test func `SIGHUP and a start refuse another provider while a user of this one is signed in`() throws {
        let installation = try Installation(configuration: "[api]\nexpose = false")
        let notify = try installation.startDaemon()
        let user = try installation.signInNewUser()
        let key = try installation.folder.write("sandbox-api-key\n", to: "api-key")

        installation.providerSettings = { _ in "provider = \"social\"\n[social]\napiKeyFile = \"\(key)\"" }
        try installation.change("[api]\nexpose = true")
        installation.daemon?.signal(SIGHUP)
        let lines = try notify.wait("the end of the reload") { $0 == "READY=1" }

        let words = "belongs to provider \"junction\""
        #expect(lines.contains { $0.hasPrefix("STATUS=") && $0.contains(words) })
        let call: Object = ["method": "GET", "path": "/v2/user/\(user)"]
        #expect(try installation.connect().refusal("api.request", call).kind == "permissionDenied")
        try installation.stopDaemon()
        try installation.launchDaemon()
        let ending = try #require(installation.daemon).wait()
        #expect(ending.status == 78)
        #expect(ending.errors.contains(words))
    }
}
