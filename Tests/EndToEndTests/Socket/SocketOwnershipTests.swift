import Foundation
import JunctionTesting
import Testing

/// Tests of the mode, the lock and the removal of the socket files.
@Suite struct SocketOwnershipTests {
    @Test func `only the daemon's user may open the socket`() throws {
        let installation = try Installation.started()

        #expect(FileManager.default.mode(of: installation.socket) == 0o600)
        #expect(FileManager.default.mode(of: installation.folder.path + "/run") == 0o700)
    }

    @Test func `a second daemon on the same state directory ends with 75 and does not affect the first`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()

        let second = try installation.secondDaemon(
            socket: installation.folder.path + "/other.sock",
            stateDirectory: installation.stateDirectory
        )

        #expect(second.status == 75)
        #expect(second.errors.contains(installation.stateDirectory))
        #expect(try installation.status().userId == user)
    }

    @Test(arguments: [false, true])
    func `a second daemon on the same socket ends with 75 and does not affect the first`(isHTTP: Bool) throws {
        let installation = isHTTP ? try Installation.withHTTP() : try Installation.started()
        let client = try installation.connect()

        let second = try installation.secondDaemon(
            socket: isHTTP ? installation.folder.path + "/other.sock" : installation.socket,
            stateDirectory: installation.folder.path + "/other"
        )

        #expect(second.status == 75)
        #expect(second.errors.contains(isHTTP ? installation.apiSocket : installation.socket))
        #expect(try client.call("daemon.info")["pid"] as? Int == installation.daemon.map { Int($0.identifier) })
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test(.needsCurl) func `the sockets of a killed daemon are replaced, and the session is restored`() throws {
        let installation = try Installation.withHTTP()
        let user = try installation.signInNewUser()
        try installation.killDaemon()
        for socket in [installation.socket, installation.apiSocket] {
            #expect(FileManager.default.fileExists(atPath: socket))
        }

        try installation.startDaemon()

        #expect(try installation.status().userId == user)
        #expect(try installation.api().ask("/.junction/status").json().userId == user)
    }

    @Test(arguments: [false, true]) func `a file that is not a socket is never removed`(isHTTP: Bool) throws {
        let installation = try Installation()
        if isHTTP { installation.configuration = installation.apiConfiguration }
        try installation.folder.makeFolder("run")
        let file = isHTTP ? installation.apiSocket : installation.socket
        try Data("precious".utf8).write(to: URL(fileURLWithPath: file))

        try installation.launchDaemon()
        let ending = try #require(try installation.daemon?.wait())

        #expect(ending.status == 73)
        #expect(ending.errors.contains(file))
        #expect(FileManager.default.contents(atPath: file) == Data("precious".utf8))
    }

    @Test func `one socket cannot serve both HTTP and JSON-RPC`() throws {
        let installation = try Installation()
        installation.configuration = "[api]\nsocket = \"\(installation.socket)\""

        try installation.launchDaemon()
        let ending = try #require(try installation.daemon?.wait())

        #expect(ending.status == 78)
        #expect(ending.errors.contains("api.socket"))
    }

    @Test(.needsCurl) func `the HTTP socket exists only if configured, and belongs to the daemon's user`() throws {
        let installation = try Installation.started()
        #expect(!FileManager.default.fileExists(atPath: installation.apiSocket))

        installation.daemonEnvironment["JUNCTIOND_API_SOCKET"] = installation.apiSocket
        try installation.restartDaemon()

        #expect(FileManager.default.mode(of: installation.apiSocket) == 0o600)
        #expect(try installation.api().ask("/.junction/status").status == 200)
        try installation.stopDaemon()
        #expect(!FileManager.default.fileExists(atPath: installation.apiSocket))
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a shutdown answers received calls, unlinks the socket and ends with 0`(signal: Int32) throws {
        let installation = try Installation()
        let notify = try installation.startDaemon()
        let user = try installation.cloud.makeUser()
        try installation.cloud.fault(["match": "/v1/token", "hang": true, "times": 1])
        let client = try installation.connect()
        let signIn = try client.request("session.signIn", installation.cloud.credential(for: user))
        try installation.cloud.wait(for: "hanging")

        installation.daemon?.signal(signal)
        try notify.wait(for: "STOPPING=1")
        try installation.cloud.release()
        let answer = try client.answer(to: signIn)
        let ending = try #require(try installation.daemon?.wait())

        #expect(answer.userId == user)
        #expect(ending.status == 0)
        #expect(!ending.wasKilled)
        #expect(try client.line() == nil)
        #expect(!FileManager.default.fileExists(atPath: installation.socket))
        try installation.startDaemon()
        #expect(try installation.status().userId == user)
    }

    @Test func `a hanging provider delays the shutdown only briefly`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        try installation.cloud.fault(["hang": true])
        let client = try installation.connect()
        _ = try client.request("session.renew")
        try installation.cloud.wait(for: "hanging")

        installation.daemon?.signal(SIGTERM)
        let ending = try installation.daemon?.wait()

        #expect(ending?.status == 0)
        // A request may take fifteen seconds, the whole shutdown five.
        let log = try #require(installation.daemon?.errors)
        #expect(log.contains("Ending without the provider's answer to a request"))
    }
}
