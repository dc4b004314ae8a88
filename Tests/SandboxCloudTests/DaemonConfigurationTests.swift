import Logging
import Testing

@testable import SandboxCloud

/// Tests of the configurations for a daemon. `Tests/Demo` shows that a daemon accepts them.
@Suite struct DaemonConfigurationTests {
    @Test func `the file and the variables of a configuration contain the same settings`() {
        let configuration = DaemonConfiguration(
            provider: .oauth,
            settings: ["clientId": .text(#"a "b" 'c'"#), "scopes": .list(["openid", "offline_access"])]
        )

        #expect(
            configuration.toml == #"""
                provider = "oauth"
                [oauth]
                clientId = "a \"b\" 'c'"
                scopes = ["openid", "offline_access"]

                """#
        )
        #expect(
            configuration.exports == [
                "export JUNCTIOND_PROVIDER=oauth",
                #"export JUNCTIOND_OAUTH_CLIENT_ID='a "b" '\''c'\'''"#,
                "export JUNCTIOND_OAUTH_SCOPES='openid offline_access'",
            ]
        )
    }

    @Test(arguments: VendorName.allCases)
    func `every provider has a configuration`(provider: VendorName) throws {
        let cloud = try SandboxCloud(
            SandboxConfiguration(listen: try ListenAddress("127.0.0.1:0")),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )

        let configuration = try #require(cloud.configuration(of: provider, at: "http://127.0.0.1:1", keyFile: "/k"))

        #expect(configuration.toml.contains("http://127.0.0.1:1"))
        #expect(configuration.toml.contains("\"/k\"") == (provider == .social))
    }

    @Test(arguments: [("plain-1.0", "plain-1.0"), ("", "''"), ("two words", "'two words'"), ("$(x)`y`;", "'$(x)`y`;'")])
    func `quoted text is one word in a shell`(text: String, quoted: String) {
        #expect(ShellText.quoted(text) == quoted)
    }
}
