import Foundation
import Testing

/// A socket that is passed in.
@Suite(.enabled("systemd-socket-activate is not installed") { SystemPrograms.has(SystemPrograms.socketActivate) })
struct SocketActivationTests {
    @Test func `a passed socket is served, and is still there after the end`() throws {
        let installation = try Installation()
        let (activator, socket) = try activate(installation)

        let client = try RawClient(socket)
        #expect(try client.call("session.status").state == "notLoggedIn")
        let process = try #require(try client.call("daemon.info")["pid"] as? Int)
        #expect(process == Int(activator.identifier))
        activator.signal(SIGTERM)
        let ending = try activator.wait()

        #expect(ending.status == 0)
        #expect(FileManager.default.fileExists(atPath: socket))
        #expect(!FileManager.default.fileExists(atPath: installation.socket))
    }

    @Test func `the session of a passed socket survives SIGKILL like any other`() throws {
        let installation = try Installation()
        let user = try installation.cloud.makeUser()
        let (activator, socket) = try activate(installation)
        try RawClient(socket).call("session.signIn", installation.cloud.credential(for: user))
        activator.signal(SIGKILL)
        try activator.wait()

        let (successor, again) = try activate(installation)

        #expect(try RawClient(again).call("session.status").userId == user)
        successor.signal(SIGTERM)
        #expect(try successor.wait().status == 0)
    }

    @Test func `a passed socket of another name is not taken`() throws {
        let installation = try Installation()
        let (activator, socket) = try activate(installation, name: "other")

        // The first connection is what starts the daemon.
        let client = try RawClient(socket)
        let began = try? client.call("daemon.info")

        // Either it serves its own socket beside it, or it says what is wrong; it never answers on this one.
        #expect(began == nil)
        activator.signal(SIGTERM)
        try activator.wait()
    }

    /// The daemon as the service manager would start it: by the first connection.
    private func activate(_ installation: Installation, name: String = "rpc") throws -> (Program, socket: String) {
        try installation.writeConfiguration()
        let socket = installation.folder.fresh("passed.sock")
        let activator = try Program(
            SystemPrograms.socketActivate,
            ["-l", socket, "--fdname=\(name)", Program.path(of: "junctiond")] + installation.daemonArguments,
            in: installation.folder
        )
        // It says on standard error that it listens.
        while activator.isRunning, !activator.errors.contains("Listening on") { sched_yield() }
        return (activator, socket)
    }
}
