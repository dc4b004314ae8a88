import Glibc
import JunctionClient
import JunctionProtocol
import Testing

@testable import junctionctl

/// The checks of `doctor` without the daemon.
struct DoctorTests {
    private func daemon(version: String, protocolVersion: Int = 1) -> DaemonDescription {
        DaemonDescription(
            version: version,
            protocolVersion: protocolVersion,
            provider: "junction",
            pid: 1,
            startedAt: Timestamp(milliseconds: 0),
            uptime: 1
        )
    }

    @Test func `equal releases are ok, different ones a note, different protocols a problem`() {
        #expect(Diagnosis.Check(comparing: daemon(version: "1.0"), with: "1.0").verdict == .ok)
        #expect(Diagnosis.Check(comparing: daemon(version: "1.0"), with: "1.1").verdict == .note)
        #expect(Diagnosis.Check(comparing: daemon(version: "1.0", protocolVersion: 2), with: "1.0").verdict == .problem)
    }

    @Test(arguments: [
        (S_IFSOCK | 0o600, Diagnosis.Verdict.ok), (S_IFSOCK | 0o660, .ok), (S_IFSOCK | 0o666, .problem),
        (S_IFREG | 0o600, .problem),
    ])
    func `a path must be a socket and not writable for every user`(mode: mode_t, verdict: Diagnosis.Verdict) {
        let check = SocketCheck.check(SocketPath("/run/x.sock"), mode: mode, owner: 1, group: 2)

        #expect(check.verdict == verdict)
        #expect((check.remedy == nil) == (verdict == .ok))
    }

    @Test func `a missing socket is a problem with a remedy`() {
        let checks = SocketCheck(path: SocketPath("/no/such.sock")).checks

        #expect(checks.map(\.verdict) == [.problem])
        #expect(checks.first?.remedy != nil)
    }

    @Test func `a check has one line and a second one for its remedy`() {
        let check = Diagnosis.Check(name: "clock", verdict: .problem, detail: "off\nby 1 h", remedy: "set it")

        #expect(check.text == "problem  clock: off by 1 h\n         set it")
    }

    @Test func `a refused configuration is shown once, with the daemon's remedy`() {
        let reason = "/etc/junctiond/junctiond.toml:3: verbose: unknown key"
        let checks = [
            Diagnosis.Check(
                name: "daemon",
                verdict: .problem,
                detail: "The configuration of junctiond is refused: \(reason)",
                remedy: "systemctl reload junctiond"
            ),
            Diagnosis.Check(
                name: "configuration",
                verdict: .problem,
                detail: "the configuration is refused: \(reason)",
                remedy: "systemctl restart junctiond"
            ),
            Diagnosis.Check(name: "units", verdict: .ok, detail: "junctiond.service runs"),
            Diagnosis.Check(name: "journal", verdict: .note, detail: "the last error: junctiond[7]: \(reason)"),
        ]

        #expect(checks.withoutRepeatedRefusals.map(\.name) == ["daemon", "units"])
        #expect(Array(checks.dropFirst()).withoutRepeatedRefusals.map(\.name) == ["configuration", "units"])
    }

    @Test(arguments: [
        ("/srv/j.toml is in force.", "/srv/j.toml"),
        ("/srv/j.toml is in force, with conf.d/a.toml.", "/srv/j.toml"),
        ("/a b/j.toml or its conf.d was changed and is not in force yet.", "/a b/j.toml"),
        ("/j.toml or its conf.d was changed in what takes effect at the next start only.", "/j.toml"),
        ("/j.toml is refused; an older one is in force, and a restart would fail: /j.toml:3: no", "/j.toml"),
        ("/j.toml is not there: the built-in defaults are in force.", "/j.toml"), ("j.toml is in force.", nil),
    ])
    func `the configuration file is read from the daemon's finding`(detail: String, file: String?) {
        let checks = [
            Diagnosis.Check(name: "socket", verdict: .ok, detail: "/s is in force."),
            Diagnosis.Check(name: "configuration", verdict: .ok, detail: detail),
        ]

        #expect(Diagnosis(checks: checks).configurationFile == file)
    }
}
