import Foundation
import JunctionTesting
import Testing

/// Tests of the mode, the lock and the removal of the socket file.
@Suite struct SocketOwnershipTests {
    @Test func `only the daemon's user may open the socket`() throws {
        let installation = try Installation.started()

        #expect(FileManager.default.mode(of: installation.socket) == 0o600)
        #expect(FileManager.default.mode(of: installation.folder.path + "/run") == 0o700)
    }

    @Test func `a second daemon on the same state directory ends with 75 and does not affect the first`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()

        let second = try Program(
            "junctiond",
            [
                "--config", installation.configurationFile, "--socket", installation.folder.path + "/other.sock",
                "--state-dir", installation.stateDirectory,
            ],
            in: installation.folder
        ).wait()

        #expect(second.status == 75)
        #expect(second.errors.contains(installation.stateDirectory))
        #expect(try installation.status().userId == user)
    }

    @Test func `a second daemon on the same socket ends with 75 and does not affect the first`() throws {
        let installation = try Installation.started()
        let client = try installation.connect()

        let second = try Program(
            "junctiond",
            [
                "--config", installation.configurationFile, "--socket", installation.socket,
                "--state-dir", installation.folder.path + "/other",
            ],
            in: installation.folder
        ).wait()

        #expect(second.status == 75)
        #expect(second.errors.contains(installation.socket))
        #expect(try client.call("daemon.info")["pid"] as? Int == installation.daemon.map { Int($0.identifier) })
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `a socket of a killed daemon is replaced`() throws {
        let installation = try Installation.started()
        try installation.killDaemon()
        #expect(FileManager.default.fileExists(atPath: installation.socket))

        try installation.startDaemon()

        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `a file that is not a socket is never removed`() throws {
        let installation = try Installation()
        let directory = try installation.folder.makeFolder("run")
        let file = directory + "/junctiond.sock"
        try Data("precious".utf8).write(to: URL(fileURLWithPath: file))

        try installation.launchDaemon()
        let ending = try installation.daemon?.wait()

        #expect(ending?.status == 73)
        #expect(ending?.errors.contains(file) == true)
        #expect(FileManager.default.contents(atPath: file) == Data("precious".utf8))
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
