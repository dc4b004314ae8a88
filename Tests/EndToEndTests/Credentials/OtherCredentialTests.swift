import Foundation
import JunctionTesting
import Testing

/// Tests of the credential helpers whose clients Debian does not have, by the guide's commands, and of msmtp.
@Suite struct OtherCredentialTests {
    private static func installation() throws -> Installation { try Installation.started() }

    @Test func `every helper ends with 3 and the guide's message when nobody is signed in`() throws {
        let installation = try Self.installation()
        let helpers: [(words: String, input: String)] = [
            ("git get --host h", "protocol=https\nhost=h\n"), ("kubernetes", ""), ("headers", ""), ("go --host h", ""),
            ("bazel get --host h", #"{"uri":"https://h/"}"#), ("xoauth2 --user alice@example.com", ""),
        ]
        for helper in helpers {
            let ending = try installation.shell("exec junctionctl credential \(helper.words)", input: helper.input)
            #expect(ending.status == 3, "\(helper.words)")
            #expect(ending.errors == signedOutMessage + "\n", "\(helper.words)")
            #expect(ending.output == "", "\(helper.words)")
        }
        let page = try String(contentsOfFile: Program.root + "/docs/credential-helpers.md", encoding: .utf8)
        #expect(page.contains("`\(signedOutMessage)`"))
    }

    @Test(.enabled(if: getuid() == 0)) func `a caller without the right token gets none`() throws {
        let installation = try Installation.started(
            configuration: "[[access]]\nallow = [\"status\"]\nuser = \"\(OtherUser.name)\""
        )
        try installation.signInNewUser()
        let other = try OtherUser(installation)
        try other.openSocket()

        let ending = try other.ctl("credential", "headers")

        #expect(ending.output == "")
        #expect(ending.status == 77)
    }

    @Test func `the guide's MCP entry prints the header for its own server only`() throws {
        let installation = try Self.installation()
        try installation.signInNewUser()
        let text = try #require(try CredentialGuide.blocks(of: "headers").first)
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [String: [String: String]]]
        let entry = try #require(json?["mcpServers"]?["example"])
        let command = try #require(entry["headersHelper"])
        let url = try #require(entry["url"])

        let own = try installation.shell(command, environment: ["CLAUDE_CODE_MCP_SERVER_URL": url])
        let other = try installation.shell(command, environment: ["CLAUDE_CODE_MCP_SERVER_URL": "https://evil.org/mcp"])
        let unnamed = try installation.shell(
            "junctionctl credential headers",
            environment: ["CLAUDE_CODE_MCP_SERVER_URL": url]
        )
        let silent = try installation.shell(command)

        #expect(try own.json() as? [String: String] == ["Authorization": "Bearer \(try installation.token() ?? "")"])
        #expect(other.output == "" && other.status == 64)
        #expect(unnamed.output == "" && unnamed.status == 64)
        #expect(silent.output == "" && silent.status == 64)
    }

    @Test func `the guide's GOAUTH command prints prefix and header, and answers about its own host only`() throws {
        let installation = try Self.installation()
        try installation.signInNewUser()
        let line = try #require(try CredentialGuide.blocks(of: "go").first)
        let command = try #require(line.firstMatch(of: /GOAUTH='([^']*)'/)).1
        let expected = "https://go.example.com\n\nAuthorization: Bearer \(try installation.token() ?? "")\n\n"

        #expect(try installation.shell("\(command)").output == expected)
        let refused = "HTTP/1.1 401 Unauthorized\r\n\r\n"
        #expect(
            try installation.shell("\(command) https://go.example.com/m/@v/list", input: refused).output == expected
        )
        let other = try installation.shell("\(command) https://proxy.golang.org/m", input: refused)
        #expect((other.output, other.errors, other.status) == ("", "", 0))
    }

    @Test func `the guide's helper for Bazel answers with headers and their end`() throws {
        let installation = try Self.installation()
        try installation.signInNewUser()
        let script = try #require(try CredentialGuide.blocks(of: "bazel").first)
        let path = try installation.folder.write(script, to: "helper", mode: 0o700)

        let own = try installation.shell("\(path) get", input: #"{"uri":"https://cache.example.com/path"}"#).json()
        let other = try installation.shell("\(path) get", input: #"{"uri":"https://evil.org/"}"#)

        #expect(
            own["headers"] as? [String: [String]] == ["Authorization": ["Bearer \(try installation.token() ?? "")"]]
        )
        #expect((own["expires"] as? String)?.hasSuffix("Z") == true)
        #expect((other.output, other.status) == (#"{"headers":{}}"# + "\n", 0))
        #expect(try installation.shell("\(path) get", input: "no request").status == 64)
    }

    @Test func `xoauth2 prints the initial client response`() throws {
        let installation = try Self.installation()
        try installation.signInNewUser()

        let ending = try installation.ctl("credential", "xoauth2", "--user", "alice@example.com")

        let line = ending.output.split(separator: "\n").first.map(String.init) ?? ""
        let response = try #require(Data(base64Encoded: line))
        let expected = "user=alice@example.com\u{1}auth=Bearer \(try installation.token() ?? "")\u{1}\u{1}"
        #expect(String(decoding: response, as: UTF8.self) == expected)
    }

    @Test(
        .enabled("msmtp or python3 is not installed") {
            SystemPrograms.isInPath("msmtp") && SystemPrograms.hasPython
        }
    )
    func `msmtp sends mail with the guide's file, and says when nobody is signed in`() throws {
        let installation = try Self.installation()
        let server = try CredentialServer(.smtp, for: installation)
        let text = try #require(try CredentialGuide.blocks(of: "xoauth2").first)
            .replacing("smtp.example.com", with: "127.0.0.1").replacing("port 587", with: "port \(server.port)")
            .replacing("tls on", with: "tls off")
        let file = try installation.folder.write(text, to: "msmtprc")
        let command = "msmtp --file=\(file) --account=example bob@example.com"
        let mail = "Subject: hello\n\nhello\n"

        let signedOut = try installation.shell(command, input: mail)
        try installation.signInNewUser()
        try server.acceptPresentToken()
        let signedIn = try installation.shell(command, input: mail)

        #expect(signedOut.status == 78)
        #expect(signedOut.errors.contains("cannot read output of 'junctionctl token'"), "\(signedOut.errors)")
        #expect(signedOut.errors.contains(signedOutMessage), "\(signedOut.errors)")
        #expect(signedIn.status == 0, "\(signedIn.errors)")
        #expect(try server.request { $0.hasPrefix("XOAUTH2") } == "XOAUTH2 user=alice@example.com allowed")
        #expect(try server.request { $0 == "mail" } == "mail")
    }
}
