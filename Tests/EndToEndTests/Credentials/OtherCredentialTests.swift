import Foundation
import JunctionTesting
import Testing

/// Tests of the other credential helpers by the guide's commands, with go, msmtp and mbsync.
@Suite struct OtherCredentialTests {
    private static func installation() throws -> Installation { try Installation.started() }

    @Test func `git: a refused token of the same second is not renewed`() throws {
        let installation = try Self.installation()
        try installation.signInNewUser()
        let token = try #require(try installation.token())

        for _ in 0..<3 {
            let ending = try installation.client(
                "junctionctl",
                ["credential", "git", "erase", "--host", "git.example.com"],
                input: "protocol=https\nhost=git.example.com\nusername=oauth2\npassword=\(token)\n"
            )
            #expect((ending.output, ending.errors, ending.status) == ("", "", 0))
        }

        #expect(try installation.token() == token)
    }

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
        let page = try Guide.text(of: "docs/credential-helpers.md")
        #expect(page.contains("`\(signedOutMessage)`"))
    }

    @Test(.enabled(if: getuid() == 0)) func `a caller without the right token gets none`() throws {
        let (installation, other) = try OtherUser.installation(configuration: OtherUser.entry(allowing: "status"))
        try installation.signInNewUser()

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

    @Test(
        .enabled("go, python3 or openssl is not installed") {
            SystemPrograms.isInPath("go") && SystemPrograms.hasPython && TestAuthority.isAvailable
        },
        arguments: ["go.example.com", "*.example.com"]
    )
    func `go gets a module by the guide's commands, and shows the server's answer when nobody is signed in`(
        host: String
    ) throws {
        let installation = try Self.installation()
        let authority = try TestAuthority(in: installation.folder)
        let folder = try authority.certificate(for: "DNS:go.example.com")
            .copied(to: installation.folder.makeFolder("tls"))
        let server = try CredentialServer(.go, for: installation, folder)
        let configure = try #require(try CredentialGuide.blocks(of: "go").first)
            .replacing("--host go.example.com", with: "--host \(host)")
        let use = try CredentialGuide.use(of: "go")
        let command = "go telemetry off\n\(configure)go mod init example.com/app && \(use)"
        let environment = [
            "HTTPS_PROXY": "http://\(server.authority)", "SSL_CERT_FILE": authority.file, "GOFLAGS": "-modcacherw",
        ]

        let signedOut = try installation.shell(command, environment: environment)
        try installation.signInNewUser()
        try server.acceptPresentToken()
        let signedIn = try installation.shell("rm go.mod\n" + command, environment: environment)

        #expect(signedOut.status == 1)
        #expect(signedOut.errors.contains("401 Unauthorized"), "\(signedOut.errors)")
        #expect(signedIn.status == 0, "\(signedIn.errors)")
        #expect(try server.request { $0.hasSuffix("/v1.0.0.zip allowed") }.contains("/go.example.com/module/"))
    }

    @Test func `the guide's helper for Bazel answers with headers and their end`() throws {
        let installation = try Self.installation()
        try installation.signInNewUser()
        let script = try #require(try CredentialGuide.blocks(of: "bazel").first)
        // Run by `sh`: while another test starts a child, that child may hold the new file open for writing, which
        // forbids to execute it.
        let path = try "sh " + installation.folder.write(script, to: "helper")

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
        try installation.folder.write(text, to: ".msmtprc")
        try installation.folder.write("Subject: hello\n\nhello\n", to: "mail")
        let command = try CredentialGuide.use(of: "xoauth2")

        let signedOut = try installation.shell(command)
        try installation.signInNewUser()
        try server.acceptPresentToken()
        let signedIn = try installation.shell(command)

        #expect(signedOut.status == 78)
        #expect(signedOut.errors.contains("cannot read output of 'junctionctl token'"), "\(signedOut.errors)")
        #expect(signedOut.errors.contains(signedOutMessage), "\(signedOut.errors)")
        #expect(signedIn.status == 0, "\(signedIn.errors)")
        #expect(try server.request { $0.hasPrefix("XOAUTH2") } == "XOAUTH2 user=alice@example.com allowed")
        #expect(try server.request { $0 == "mail" } == "mail")
    }

    @Test(
        .enabled("mbsync, its plugin for XOAUTH2 or python3 is not installed") {
            SystemPrograms.isInPath("mbsync") && SystemPrograms.hasPython && hasPlugin
        }
    )
    func `mbsync signs in with the guide's file, and says when nobody is signed in`() throws {
        let installation = try Self.installation()
        let server = try CredentialServer(.imap, for: installation)
        let text = try CredentialGuide.blocks(of: "xoauth2")[1]
            .replacing("Host imap.example.com", with: "Host 127.0.0.1\nPort \(server.port)")
            .replacing("SSLType IMAPS", with: "SSLType None")
        try installation.folder.write(text, to: ".mbsyncrc")

        let signedOut = try installation.shell("mbsync example")
        try installation.signInNewUser()
        try server.acceptPresentToken()
        let signedIn = try installation.shell("mbsync example")

        #expect(signedOut.status == 1)
        #expect(signedOut.errors.contains("PassCmd exited with status 3"), "\(signedOut.errors)")
        #expect(signedOut.errors.contains(signedOutMessage), "\(signedOut.errors)")
        #expect(signedIn.status == 0, "\(signedIn.errors)")
        #expect(try server.request { $0.hasPrefix("XOAUTH2") } == "XOAUTH2 user=alice@example.com allowed")
    }

    private static let hasPlugin = ["x86_64", "aarch64"].contains {
        FileManager.default.fileExists(atPath: "/usr/lib/\($0)-linux-gnu/sasl2/libkdexoauth2.so")
    }
}
