import Foundation
import JunctionTesting
import Testing

/// Tests of a daemon with passed sockets and a refused configuration.
struct RefusedStartTests {
    /// The service manager of the daemon, with the sockets and the file-descriptor store.
    private final class ServiceManager {
        let installation: Installation
        private let rpc: TestListener
        private var api: TestListener?
        /// The receiver of the descriptors that the daemon stores.
        var store: FakeServiceManager?

        init(_ installation: Installation) throws {
            self.installation = installation
            rpc = try installation.listen()
        }

        func listen(at path: String) throws { api = try TestListener(.path(path)) }

        /// Starts the daemon and waits until it is ready.
        func start() throws -> FakeServiceManager {
            var passed = store?.kept ?? [:]
            passed["rpc"] = rpc.descriptor
            passed["api"] = api?.descriptor
            return try installation.startDaemon(kept: passed)
        }

        /// Reloads the running daemon with another configuration.
        func reload(with configuration: String) throws {
            try installation.change(configuration)
            installation.daemon?.signal(SIGHUP)
        }

        func awaitEnd() throws -> Program.Ending {
            try #require(try installation.daemon?.wait())
        }
    }

    private static let broken = "nonsense = 1"

    @Test func `every call is answered with the configuration error, and the session is not opened`() throws {
        let installation = try Installation(configuration: Self.broken)
        let manager = try ServiceManager(installation)
        let client = try installation.connect()
        _ = try manager.start()

        for method in ["session.status", "token.get", "session.signOut", "daemon.metrics", "rpc.discover", "no.such"] {
            let refusal = try client.refusal(method)
            #expect(refusal.code == 1013)
            #expect(refusal.kind == "misconfigured")
            #expect(refusal.message.contains("nonsense"))
        }
        for verb in ["status", "token", "wait", "watch"] {
            let ending = try installation.ctl(verb)
            #expect(ending.status == 78, "\(verb)")
            #expect(ending.errors.contains("nonsense"), "\(verb)")
        }
        #expect(!FileManager.default.fileExists(atPath: installation.stateDirectory))
        try installation.stopDaemon()
        #expect(FileManager.default.fileExists(atPath: installation.socket))
    }

    @Test func `the start fails without a waiting client and without a stored copy`() throws {
        let installation = try Installation(configuration: Self.broken)
        let manager = try ServiceManager(installation)

        #expect(throws: (any Error).self) { try manager.start() }

        #expect(try manager.awaitEnd().status == 78)
    }

    @Test func `a reload with a valid configuration ends the process, and the next one serves waiting clients`()
        throws
    {
        let installation = try Installation(configuration: Self.broken)
        let manager = try ServiceManager(installation)
        let first = try installation.connect()
        let notify = try manager.start()
        #expect(try first.refusal("session.status").code == 1013)

        try manager.reload(with: "other = 1")
        try notify.wait(for: "READY=1")
        #expect(try first.refusal("session.status").message.contains("other"))
        try manager.reload(with: "")
        try notify.wait(for: "READY=1")
        // The process still exists but answers no more. This client waits for the next process.
        let second = try installation.connect()
        second.send(#"{"jsonrpc":"2.0","id":1,"method":"session.status"}"#)
        #expect(throws: (any Error).self) { try first.message() }
        let ending = try manager.awaitEnd()
        #expect(ending.status == 75)
        #expect(ending.errors.contains("The configuration is in order now"))

        _ = try manager.start()
        #expect((try second.message()["result"] as? Object)?.state == "notLoggedIn")
        try installation.stopDaemon()
    }

    @Test
    func `daemon.reload is answered with the error, or with success for a valid configuration`()
        throws
    {
        let installation = try Installation(configuration: Self.broken)
        let manager = try ServiceManager(installation)
        let client = try installation.connect()
        _ = try manager.start()

        try installation.change("other = 1")
        let refusal = try client.refusal("daemon.reload")
        #expect(refusal.kind == "misconfigured")
        #expect(refusal.message.contains("other"))
        try installation.change("")
        #expect(try client.call("daemon.reload")["pendingRestart"] as? [String] == [])

        #expect(try manager.awaitEnd().status == 75)
    }

    @Test func `a newer record in the file-descriptor store survives a refused start and a reload`() throws {
        let installation = try Installation(rotationGrace: 0)
        let disk = try BrokenDisk(installation)
        let manager = try ServiceManager(installation)
        let first = try manager.start()
        let user = try installation.signInNewUser()
        try disk.breakDown()
        #expect(try installation.connect().call("session.renew").generation == 2)
        let token = try installation.token()
        try first.catchUp()
        try installation.killDaemon()
        try disk.removeLeftovers()
        manager.store = first
        #expect(!first.kept.isEmpty)

        // No client waits. The process runs on because of the stored copy, which the service manager would drop after a
        // failed start.
        installation.configuration = Self.broken
        let refusing = try manager.start()
        #expect(try installation.connect().refusal("token.get").code == 1013)
        try manager.reload(with: "")
        #expect(try manager.awaitEnd().status == 75)
        let said = try refusing.catchUp()
        #expect(said.contains("READY=1"))
        #expect(!said.contains { $0.hasPrefix("FDSTORE") || $0.hasPrefix("FDNAME") })

        _ = try manager.start()
        let adopted = try installation.status()
        #expect(adopted.generation == 2)
        #expect(adopted.userId == user)
        #expect(!adopted.isDurable)
        #expect(try installation.token() == token)
        // The provider accepts each refresh token once, so the older record would end the session.
        #expect(try installation.connect().call("session.renew").generation == 3)
        #expect(try installation.cloud.counter("familyRevocations") == 0)
    }

    @Test(.needsCurl)
    func `HTTP clients get the configuration error until the configuration is valid`() throws {
        let installation = try Installation(configuration: Self.broken)
        let api = ApiSocket(installation.folder.fresh("api.sock"), in: installation.folder)
        let manager = try ServiceManager(installation)
        try manager.listen(at: api.socket)
        // The process runs on because of this connection. No client waits at the other socket.
        let waiting = try RawClient(api.socket)
        let notify = try manager.start()
        _ = waiting

        let first = try api.ask("/v2/user/:userId")
        #expect(first.status == 503)
        #expect(first.kind == "misconfigured")
        let problem = try first.json()
        #expect(problem["kind"] as? String == "misconfigured")
        #expect((problem["detail"] as? String)?.contains("nonsense") == true)
        for path in ["/.junction/status", "/.junction/token", "/.junction/events", "/.junction/openapi.json", "/"] {
            #expect(try api.ask(path, "-H", "Junction-Local: true").kind == "misconfigured", "\(path)")
        }
        #expect(try installation.connect().refusal("session.status").kind == "misconfigured")
        #expect(!FileManager.default.fileExists(atPath: installation.stateDirectory))

        try manager.reload(with: "")
        try notify.wait(for: "READY=1")
        #expect(try manager.awaitEnd().status == 75)
        _ = try manager.start()
        #expect(try api.ask("/.junction/status").json().state == "notLoggedIn")
        #expect(try api.ask("/v2/user/:userId").kind == "notSignedIn")
        #expect(try installation.status().state == "notLoggedIn")
        try installation.stopDaemon()
    }

    @Test func `a SIGTERM immediately after a reload ends the process with 0`() throws {
        let installation = try Installation(configuration: Self.broken)
        let manager = try ServiceManager(installation)
        let client = try installation.connect()
        _ = try manager.start()
        #expect(try client.refusal("session.status").code == 1013)

        // Both signals are pending when the process continues. The kernel delivers SIGHUP first.
        installation.daemon?.signal(SIGSTOP)
        try manager.reload(with: "")
        installation.daemon?.signal(SIGTERM)
        installation.daemon?.signal(SIGCONT)

        #expect(try manager.awaitEnd().status == 0)
    }
}
