import Foundation
import Testing

/// A daemon that a client's connection starts, and whose configuration is refused.
@Suite(.enabled("systemd-socket-activate is not installed") { SystemPrograms.has(SystemPrograms.socketActivate) })
struct RefusedStartTests {
    private func activate(
        _ installation: Installation,
        door: String? = nil
    ) throws -> (TalkingProgram, socket: String) {
        try installation.writeConfiguration()
        let socket = installation.folder.fresh("passed.sock")
        let sockets = ["-l", socket] + (door.map { ["-l", $0, "--fdname=rpc:api"] } ?? ["--fdname=rpc"])
        let command = [SystemPrograms.socketActivate] + sockets + [Program.path(of: "junctiond")]
        let activator = try TalkingProgram(
            "/bin/sh",
            ["-c", #"exec "$0" "$@" 2>&1"#] + command + installation.daemonArguments,
            in: installation.folder
        )
        for _ in door == nil ? 0..<1 : 0..<2 {
            guard try activator.lines.next() != nil else {
                throw Program.Failure(description: "\(SystemPrograms.socketActivate) does not listen")
            }
        }
        return (activator, socket)
    }

    @Test func `whoever connects is told what is wrong on every call, and nothing of the session is opened`() throws {
        let installation = try Installation(configuration: "nonsense = 1")
        let (daemon, socket) = try activate(installation)
        let client = try RawClient(socket)

        for method in ["session.status", "token.get", "session.signOut", "daemon.metrics", "rpc.discover", "no.such"] {
            let refusal = try client.refusal(method)
            #expect(refusal.code == 1013)
            #expect(refusal.kind == "misconfigured")
            #expect(refusal.message.contains("nonsense"))
        }
        let environment = ["JUNCTIOND_SOCKET": socket]
        for verb in ["status", "token", "wait", "watch"] {
            let ending = try installation.ctl(verb, environment: environment)
            #expect(ending.status == 78, "\(verb)")
            #expect(ending.errors.contains("nonsense"), "\(verb)")
        }
        #expect(!FileManager.default.fileExists(atPath: installation.stateDirectory))
        #expect(daemon.program.isRunning)
        daemon.program.signal(SIGTERM)
        #expect(try daemon.program.wait().status == 0)
        #expect(FileManager.default.fileExists(atPath: socket))
    }

    @Test func `a reload with a configuration in order makes the same process the daemon`() throws {
        let installation = try Installation(configuration: "nonsense = 1")
        let (daemon, socket) = try activate(installation)
        #expect(try RawClient(socket).refusal("session.status").code == 1013)

        installation.configuration = "other = 1"
        try installation.writeConfiguration()
        daemon.program.signal(SIGHUP)
        var words = ""
        while !words.contains("other") { words = try #require(try daemon.lines.next()) }
        #expect(try RawClient(socket).refusal("session.status").message.contains("other"))
        installation.configuration = ""
        try installation.writeConfiguration()
        daemon.program.signal(SIGHUP)
        while !words.contains("Ready") { words = try #require(try daemon.lines.next()) }

        let client = try RawClient(socket)
        #expect(try client.call("session.status").state == "notLoggedIn")
        #expect(try client.call("daemon.info")["pid"] as? Int == Int(daemon.program.identifier))
        daemon.program.signal(SIGTERM)
        #expect(try daemon.program.wait().status == 0)
    }

    @Test(.enabled("curl is not installed") { SystemPrograms.has(SystemPrograms.curl) })
    func `whoever speaks HTTP is told, too, whoever came first, until it is in order`() throws {
        let installation = try Installation(configuration: "nonsense = 1")
        let door = HttpDoor(installation.folder.fresh("api.sock"), in: installation.folder)
        let (daemon, socket) = try activate(installation, door: door.socket)

        // This connection starts it: nobody waits at the other socket.
        let first = try door.ask("/v2/user/:userId")
        #expect(first.status == 503)
        #expect(first.kind == "misconfigured")
        let problem = try first.json()
        #expect(problem["kind"] as? String == "misconfigured")
        #expect((problem["detail"] as? String)?.contains("nonsense") == true)
        for path in ["/.junction/status", "/.junction/token", "/.junction/events", "/.junction/openapi.json", "/"] {
            #expect(try door.ask(path, "-H", "Junction-Local: true").kind == "misconfigured", "\(path)")
        }
        #expect(try RawClient(socket).refusal("session.status").kind == "misconfigured")
        #expect(!FileManager.default.fileExists(atPath: installation.stateDirectory))

        installation.configuration = ""
        try installation.writeConfiguration()
        daemon.program.signal(SIGHUP)
        var words = ""
        while !words.contains("Ready") { words = try #require(try daemon.lines.next()) }

        #expect(try door.ask("/.junction/status").json().state == "notLoggedIn")
        #expect(try door.ask("/v2/user/:userId").kind == "notSignedIn")
        #expect(try RawClient(socket).call("session.status").state == "notLoggedIn")
        daemon.program.signal(SIGTERM)
        #expect(try daemon.program.wait().status == 0)
    }

    @Test func `whoever ends it right after a reload is not forgotten`() throws {
        let installation = try Installation(configuration: "nonsense = 1")
        let (daemon, socket) = try activate(installation)
        #expect(try RawClient(socket).refusal("session.status").code == 1013)
        installation.configuration = ""
        try installation.writeConfiguration()

        daemon.program.signal(SIGHUP)
        daemon.program.signal(SIGTERM)

        #expect(try daemon.program.wait().status == 0)
    }

    @Test func `what is no call is answered as ever, a line that is too long ends the connection`() throws {
        let installation = try Installation(configuration: "nonsense = 1")
        let (daemon, socket) = try activate(installation)
        let client = try RawClient(socket)

        client.send("not JSON")
        #expect((try client.message()["error"] as? Object)?["code"] as? Int == -32700)
        client.send(#"[{"jsonrpc":"2.0","id":1,"method":"session.status"}]"#)
        #expect((try client.message()["error"] as? Object)?["code"] as? Int == 1013)
        client.send(String(repeating: "x", count: 1 << 17))
        #expect((try client.message()["error"] as? Object)?["code"] as? Int == 1013)
        #expect(throws: (any Error).self) { try client.message() }
        #expect(try RawClient(socket).refusal("session.status").code == 1013)
        daemon.program.signal(SIGTERM)
        #expect(try daemon.program.wait().status == 0)
    }
}
