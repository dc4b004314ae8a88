import Foundation
import JunctionTesting
import Testing

/// Tests access entries with user names. An unavailable name service is not the same as an unknown user.
@Suite(.enabled("a mount namespace of its own is not to be had") { MachineAccounts.arePossible })
struct NameServiceTests {
    /// The first entry denies one user. The following entries apply to all others.
    private static let denying = """
        [[access]]
        allow = []
        user = "bin"
        [[access]]
        allow = ["status", "token"]
        """

    private func check(services: String, users: [String], _ change: (MachineAccounts) throws -> Void = { _ in }) throws
        -> Program.Ending
    {
        let folder = TemporaryFolder()
        let accounts = try MachineAccounts(in: folder, services: services, users: users)
        try change(accounts)
        let file = try folder.write(Self.denying, to: "junctiond.toml")
        return try accounts.junctiond(["--config", file, "--check-config"], in: folder).wait()
    }

    @Test func `an unknown user of an entry is reported as unknown`() throws {
        let ending = try check(services: "files", users: [])

        #expect(ending.status == 0, "\(ending.errors)")
        #expect(ending.errors.contains("access[0] matches nobody: there is no user \"bin\""))
    }

    @Test func `a user that the second name service knows is found although the first is unavailable`() throws {
        let ending = try check(services: "hesiod files", users: [OtherUser.name])

        #expect(ending.status == 0, "\(ending.errors)")
        #expect(ending.errors.contains("access[1] names no unit"))
        #expect(!ending.errors.contains("access[0]"))
    }

    @Test(arguments: ["files", "hesiod", "hesiod files", "files [NOTFOUND=continue] hesiod files", "compat"])
    func `an unavailable name service gives no answer, whatever other services exist`(services: String) throws {
        let ending = try check(services: services, users: []) { if !services.contains("hesiod") { try $0.loseUsers() } }

        #expect(ending.status == 75, "\(ending.errors)")
        #expect(ending.errors.contains("access[0]: its user or group could not be looked up"))
        #expect(ending.output == "")
    }

    @Test func `a start without the name service is retried and changes nothing`() throws {
        let folder = TemporaryFolder()
        let accounts = try MachineAccounts(in: folder, services: "files")
        try accounts.loseUsers()
        let file = try folder.write(Self.denying, to: "junctiond.toml")
        let arguments = ["--config", file, "--socket", folder.path + "/s", "--state-dir", folder.path + "/state"]

        let ending = try accounts.junctiond(arguments, in: folder).wait()

        #expect(ending.status == 75)
        #expect(ending.errors.contains("may pass by itself"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/state"))
    }

    @Test(
        .enabled("setpriv is not installed") { SystemPrograms.has(SystemPrograms.setpriv) },
        arguments: [true, false]
    )
    func `a reload that cannot find a denied user is refused, and the denial stays in force`(fileIsLost: Bool) throws {
        let installation = try Installation(configuration: Self.denying)
        let accounts = try MachineAccounts(in: installation.folder, services: "files")
        installation.accounts = accounts
        let notify = try installation.startDaemon()
        try installation.signInNewUser()
        let otherUser = try OtherUser(installation)
        try otherUser.openSocket()
        #expect(try otherUser.ctl(["token"]).status == 77)

        if fileIsLost { try accounts.loseUsers() } else { try accounts.know([]) }
        installation.daemon?.signal(SIGHUP)
        let lines = try notify.wait("the end of the reload") { $0 == "READY=1" }

        #expect(lines.contains { $0.hasPrefix("STATUS=The new configuration is") && $0.contains("access[0]") })
        let ending = try otherUser.ctl(["token"])
        #expect(ending.status == 77)
        #expect(ending.output == "")
    }
}
