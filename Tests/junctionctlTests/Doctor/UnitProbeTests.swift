import JunctionProtocol
import JunctionText
import Testing

@testable import junctionctl

/// The findings of `doctor` about the units.
struct UnitProbeTests {
    /// Parses the output of `systemctl show` for both units, with other values of some properties.
    private func probe(service: [String: String] = [:], socket: [String: String] = [:], more: String = "") -> UnitProbe
    {
        let usual = ["LoadState": "loaded", "UnitFileState": "enabled", "Result": "success"]
        func paragraph(_ name: String, _ state: String, _ other: [String: String]) -> String {
            let properties = usual.merging(["Id": name, "ActiveState": state]) { $1 }.merging(other) { $1 }
            return properties.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }.joined()
        }
        return UnitProbe(
            reading: paragraph("junctiond.service", "active", service) + "\n"
                + paragraph("junctiond.socket", "active", socket) + "\n" + more
        )
    }

    struct Case: Sendable {
        var service: [String: String] = [:]
        var socket: [String: String] = [:]
        var finding: String
        var words: [String]
    }

    static let table = [
        Case(
            service: ["ActiveState": "failed", "Result": "exit-code", "ExecMainStatus": "78"],
            finding: "units problem",
            words: ["exit code 78", "configuration"]
        ),
        Case(
            service: ["ActiveState": "failed", "Result": "watchdog"],
            finding: "units problem",
            words: ["has failed: watchdog"]
        ),
        Case(
            service: ["LoadState": "masked"],
            finding: "units problem",
            words: ["masked", "unmask junctiond.service"]
        ),
        Case(
            socket: ["ActiveState": "inactive"],
            finding: "units problem",
            words: ["systemctl start junctiond.socket"]
        ),
        Case(
            socket: ["ActiveState": "failed", "Result": "trigger-limit-hit"],
            finding: "units problem",
            words: ["trigger-limit-hit", "restart junctiond.socket"]
        ),
        Case(
            service: ["UnitFileState": "disabled"],
            finding: "start at boot note",
            words: ["not enabled", "systemctl enable junctiond.service"]
        ),
        Case(
            service: ["UnitFileState": "disabled"],
            socket: ["UnitFileState": "disabled"],
            finding: "start at boot problem",
            words: ["after a reboot nothing starts it"]
        ),
    ]

    @Test(arguments: table)
    func `each problem of a unit has a finding and a remedy`(row: Case) {
        let findings = probe(service: row.service, socket: row.socket).checks.filter { $0.verdict != .ok }

        #expect(findings.map { "\($0.name) \($0.verdict)" } == [row.finding])
        let text = findings.map(\.text).joined()
        for words in row.words { #expect(text.contains(words)) }
        #expect(findings.allSatisfy { $0.remedy != nil })
    }

    @Test func `working units have one line`() {
        #expect(probe().checks.map(\.text) == ["ok       start at boot: junctiond.service is enabled"])
    }

    @Test func `missing units have one note and no state`() {
        let none = UnitProbe(reading: "Id=junctiond.service\nLoadState=not-found\nActiveState=inactive\n")

        #expect(none.checks.map { "\($0.name) \($0.verdict)" } == ["units note"])
    }

    @Test func `the findings about a named instance name its units`() throws {
        let work = try #require(InstanceName("work"))
        let text = """
            Id=junctiond@work.service
            LoadState=loaded
            ActiveState=failed
            Result=exit-code
            ExecMainStatus=78

            Id=junctiond@work.socket
            LoadState=loaded
            ActiveState=inactive
            UnitFileState=enabled

            Id=junctiond-key-init@work.service
            LoadState=loaded
            ActiveState=failed
            """

        let checks = UnitProbe(of: work, reading: text).checks

        #expect(
            checks.compactMap(\.remedy) == [
                "correct the configuration, then: systemctl restart junctiond@work",
                "systemctl start junctiond@work.socket",
                "see 'journalctl -u junctiond-key-init@work.service'",
                "systemctl enable junctiond@work.service: then the session is renewed from boot on",
            ]
        )
    }

    @Test func `a failed socket of the network helper is a problem`() {
        let more = "Id=junctiond-courier.socket\nLoadState=loaded\nActiveState=failed\n"

        #expect(probe(more: more).checks.contains { $0.detail.contains("no way to the network") })
    }

    @Test func `the summary of a unit is one line`() {
        #expect(
            probe(service: ["StatusText": "Nobody is signed in"]).units.first?.summary
                == "junctiond.service: LoadState=loaded ActiveState=active UnitFileState=enabled Result=success "
                + "\"Nobody is signed in\""
        )
    }

    @Test func `lines may end with CR LF`() {
        let probe = UnitProbe(reading: "Id=junctiond.service\r\nLoadState=masked\r\n\r\nId=junctiond.socket\r\n")

        #expect(probe.units.map(\.name) == ["junctiond.service", "junctiond.socket"])
        #expect(probe.units.first?["LoadState"] == "masked")
        #expect(ProgramOutput(status: 0, text: "a\r\nb\nc\r\n").lines == ["a", "b", "c"])
    }
}
