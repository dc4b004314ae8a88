import Foundation
import JunctionToml
import Testing

@testable import junctionctl

/// The configuration in a bundle, which may contain a secret anywhere.
struct RedactedConfigurationTests {
    private func lines(_ text: String) -> [String] { RedactedConfiguration(Array(text.utf8)).lines }

    @Test func `known settings are shown by their key, and comments and unknown keys are hidden`() {
        let original = """
            # token: s3cret
            provider = "social" # s3cret
            apiKey = "s3cret"
            network.connectTimeout = 7
            [network.s3cret]
            s3cret = "s3cret"
            [social]
            apiKeyFile = "/etc/junctiond/key"
            region = \"""
            s3cret
            \"""
            [oauth]
            scopes = [ # s3cret
              "openid", 's3cret',
            ]
            resource = ["https://api.example.com/v1?s3cret", 7]
            [s3cret]
            [["access[s3cret]"]]
            s3cret = 1
            [[access]]
            allow = ["status", "s3cret"]
            unit = "s3cret"
            [[access]]
            [limits]
            connections = "s3cret"
            inFlight = 12
            """

        #expect(
            lines(original) == [
                #"provider = "social""#,
                "(hidden) = (hidden)",
                "network.connectTimeout = 7",
                "network.(hidden).(hidden) = (hidden)",
                #"social.apiKeyFile = "/etc/junctiond/key""#,
                "social.region = (hidden)",
                #"oauth.scopes = ["openid", (hidden)]"#,
                #"oauth.resource = ["https://api.example.com/v1?(hidden)", (hidden)]"#,
                "(hidden) = (hidden)",
                #"access[0].allow = ["status", (hidden)]"#,
                "access[0].unit = (hidden)",
                "access[1] = (hidden)",
                "limits.connections = (hidden)",
                "limits.inFlight = 12",
            ]
        )
    }

    @Test func `lines may end with CR LF`() {
        let text = "# SECRET\r\napiKey = \"SECRET\"\r\n[network]\r\nproxy = \"http://user:SECRET@proxy:80\"\r\n"

        #expect(lines(text) == ["(hidden) = (hidden)", #"network.proxy = "(hidden)@proxy:80""#])
    }

    @Test(arguments: [
        #"user:SECRETpw@proxy.example:80"#: "(hidden)@proxy.example:80",
        #"http://user:SECR'ETpw@proxy.example:80"#: "(hidden)@proxy.example:80",
        #"http://user:SECR\"ETpw@proxy.example:80"#: "(hidden)@proxy.example:80",
        #"http://user:SECR<ETpw@proxy.example:80/"#: "(hidden)@proxy.example:80",
        #"http:\u002f\u002fuser:SECRETpw@proxy.example:80"#: "(hidden)@proxy.example:80",
        #"socks5h://[2001:db8::1]:1080"#: "[2001:db8::1]:1080", "proxy.example:3128": "proxy.example:3128",
    ])
    func `host and port of a proxy are shown without its credentials`(written: String, shown: String) {
        #expect(lines("[network]\nproxy = \"\(written)\"") == ["network.proxy = \"\(shown)\""])
    }

    @Test(arguments: [
        "http://user:SEC/RET@proxy:80", "http://user:SEC@RET@proxy:80", "SECRET://proxy", "user:SECRET",
        "http://SECRET%40x",
        "http://proxy:80/SECRET", #"http://user:p@proxy\nSECRET"#, "user:12345/SECRET@proxy", "SÉCRET@", "pröxy:80",
        "http://[SECRET]:80", "http://proxy:SECRET",
    ])
    func `a proxy that is not plain is hidden`(written: String) {
        #expect(lines("[network]\nproxy = \"\(written)\"") == ["network.proxy = (hidden)"])
    }

    @Test(arguments: [
        ("junction.authUrl", "https://host.example:8443/?api_key=SECRETabc", "https://host.example:8443/?(hidden)"),
        ("junction.apiUrl", "http://127.0.0.1:8787", "http://127.0.0.1:8787"),
        ("oauth.issuer", "https://id.example.com/realms/one/", "https://id.example.com/realms/one/"),
        ("oauth.tokenEndpoint", "https://id.example.com/to;ken=SECRET", "https://id.example.com/(hidden)"),
        ("oauth.userinfoEndpoint", "https://id.example.com#SECRET", "https://id.example.com?(hidden)"),
        ("sinch.environmentHost", "euc1.api.sinch.com", "euc1.api.sinch.com"),
        ("tls.caFile", "/etc/junctiond/ca.pem", "/etc/junctiond/ca.pem"),
        ("api.socket", "/home/me/.junctiond-api.sock", "/home/me/.junctiond-api.sock"),
    ])
    func `a URL or path is shown without parts that may be a secret`(key: String, written: String, shown: String) {
        #expect(lines("\(key) = \"\(written)\"") == ["\(key) = \"\(shown)\""])
    }

    @Test(arguments: [
        #"junction.apiKeyInProduction = "SECRETkey""#, #"social.region = "SECRET""#, #"provider = "SECRET""#,
        #"junction.authUrl = "SECRET""#, #"junction.authUrl = "https://user:SECRET@host/""#,
        #"junction.authUrl = "https://host/\r\nSECRET""#, #"junction.apiUrl = "SECRET://host""#,
        #"junction.apiUrl = "https://SECR ET/""#, #"social.apiKeyFile = "SECRET""#,
        #"social.apiKeyFile = "/k\nSECRET""#,
        #"social.apiKeyFile = "/k?SECRET""#, #"sinch.environmentHost = "SECRET""#, #"sinch.applicationKey = "SECRET""#,
        #"oauth.clientId = "SECRET""#, #"oauth.scopes = "SECRET""#, #"network.connectTimeout = "SECRET""#,
        #"network.noProxy = ["SECRET"]"#, #"network = "SECRET""#, #"access = "SECRET""#, #"access = ["SECRET"]"#,
        "log.level = '''\nSECRET'''", #"renewal = { mode = "SECRET" }"#, #"renewal = { SECRET = "automatic" }"#,
        #"network.proxy.SECRET = "SECRET""#, #"network.proxy = ["SECRET"]"#, #"network.proxy = { SECRET = 1 }"#,
        #""access[SECRET]" = "SECRET""#, #""access[0].SECRET" = 1"#, #"SECRET = 2026-01-01"#, #""" = "SECRET""#,
    ])
    func `a value that a setting cannot have is hidden`(text: String) {
        let shown = lines(text)

        #expect(!shown.isEmpty)
        #expect(shown.first?.contains("TOML") == false, "\(shown)")
        #expect(!shown.joined().contains("SECR"), "\(shown)")
    }

    @Test(arguments: [
        "a = SECRET", "[SECRET", "SECRET", "a = \"SECRET\n", "a = 1\na = \"SECRET\"", "a = \"\u{0}SECRET\"",
    ])
    func `an invalid file is not shown`(text: String) {
        let shown = lines("provider = \"social\"\n" + text)

        #expect(shown.count == 1)
        #expect(shown.first?.hasPrefix("it is no TOML, see line ") == true, "\(shown)")
        #expect(shown.first?.contains("SECRET") == false)
    }

    @Test func `a file above the size limit is not shown`() {
        let bytes = [UInt8](repeating: UInt8(ascii: "\n"), count: ConfigurationText.largest + 1)

        #expect(RedactedConfiguration(bytes).lines.first?.contains("larger") == true)
        #expect(RedactedConfiguration(Array(bytes.dropLast())).lines == [])
    }

    // MARK: The shipped file

    @Test func `every setting of the shipped file is known, and its default can be shown`() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let file = try String(contentsOf: package.appending(path: "etc/junctiond/junctiond.toml"), encoding: .utf8)
        var defaults: [String] = []
        var paths: Set<String> = []
        var table = ""
        for line in file.split(separator: "\n") {
            if line.hasPrefix("["), !line.hasPrefix("[[") { table = line.filter { $0 != "[" && $0 != "]" } + "." }
            let text = line.hasPrefix("# e.g. ") ? line.dropFirst(7) : line.drop { $0 == "#" }
            guard !text.hasPrefix(" "), let mark = text.firstRange(of: " = ") else { continue }
            paths.insert(table + text[..<mark.lowerBound])
            if line.hasPrefix("#"), !line.hasPrefix("# ") { defaults.append(table + text) }
        }

        #expect(paths.count > 30)
        #expect(paths.subtracting(KnownSetting.all.keys) == [])
        #expect(defaults.count > 15)
        #expect(defaults.flatMap(lines).filter { $0.contains(Redaction.mark) } == [])
    }
}
