import Foundation
import JunctionTesting
import Logging
import Testing

@testable import JunctionDaemon

@Suite final class ConfigurationSourceTests {
    private let folder = TemporaryFolder(mode: 0o755)

    @Test func `a file that exists is read`() throws {
        let path = try file("[log]\nlevel = \"debug\"")

        let loaded = try ConfigurationSource(path: path, mustExist: true, variables: [:]).load()

        #expect(loaded.configuration.log.level == .debug)
        #expect(loaded.origin == ConfigurationOrigin(path: path, exists: true))
        #expect(loaded.notes.isEmpty)
    }

    @Test(arguments: ["absent.toml", "absent/junctiond.toml"])
    func `a file at the default path may be missing, and a named file may not`(name: String) throws {
        let path = folder.path + "/" + name

        let loaded = try ConfigurationSource(path: path, mustExist: false, variables: [:]).load()
        #expect(loaded.configuration == Configuration())
        #expect(!loaded.origin.exists)

        let error = #expect(throws: ConfigurationError.self) {
            try ConfigurationSource(path: path, mustExist: true, variables: [:]).load()
        }
        #expect(error?.description == "\(path): cannot be read: No such file or directory")
    }

    @Test func `a folder in place of the file is an error`() {
        #expect(throws: ConfigurationError.self) {
            try ConfigurationSource(path: folder.path, mustExist: false, variables: [:]).load()
        }
    }

    @Test func `an endless file is refused as too large`() {
        let error = #expect(throws: ConfigurationError.self) {
            try ConfigurationSource(path: "/dev/zero", mustExist: true, variables: [:]).load()
        }

        #expect(error?.description.contains("larger than 1048576 bytes") == true)
    }

    @Test func `an unknown JUNCTIOND_ variable is noted, and other variables are not`() throws {
        let variables = [
            "JUNCTIOND_LOGLEVEL": "debug", "JUNCTIOND_SOCKET": "/x", "JUNCTIOND_CONFIG": "/y", "PATH": "/bin",
            "JUNCTIOND_LOG_LEVEL": "debug",
        ]

        let loaded = try ConfigurationSource(path: "/nonexistent", mustExist: false, variables: variables).load()

        #expect(loaded.notes.count == 1)
        #expect(loaded.notes.first?.contains("JUNCTIOND_LOGLEVEL") == true)
    }

    @Test func `an access entry that matches every caller is noted`() throws {
        let path = try file("[[access]]\nallow = []\nuser = \"0\"\n[[access]]\nallow = [\"status\"]")

        let notes = try ConfigurationSource(path: path, mustExist: true, variables: [:]).load().notes

        #expect(notes == ["\(path):4: access[1] names no unit, user or group: it is about every caller"])
    }

    @Test(arguments: ProviderName.allCases, Configuration.RenewalMode.allCases)
    func `every provider can be combined with every renewal mode`(
        provider: ProviderName,
        mode: Configuration.RenewalMode
    ) throws {
        let path = try file("provider = \"\(provider.rawValue)\"")
        let variables = ["JUNCTIOND_RENEWAL_MODE": mode.rawValue]

        let loaded = try ConfigurationSource(path: path, mustExist: true, variables: variables).load()

        #expect(loaded.configuration.provider == provider)
        #expect(loaded.configuration.renewalMode == mode)
    }

    @Test func `the check of a valid file prints one line and succeeds`() throws {
        let path = try file("")

        let named = ConfigurationCheck(Arguments(configuration: path), in: environment)
        #expect(named.verdict == "\(path): in order")
        #expect(named.status == .success)
    }

    @Test func `the check of a wrong file prints one line with the setting and exits with 78`() throws {
        let path = try file("[log]\nlevel = 3")

        let check = ConfigurationCheck(Arguments(configuration: path), in: environment)

        #expect(check.verdict.hasPrefix("\(path):2: log.level: expected one of"))
        #expect(!check.verdict.contains("\n"))
        #expect(check.status == .configuration)
        #expect(check.status.rawValue == 78)
    }

    @Test(
        arguments: [
            ("provider = \"sinch\"", "sinch.applicationKey is missing"),
            ("provider = \"oauth\"", "oauth.issuer is missing"),
            ("provider = \"oauth\"\noauth.issuer = \"https://a.example\"", "oauth.clientId is missing"),
            (
                "provider = \"social\"\nsocial.apiKeyFile = \"/nowhere/key\"",
                "social.apiKeyFile: /nowhere/key does not exist: create it"
            ),
            ("provider = \"social\"\nsocial.apiKeyFile = \"/etc\"", "social.apiKeyFile: /etc is not a file: name one"),
            (
                "provider = \"social\"\nsocial.apiKeyFile = \"/dev/null\"",
                "social.apiKeyFile: /dev/null is empty: write"
            ),
            ("tls.caFile = \"/nowhere/ca.pem\"", "tls.caFile: /nowhere/ca.pem cannot be read as certificates"),
        ]
    )
    func `the check names a missing definition setting or an unreadable file`(toml: String, complaint: String) throws {
        let check = ConfigurationCheck(Arguments(configuration: try file(toml)), in: environment)

        #expect(check.verdict.contains(complaint))
        #expect(check.status == .configuration)
    }

    @Test(
        arguments: [
            ("[network]\nclientCertificateFile = \"CERTIFICATE\"", "network.clientKey"),
            (
                """
                provider = "oauth"
                [oauth]
                issuer = "https://a.example"
                clientId = "c"
                clientAuthentication = "basic"
                """, "oauth.clientSecret"
            ),
        ]
    )
    func `a missing credential is an error for the service and a note outside it`(toml: String, name: String) throws {
        let certificate = try file("-----BEGIN CERTIFICATE-----\nMAMCAQA=\n-----END CERTIFICATE-----\n")
        let path = try file(toml.replacing("CERTIFICATE", with: certificate))

        let outside = ConfigurationCheck(Arguments(configuration: path), in: environment)
        #expect(outside.verdict == "\(path): in order")
        #expect(outside.notes.count == 1)
        let note = "Not checked here, because only the service has its credential \(name)"
        #expect(outside.notes.first?.hasPrefix(note) == true)
        #expect(outside.status == .success)

        var service = environment
        service.variables["CREDENTIALS_DIRECTORY"] = "/nowhere"
        #expect(ConfigurationCheck(Arguments(configuration: path), in: service).status == .configuration)
    }

    @Test func `an error is reported even if a credential of the service is missing`() throws {
        let path = try file(
            "tls.caFile = \"/nowhere/ca.pem\"\n[network]\nclientCertificateFile = \"\(try file("no certificate"))\""
        )

        let check = ConfigurationCheck(Arguments(configuration: path), in: environment)
        #expect(check.verdict.contains("/nowhere/ca.pem"))
        #expect(check.status == .configuration)
    }

    @Test(arguments: [(0o644, true), (0o640, false), (0o604, true), (0o600, false), (0o400, false)])
    func `the check notes a world-readable secret file with the remedy`(mode: Int, isNoted: Bool) throws {
        let key = try file("sandbox-api-key")
        // If root runs the tests, the group of the file is root's, which does not count as an open group.
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
        let path = try file("provider = \"social\"\nsocial.apiKeyFile = \"\(key)\"")

        let check = ConfigurationCheck(Arguments(configuration: path), in: environment)

        #expect(check.status == .success)
        guard isNoted else {
            #expect(!check.notes.contains { $0.contains("every user") })
            return
        }
        #expect(check.notes.count == 1)
        for word in ["social.apiKeyFile", "every user", key, "LoadCredential=social.apiKey:\(key)", "chmod 600"] {
            #expect(check.notes.first?.contains(word) == true, "\(word): \(check.notes)")
        }
    }

    private let environment = ProcessEnvironment(variables: [:], processID: 1, home: "/")

    private func file(_ text: String) throws -> String {
        try folder.write(text, to: "\(UUID().uuidString).toml", mode: 0o644)
    }
}
