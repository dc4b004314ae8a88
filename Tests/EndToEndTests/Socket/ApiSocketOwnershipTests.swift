import Foundation
import JunctionTesting
import Testing

/// Tests of the mode, the lock and the removal of the HTTP socket file.
@Suite(.enabled("curl is not installed") { SystemPrograms.has(SystemPrograms.curl) })
struct ApiSocketOwnershipTests {
    @Test func `the HTTP socket exists only if configured, and belongs to the daemon's user`() throws {
        let installation = try Installation.started()
        #expect(!FileManager.default.fileExists(atPath: installation.apiSocket))

        installation.daemonEnvironment["JUNCTIOND_API_SOCKET"] = installation.apiSocket
        try installation.restartDaemon()

        #expect(FileManager.default.mode(of: installation.apiSocket) == 0o600)
        #expect(try installation.api().ask("/.junction/status").status == 200)
    }

    @Test func `a socket of a killed daemon is replaced, and the session is restored`() throws {
        let installation = try Installation.withHTTP()
        let user = try installation.signInNewUser()
        try installation.killDaemon()
        #expect(FileManager.default.fileExists(atPath: installation.apiSocket))
        #expect(throws: Program.Failure.self) { try installation.api().ask("/.junction/status") }

        try installation.startDaemon()

        #expect(try installation.api().ask("/.junction/status").json().userId == user)
        #expect(try installation.api().ask("/v2/user/:userId").status == 200)
    }

    @Test func `an orderly shutdown unlinks the socket`() throws {
        let installation = try Installation.withHTTP()

        try installation.stopDaemon()

        #expect(!FileManager.default.fileExists(atPath: installation.apiSocket))
    }

    @Test func `a file that is not a socket is never removed`() throws {
        let installation = try Installation()
        installation.configuration = installation.apiConfiguration
        _ = try installation.folder.makeFolder("run")
        _ = try installation.folder.write("precious", to: "run/api.sock")

        try installation.launchDaemon()
        let ending = try #require(try installation.daemon?.wait())

        #expect(ending.status == 73)
        #expect(ending.errors.contains(installation.apiSocket))
        #expect(FileManager.default.contents(atPath: installation.apiSocket) == Data("precious".utf8))
    }

    @Test func `a second daemon on the same socket ends with 75 and does not affect the first`() throws {
        let installation = try Installation.withHTTP()
        let user = try installation.signInNewUser()

        let second = try Program(
            "junctiond",
            [
                "--config", installation.configurationFile, "--socket", installation.folder.path + "/other.sock",
                "--state-dir", installation.folder.path + "/other",
            ],
            in: installation.folder
        ).wait()

        #expect(second.status == 75)
        #expect(second.errors.contains(installation.apiSocket))
        #expect(try installation.api().ask("/.junction/status").json().userId == user)
    }

    @Test func `one socket cannot serve both HTTP and JSON-RPC`() throws {
        let installation = try Installation()
        installation.configuration = "[api]\nsocket = \"\(installation.socket)\""

        try installation.launchDaemon()
        let ending = try #require(try installation.daemon?.wait())

        #expect(ending.status == 78)
        #expect(ending.errors.contains("api.socket"))
    }
}
