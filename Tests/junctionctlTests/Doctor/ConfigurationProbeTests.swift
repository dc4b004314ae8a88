import JunctionProtocol
import Testing

@testable import junctionctl

/// The findings from the output of `junctiond --check-config`.
struct ConfigurationProbeTests {
    private func findings(_ status: Int32, _ text: String) -> [String] {
        ConfigurationProbe.checks(of: ProgramOutput(status: status, text: text), "/x.toml")
            .map { "\($0.name) \($0.verdict): \($0.detail)" }
    }

    @Test func `a valid configuration is ok`() {
        #expect(findings(0, "/x.toml: in order\n") == ["configuration ok: /x.toml: in order"])
    }

    @Test func `a refused configuration is a problem with the daemon's message`() {
        #expect(
            findings(78, "junctiond: /x.toml:3: unknown key \"prvider\"\n")
                == ["configuration problem: the configuration is refused: /x.toml:3: unknown key \"prvider\""]
        )
    }

    @Test func `an unmatched entry and a world-readable secret are separate problems`() {
        let text = """
            junctiond: access[0] matches nobody: there is no user "kiosk" on this machine
            junctiond: social.apiKeyFile: every user of this machine can read /k. Pass it as a credential: LoadCredential=…
            /x.toml: in order
            """

        #expect(
            findings(0, text) == [
                "configuration ok: /x.toml: in order",
                "access problem: access[0] matches nobody: there is no user \"kiosk\" on this machine",
                "secret file problem: social.apiKeyFile: every user of this machine can read /k.",
            ]
        )
    }
}
