import Foundation
import JunctionTesting
import Testing

/// Tests that an app's package adds a file to `conf.d` and removes it while the daemon runs.
@Suite(.needsOtherUser)
struct FragmentReloadTests {
    private static let entry = OtherUser.entry(allowing: "status")

    /// An installation with a running daemon whose socket another user can open.
    private struct Stage {
        let installation: Installation
        let notify: FakeServiceManager
        let otherUser: OtherUser

        init(configuration: String = "") throws {
            installation = try Installation(configuration: configuration)
            try installation.folder.makeFolder("conf.d")
            notify = try installation.startDaemon()
            otherUser = try OtherUser(installation)
            try otherUser.openSocket()
        }

        func put(_ text: String, _ name: String) throws {
            _ = try installation.folder.write(text, to: "conf.d/\(name)")
        }

        func remove(_ name: String) throws {
            try FileManager.default.removeItem(atPath: installation.folder.path + "/conf.d/\(name)")
        }

        /// Reloads the configuration, and returns the service manager's notifications during the reload.
        func reload() throws -> [String] {
            installation.daemon?.signal(SIGHUP)
            return try notify.wait("the end of the reload") { $0 == "READY=1" }
        }

        var mayAsk: Bool { get throws { try otherUser.ctl(["status"]).status != 77 } }
    }

    @Test func `a reload applies a new file and withdraws the rights of a removed one`() throws {
        let stage = try Stage()
        #expect(try !stage.mayAsk)

        try stage.put(Self.entry, "50-app.toml")
        #expect(try !stage.mayAsk)
        _ = try stage.reload()
        #expect(try stage.mayAsk)

        try stage.remove("50-app.toml")
        _ = try stage.reload()
        #expect(try !stage.mayAsk)
    }

    @Test(
        arguments: [
            ("\n[[access]]\nallow = [\"all\"]\n", ":3: access[1].allow: expected a list of"),
            ("[junction]\napiUrl = \"https://api.example\"", ":2: junction.apiUrl: set twice, first in "),
        ]
    )
    func `a refused file leaves the rights unchanged and is reported with its line`(
        text: String,
        complaint: String
    ) throws {
        let stage = try Stage()
        try stage.put(Self.entry, "50-app.toml")
        _ = try stage.reload()
        #expect(try stage.mayAsk)

        try stage.remove("50-app.toml")
        try stage.put(Self.entry.replacing("status", with: "token"), "40-app.toml")
        try stage.put(text, "60-other.toml")
        let lines = try stage.reload()

        let place = stage.installation.folder.path + "/conf.d/60-other.toml"
        #expect(lines.contains { $0.hasPrefix("STATUS=The new configuration is") && $0.contains(place + complaint) })
        #expect(try stage.mayAsk)
    }

    @Test func `an entry of the configuration file overrides entries of conf.d for the same caller`() throws {
        let stage = try Stage(configuration: Self.entry.replacing("\"status\"", with: ""))
        try stage.put(Self.entry, "00-app.toml")
        _ = try stage.reload()

        #expect(try !stage.mayAsk)
    }

    @Test func `of two files about the same caller the first by name decides`() throws {
        let stage = try Stage()
        try stage.put(Self.entry, "60-app.toml")
        try stage.put(Self.entry.replacing("\"status\"", with: ""), "50-local.toml")
        _ = try stage.reload()
        #expect(try !stage.mayAsk)

        try stage.remove("50-local.toml")
        try stage.put(Self.entry.replacing("\"status\"", with: ""), "70-local.toml")
        _ = try stage.reload()
        #expect(try stage.mayAsk)
    }

    @Test func `an app's first entry withdraws the rights that every caller had without an entry`() throws {
        let stage = try Stage()
        let group = { try stage.otherUser.ctl(["status"], groups: "root").status }
        #expect(try group() != 77)

        try stage.put("[[access]]\nallow = [\"token\"]\nunit = \"health-sync.service\"\n", "50-health-sync.toml")
        _ = try stage.reload()

        #expect(try group() == 77)
    }
}
