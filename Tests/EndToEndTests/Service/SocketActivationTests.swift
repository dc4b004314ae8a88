import Foundation
import JunctionTesting
import Testing

/// Tests of a daemon with a passed socket.
@Suite(.enabled("systemd-socket-activate is not installed") { SystemPrograms.has(SystemPrograms.socketActivate) })
struct SocketActivationTests {
    @Test func `a passed socket is served, and still exists after the daemon ends`() throws {
        let installation = try Installation()
        let (activator, socket) = try activate(installation)

        let client = try RawClient(socket)
        #expect(try client.call("session.status").state == "notLoggedIn")
        let process = try #require(try client.call("daemon.info")["pid"] as? Int)
        #expect(process == Int(activator.program.identifier))
        activator.program.signal(SIGTERM)
        let ending = try activator.program.wait()

        #expect(ending.status == 0)
        #expect(FileManager.default.fileExists(atPath: socket))
        #expect(!FileManager.default.fileExists(atPath: installation.socket))
    }

    @Test func `the session of a daemon with a passed socket survives SIGKILL`() throws {
        let installation = try Installation()
        let user = try installation.cloud.makeUser()
        let (activator, socket) = try activate(installation)
        try RawClient(socket).call("session.signIn", installation.cloud.credential(for: user))
        activator.program.signal(SIGKILL)
        try activator.program.wait()

        let (successor, again) = try activate(installation)

        #expect(try RawClient(again).call("session.status").userId == user)
        successor.program.signal(SIGTERM)
        #expect(try successor.program.wait().status == 0)
    }

    @Test func `a passed socket with another name is not used`() throws {
        let installation = try Installation()
        let (activator, socket) = try activate(installation, name: "other")

        // The first connection starts the daemon, and no process accepts it.
        let firstClient = try RawClient(socket)
        firstClient.send(#"{"jsonrpc":"2.0","method":"daemon.info","id":1}"#)
        let outcome = try installation.ctl("wait", "--for", "signed-out", "--timeout", "10")

        #expect(outcome.status == 0)
        #expect(!firstClient.socket.hasInput)
        activator.program.signal(SIGTERM)
        #expect(try activator.program.wait().status == 0)
        #expect(FileManager.default.fileExists(atPath: socket))
    }

    /// Starts `systemd-socket-activate`, which starts the daemon at the first connection.
    private func activate(_ installation: Installation, name: String = "rpc") throws -> (RunningProgram, socket: String)
    {
        try installation.writeConfiguration()
        let socket = installation.folder.fresh("passed.sock")
        let command = [SystemPrograms.socketActivate, "-l", socket, "--fdname=\(name)", Program.path(of: "junctiond")]
        let activator = try RunningProgram(
            "/bin/sh",
            ["-c", #"exec "$0" "$@" 2>&1"#] + command + installation.daemonArguments,
            in: installation.folder
        )
        // The program prints its first line when it listens.
        guard try activator.lines.next() != nil else {
            throw TestFailure(description: "\(SystemPrograms.socketActivate) does not listen")
        }
        return (activator, socket)
    }
}
