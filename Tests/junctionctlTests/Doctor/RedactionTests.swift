import Foundation
import JunctionProtocol
import Testing

@testable import junctionctl

/// What a bundle for a ticket must not show, and what it has to.
struct RedactionTests {
    @Test(arguments: [
        "proxy http://kiosk:p4ss@proxy.example.com:3128 refuses":
            "proxy http://(hidden)@proxy.example.com:3128 refuses",
        "http://a:b@c@proxy/": "http://(hidden)@proxy/",
        "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln is dead": "token (hidden) is dead",
        "key sk_us_abc": "key (hidden)",
        "user 0b5c2ad4-5f3a-4f0e-9d2d-6d1b6f3f6f10": "user (hidden)",
        "anna is signed in": "(hidden) is signed in",
        "deadbeefdeadbeefdeadbeefdeadbeef": "(hidden)",
    ])
    func `what is secret or somebody's is hidden`(text: String, shown: String) {
        #expect(Redaction(privateWords: ["anna"]).of(text) == shown)
    }

    @Test(arguments: [
        "/etc/junctiond/junctiond.toml:3: unknown key \"prvider\"", "https://tokens.eu.example-company.com/v1/token",
        "junctiond-courier@4-1234-994.service: ActiveState=active", "2026-11-21T06:20:34Z",
        "No answer from ocra.api.sinch.com within 10 s", "systemctl enable junctiond.service", "providerUnavailable",
        "LoadCredentialEncrypted=junctiond.key", "junction-online.service: Result=success",
    ])
    func `what helps stays`(text: String) {
        #expect(Redaction().of(text) == text)
    }

    @Test func `of the configuration only known settings are shown, and no comment`() {
        let original = """
            # token: sk_us_comment
            provider = "social" # sk_us_behind
            apiKey = "sk_us_secret"
            [network]
            proxy = "http://kiosk:p4ss@proxy.example.com:3128"
            noProxy = [
              "s3cret",
            ]
            [social]
            apiKeyFile = "0123456789abcdef"
            applicationSecretFile = "/etc/junctiond/secret"
            region = \"\"\"
            s3cret
            \"\"\"
            [s3cret]
            s3cret
            [[access]]
            allow = ["status"] # for s3cret
            unit = "a#b.service"
            """

        let text = RedactedConfiguration(original).text

        #expect(
            text == """
                provider = "social"
                (hidden) = (hidden)
                [network]
                proxy = "http://(hidden)@proxy.example.com:3128"
                noProxy = (hidden)
                [social]
                apiKeyFile = (hidden)
                applicationSecretFile = "/etc/junctiond/secret"
                region = (hidden)
                [(hidden)]
                (a line that is no setting)
                [[access]]
                allow = ["status"]
                unit = "a#b.service"
                """
        )
    }

    @Test func `every setting of the shipped file is known`() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let file = try String(contentsOf: package.appending(path: "etc/junctiond/junctiond.toml"), encoding: .utf8)
        let settings = file.split(separator: "\n").compactMap { line -> String? in
            let text = line.hasPrefix("# e.g. ") ? line.dropFirst(7) : line.drop { $0 == "#" }
            guard !text.hasPrefix(" "), let mark = text.range(of: " = ") else { return nil }
            return String(text[..<mark.lowerBound])
        }

        #expect(settings.count > 30)
        #expect(settings.filter { !RedactedConfiguration.settings.contains($0) } == [])
    }
}
