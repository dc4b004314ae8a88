import Foundation
import JunctionTesting
import Testing

/// Tests of a sign-in on the provider's page in a browser, while other users are on the machine.
@Suite struct BrowserSignInTests {
    @Test func `junctionctl signs in on a page in the browser, and names the user and how to sign out`() throws {
        let installation = try Installation.oauth()
        let ctl = try installation.talkingCtl("sign-in", "--browser")
        let page = try ctl.page()

        try installation.go(to: try installation.approve(page, as: "alice"))

        let ending = try ctl.program.wait()
        #expect(ending.status == 0)
        let status = try installation.status()
        #expect(status.state == "established" && status["scheme"] as? String == "authorizationCode")
        let user = try #require(status.userId)
        #expect(
            ending.errors.contains("signed in as \(user); if that is somebody else, run 'junctionctl sign-out'\n"),
            "\(ending.errors)"
        )
    }

    @Test func `the address of the provider's page is in no argument, and the browser is redirected to it`() throws {
        let installation = try Installation.oauth()
        // The stub of xdg-open writes its argument into this FIFO, and ends when the test reads it.
        let said = installation.folder.path + "/argument"
        try #require(mkfifo(said, 0o600) == 0)
        let programs = installation.folder.path + "/bin"
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: false)
        let opener = try installation.folder.write("#!/bin/sh\nprintf '%s\\n' \"$*\" >'\(said)'\n", to: "bin/xdg-open")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: opener)
        let ctl = try RunningProgram(
            "junctionctl",
            ["sign-in", "--browser"],
            in: installation.folder,
            environment: [
                "JUNCTIOND_SOCKET": installation.socket, "DISPLAY": ":0", "PATH": "\(programs):/usr/bin:/bin",
            ]
        )
        let page = try ctl.page()

        let argument = try Program("/bin/cat", [said], in: installation.folder).wait().output
            .trimmingCharacters(in: .newlines)

        let address = try #require(URLComponents(string: argument))
        #expect(address.host == "127.0.0.1" && address.path == "/start" && address.query == nil, "\(argument)")
        #expect(try installation.get(argument).contains("\r\nLocation: \(try #require(page.string))\r\n"))
        try installation.go(to: try installation.approve(page, as: "alice"))
        #expect(try ctl.program.wait().status == 0)
    }

    @Test(.enabled(if: getuid() == 0, "Only root can be another user as well"))
    func `a code from another user of the machine signs no user in`() throws {
        let installation = try Installation.oauth()
        let ctl = try installation.talkingCtl("sign-in", "--browser")
        let page = try ctl.page()
        let mallorys = try installation.approve(page, as: "mallory")
        let alices = try installation.approve(page, as: "alice")

        let answer = try Program(
            SystemPrograms.setpriv,
            Array(OtherUser.command.dropFirst()) + ["/usr/bin/curl", "-si", mallorys],
            in: installation.folder
        ).wait()
        try ctl.program.awaitError("refused a connection")

        #expect(!answer.output.contains("200 OK"), "\(answer.output)")
        #expect(try installation.status().state == "notLoggedIn")
        try installation.go(to: alices)
        #expect(try ctl.program.wait().status == 0)
        // The daemon never redeemed the code of mallory.
        #expect(try installation.cloud.oauthLogins().count == 1)
    }
}

extension RunningProgram {
    /// Reads the output up to the address of the page and returns it.
    fileprivate func page() throws -> URLComponents {
        while let line = try lines.next() {
            let word = line.split(separator: " ").first { $0.contains("/oauth/authorize?") }
            if let page = word.flatMap({ URLComponents(string: String($0)) }) { return page }
        }
        throw TestFailure(description: "No page came: \(program.errors)")
    }
}

extension Installation {
    /// Approves the sign-in on the page, and returns the redirect.
    fileprivate func approve(_ page: URLComponents, as user: String) throws -> String {
        var form = ["user": user, "decision": "approve"]
        for item in page.queryItems ?? [] { form[item.name] = item.value }
        return try #require(try cloud.post("/oauth/authorize", form).redirect)
    }

    /// Follows a redirect as the browser does.
    fileprivate func go(to address: String) throws {
        _ = try get(address)
    }

    /// Returns the answer to a browser of this user, including the head.
    fileprivate func get(_ address: String) throws -> String {
        try Program("/usr/bin/curl", ["-sSi", address], in: folder).wait().output
    }
}
