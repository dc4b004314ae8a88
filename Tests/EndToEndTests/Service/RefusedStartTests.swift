import Foundation
import Testing

/// A daemon that a client's connection starts, and whose configuration is refused.
@Suite(.enabled("systemd-socket-activate is not installed") { SystemPrograms.has(SystemPrograms.socketActivate) })
struct RefusedStartTests {
    private func activate(_ installation: Installation) throws -> (TalkingProgram, socket: String) {
        try installation.writeConfiguration()
        let socket = installation.folder.fresh("passed.sock")
        let command = [SystemPrograms.socketActivate, "-l", socket, "--fdname=rpc", Program.path(of: "junctiond")]
        let activator = try TalkingProgram(
            "/bin/sh",
            ["-c", #"exec "$0" "$@" 2>&1"#] + command + installation.daemonArguments,
            in: installation.folder
        )
        guard try activator.lines.next() != nil else {
            throw Program.Failure(description: "\(SystemPrograms.socketActivate) does not listen")
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
