import JunctionSession
import JunctionSystemd
import Testing

@testable import JunctionDaemon

/// The findings of `doctor` about the installation.
struct InstallationFactsTests {
    private static let now = WallTime(milliseconds: 1_800_000_000_000)

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var change: @Sendable (inout InstallationFacts) -> Void
        /// `name verdict` of each finding that is not ok, in order.
        var findings: [String]
        /// Words of the first finding and of its remedy.
        var words: [String] = []

        init(
            _ name: String,
            _ change: @escaping @Sendable (inout InstallationFacts) -> Void,
            _ findings: [String],
            _ words: String...
        ) {
            (testDescription, self.change, self.findings, self.words) = (name, change, findings, words)
        }
    }

    static let table = [
        Case("well", { _ in }, []),
        Case("changed", { $0.configuration = .needsReload }, ["configuration note"], "not in force yet", "reload"),
        Case(
            "not restarted",
            { $0.configuration = .needsRestart(["provider"]) },
            ["configuration note"],
            "next start",
            "restart"
        ),
        Case(
            "refused",
            { $0.configuration = .refused("junctiond.toml:3: unknown key") },
            ["configuration problem"],
            "refused",
            "junctiond.toml:3: unknown key",
            "--check-config"
        ),
        Case(
            "access for nobody",
            { $0.unmatchedAccess = ["access[1] matches nobody: there is no user \"kiosk\" on this machine"] },
            ["access problem"],
            "access[1]",
            "kiosk",
            "Create the account"
        ),
        Case(
            "the service is not enabled",
            { $0.enablement?.isServiceEnabled = false },
            ["start at boot note"],
            "junctiond.service is not enabled",
            "systemctl enable junctiond.service"
        ),
        Case(
            "nothing is enabled",
            {
                $0.enablement?.isServiceEnabled = false
                $0.enablement?.isSocketEnabled = false
            },
            ["start at boot problem"],
            "after a reboot nothing starts it"
        ),
        Case(
            "a volatile state directory of a service",
            { ($0.isStateVolatile, $0.isUnderServiceManager) = (true, true) },
            ["volatile state problem"],
            "/var/lib/junctiond is in memory",
            "on a disk"
        ),
        Case("a volatile state directory by hand", { $0.isStateVolatile = true }, ["volatile state note"]),
        Case(
            "a clock before the record",
            { $0.recordWrittenAt = now + .seconds(1) },
            ["clock problem"],
            "before the stored session was written",
            "timedatectl"
        ),
        Case(
            "a clock before this program",
            { ($0.now, $0.recordWrittenAt) = (WallTime(milliseconds: 0), nil) },
            ["clock problem"],
            "before 2026",
            "time service"
        ),
    ]

    @Test(arguments: table)
    func `each problem of the installation has a finding and a remedy`(in row: Case) {
        var facts = InstallationFacts(
            configurationOrigin: ConfigurationOrigin(path: "/etc/junctiond/junctiond.toml", exists: true),
            enablement: UnitEnablement(service: "junctiond.service", isServiceEnabled: true, isSocketEnabled: true),
            stateDirectory: "/var/lib/junctiond",
            now: Self.now,
            recordWrittenAt: Self.now
        )
        row.change(&facts)

        let findings = facts.findings.filter { $0.verdict != .ok }

        #expect(findings.map { "\($0.name) \($0.verdict)" } == row.findings)
        let first = [findings.first?.detail, findings.first?.remedy].compactMap(\.self).joined(separator: " ")
        for words in row.words { #expect(first.contains(words)) }
        #expect(findings.allSatisfy { $0.remedy?.isEmpty == false })
    }

    @Test func `a configuration in force has a finding with its files`() {
        let absent = ConfigurationOrigin(path: "/x.toml", exists: false)
        var facts = InstallationFacts(configurationOrigin: absent, now: Self.now)
        #expect(facts.findings.map(\.name) == ["configuration", "clock"])
        #expect(facts.findings.first?.detail == "/x.toml is not there: the built-in defaults are in force.")
        facts.configurationOrigin.fragments = ["conf.d/a.toml"]
        #expect(
            facts.findings.first?.detail
                == "/x.toml is not there: the built-in defaults are in force, with conf.d/a.toml."
        )
        facts.configurationOrigin.exists = true
        #expect(facts.findings.first?.detail == "/x.toml is in force, with conf.d/a.toml.")
        facts.configurationOrigin.fragments = []
        #expect(facts.findings.first?.detail == "/x.toml is in force.")
        facts.configuration = .refused("no")
        #expect(facts.findings.first?.detail.hasPrefix("/x.toml is refused; ") == true)
    }
}
