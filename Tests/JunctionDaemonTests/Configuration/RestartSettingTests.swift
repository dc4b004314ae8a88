import Testing

@testable import JunctionDaemon

/// The settings that take effect only at the next start.
struct RestartSettingTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var toml: String
        var keys: [String]

        init(_ toml: String, _ keys: String...) {
            (testDescription, self.toml, self.keys) = (toml, toml, keys)
        }
    }

    private static let cases = [
        Case("[log]\nlevel = \"debug\"\n[api]\nexpose = false\n[[access]]\nallow = [\"status\"]\nuser = \"root\""),
        Case("[junction]\nauthUrl = \"https://a.example\"", "junction.authUrl"),
        // A setting of a provider that is not the provider.
        Case("[social]\nregion = \"us\""),
        Case("provider = \"social\"\n[social]\nregion = \"us\"", "provider", "social.region"),
        Case("[tls]\ncaFile = \"/a.pem\"", "tls.caFile"),
        Case(
            "[network]\nproxy = \"http://a.example:1\"\nnoProxy = [\"b.example\"]\nresolveTimeout = 3\nconnectTimeout = 3\n"
                + "requestTimeout = 3\nclientCertificateFile = \"/a\"\nclientKeyFile = \"/b\"",
            "network.proxy",
            "network.noProxy",
            "network.resolveTimeout",
            "network.connectTimeout",
            "network.requestTimeout",
            "network.clientCertificateFile",
            "network.clientKeyFile"
        ),
        Case(
            "[renewal]\nmode = \"handler\"\nhandlerTimeout = 3\npostponeFor = 700",
            "renewal.mode",
            "renewal.handlerTimeout",
            "renewal.postponeFor"
        ),
        Case("[api]\nsocket = \"/a\"", "api.socket"),
        Case(
            "[limits]\nconnections = 3\ninFlight = 3\nproviderCallsPerMinute = 3",
            "limits.connections",
            "limits.inFlight",
            "limits.providerCallsPerMinute"
        ),
    ]

    @Test(arguments: cases)
    private func `a changed setting that needs a restart is listed`(test: Case) throws {
        let changed = try settings(test.toml)

        #expect(Configuration().settingsToRestartFor(from: changed) == test.keys)
        #expect(Set(changed.settingsToRestartFor(from: Configuration())) == Set(test.keys))
        #expect(changed.settingsToRestartFor(from: changed) == [])
    }

    @Test func `the cases contain every setting that needs a restart`() {
        let configuration = Configuration()
        let tables = Mirror(reflecting: configuration).children.flatMap { child -> [String] in
            let (name, settings) = (child.label ?? "", Mirror(reflecting: child.value))
            // The name of a provider is a value and not a table.
            guard settings.displayStyle == .struct, !(child.value is ProviderName) else { return [name] }
            return settings.children.map { "\(name).\($0.label ?? "")" }
        }
        let named = Self.cases.flatMap(\.keys)

        #expect(Set(tables).subtracting(named) == ["providerValues", "access", "api.expose", "log.level"])
    }
}
