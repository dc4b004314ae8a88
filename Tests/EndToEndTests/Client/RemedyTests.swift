import Foundation
import JunctionTesting
import Testing

/// Tests that the remedy of an error fits its cause.
@Suite struct RemedyTests {
    @Test(arguments: ["link code", "token"])
    func `the error of a sign-in without network does not promise a retry`(kind: String) throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let code = try installation.cloud.linkCode(for: user)
        let token = try installation.cloud.signInToken(for: user)
        try installation.cloud.stop()

        let ending =
            kind == "token"
            ? try installation.ctl("sign-in", input: token)
            : try installation.ctl("sign-in", "--link-code", input: code)

        #expect(ending.status == 75)
        #expect(ending.errors.contains("(providerUnavailable): "))
        #expect(!ending.errors.contains("keeps trying"))
        let advice = "the daemon does not repeat it: sign in with the same credential once the provider answers"
        #expect(ending.remedy.contains(advice))
        // The daemon does not retry.
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `renew without a session handler reports the missing handler instead of advising renew`() throws {
        let installation = try Installation(accessTokenLifetime: 1, configuration: "[renewal]\nmode = \"handler\"")
        try installation.startDaemon()
        try installation.signInNewUser()
        try installation.awaitSnapshot { $0.phase == "waitingForHandler" && $0.state == "tokenExpired" }

        for verb in ["renew", "token"] {
            let ending = try installation.ctl(verb)

            #expect(ending.status == 75)
            #expect(ending.errors.contains("(tokenExpired): "))
            #expect(!ending.remedy.contains("junctionctl renew"), "\(ending.remedy)")
            #expect(ending.remedy.contains("handle-renewals --exec"), "\(ending.remedy)")
        }
    }

    @Test func `the advice for a disabled user is not to sign in as another user`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.cloud.drive("disable", user)
        let ended = try installation.ctl("renew")
        try installation.cloud.drive("enable", user)

        let later = try installation.ctl("token")

        for ending in [ended, later] {
            #expect(ending.status == 1)
            #expect(ending.errors.contains("(sessionTerminated): "))
            #expect(
                ending.remedy.hasPrefix("if the account is open again, run 'junctionctl sign-in'"),
                "\(ending.remedy)"
            )
        }
        // The advised remedy works.
        #expect(try installation.ctl("sign-in", input: installation.cloud.signInToken(for: user)).status == 0)
    }

    @Test(arguments: [("sandbox", "mars"), ("moon", "us"), ("production", "us")])
    func `a wrong environment or region is not reported as a wrong API key`(environment: String, region: String) throws
    {
        let installation = try Installation.started()
        let key = try installation.folder.write(Cloud.teamKey, to: "key")

        let ending = try installation.ctl([
            "sign-in", "--api-key-file", key, "--environment", environment, "--region", region,
        ])

        #expect(ending.status == 1)
        #expect(ending.errors.contains("(invalidCredential): "))
        #expect(!ending.remedy.contains("get a new token"), "\(ending.remedy)")
        #expect(ending.remedy.hasPrefix("correct that and sign in again"), "\(ending.remedy)")
    }

    @Test(arguments: [
        ("missing", "does not exist: create it"), ("folder", "is not a file"), ("empty", "is empty: write"),
    ])
    func `an invalid API key file is reported with its real cause`(kind: String, words: String) throws {
        let folder = TemporaryFolder()
        let file = folder.path + "/key"
        if kind == "folder" { _ = try folder.makeFolder("key") }
        if kind == "empty" { _ = try folder.write("\n", to: "key") }
        let configuration = try folder.write(
            "provider = \"social\"\n[social]\napiKeyFile = \"\(file)\"\n",
            to: "c.toml"
        )

        for more in [["--check-config"], ["--socket", folder.path + "/s", "--state-dir", folder.path + "/state"]] {
            let ending = try Program("junctiond", ["--config", configuration] + more, in: folder).wait()
            let said = ending.output + ending.errors

            #expect(ending.status == 78)
            #expect(said.contains("social.apiKeyFile: \(file) \(words)"), "\(said)")
            #expect(!said.contains("one line of text"), "\(said)")
        }
    }

    @Test func `a token that is not text is not reported as a parse error of the daemon`() throws {
        let installation = try Installation.started()
        let garbage = installation.folder.path + "/garbage"
        try Data([0x1F, 0x8B, 0x08, 0xFF, 0xFE]).write(to: URL(fileURLWithPath: garbage))

        let file = try installation.ctl("sign-in", "--token-file", garbage)
        let pipe = try Program(
            "/bin/sh",
            [
                "-c",
                "exec '\(Program.path(of: "junctionctl"))' --socket '\(installation.socket)' sign-in < '\(garbage)'",
            ],
            in: installation.folder
        ).wait()

        for ending in [file, pipe] {
            #expect(ending.status == 64)
            #expect(ending.errors.contains("(secretUnreadable): "), "\(ending.errors)")
            #expect(!ending.errors.contains("parseError"))
            #expect(!ending.remedy.contains("doctor"), "\(ending.remedy)")
            #expect(ending.remedy.hasPrefix("give the Sign-In Token itself"), "\(ending.remedy)")
        }
    }

    @Test(.enabled(if: getuid() == 0))
    func `a user who may not open the socket is told its group`() throws {
        let installation = try Installation.started()
        let otherUser = try OtherUser(installation)
        let directory = installation.folder.path + "/run"
        let group = try #require(getgrnam("daemon")).pointee.gr_gid
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o660, .groupOwnerAccountID: Int(group)],
            ofItemAtPath: installation.socket
        )

        let refused = try otherUser.ctl("status")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: installation.socket)
        let closed = try otherUser.ctl("status")

        #expect(refused.status == 77)
        #expect(refused.remedy.contains("the group 'daemon' may"), "\(refused.remedy)")
        #expect(refused.remedy.contains("log in again or run 'newgrp daemon'"), "\(refused.remedy)")
        #expect(closed.remedy.contains("only root may: "), "\(closed.remedy)")
    }

    @Test func `a port in use is reported with a remedy`() throws {
        let installation = try Installation.started()
        let address = installation.cloud.url.replacing("http://", with: "")

        let ending = try Program("junction-sandbox", ["--listen", address], in: installation.folder).wait()

        #expect(ending.status == 73)
        #expect(
            ending.errors.contains(
                "cannot listen on \(address): another program has this port, perhaps another junction-sandbox"
            ),
            "\(ending.errors)"
        )
        #expect(ending.errors.contains("--listen"))
        #expect(!ending.errors.contains("errno"), "\(ending.errors)")
        #expect(!ending.errors.contains("bind("), "\(ending.errors)")
    }

    @Test(arguments: [
        (["token", "--min-validity", "x"], "token"), (["token", "--min-validity", "-1"], "token"), (["api"], "api"),
        (["api", "GET", "no-slash"], "api"), (["sign-in", "--display-name", "x"], "sign-in"),
        (["login", "--display-name", "x"], "sign-in"), (["wait", "--for", "ever"], "wait"),
        (["reconcile"], "reconcile"), (["identify", "x", "--qr", "--json"], "identify"),
        (["status", "--nonsense"], "status"),
    ])
    func `a usage error names the manual page of the verb`(words: [String], verb: String) throws {
        let folder = TemporaryFolder()

        let ending = try Program("junctionctl", words + ["--socket", folder.path + "/none"], in: folder).wait()
        let page = try Program("junctionctl", [verb, "--help"], in: folder).wait()

        #expect(ending.status == 64)
        let expected = "see 'junctionctl \(verb) --help'"
        // The message is in a JSON document if the user asked for JSON.
        #expect(
            ending.errors.contains("(usage): \(expected)\n") || ending.errors.contains("\"\(expected)\""),
            "\(ending.errors)"
        )
        #expect(page.status == 0)
    }

    @Test func `a usage error that only the provider shows names the manual page, too`() throws {
        let ending = try Installation.started().ctl("login", "--qr", "--token-file", "/dev/null")

        #expect(ending.status == 64)
        #expect(ending.errors.contains("(usage): see 'junctionctl sign-in --help'\n"), "\(ending.errors)")
    }

    @Test func `a command line without a verb names the general manual page`() throws {
        let folder = TemporaryFolder()
        let ending = try Program("junctionctl", ["nonsense"], in: folder).wait()

        #expect(ending.errors.hasSuffix("see 'junctionctl --help'\n"), "\(ending.errors)")
    }

    @Test func `a path of another user is not reported as a missing right`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()

        let ending = try installation.ctl("api", "GET", "/v2/user/\(UUID().uuidString.lowercased())")

        #expect(ending.status == 77)
        #expect(!ending.remedy.contains("[[access]]"), "\(ending.remedy)")
    }
}

extension Program.Ending {
    /// The remedy: the text after the kind in the last line of errors.
    var remedy: String {
        let line = errors.split(separator: "\n").last.map(String.init) ?? ""
        return line.firstMatch(of: #/\([A-Za-z]+\): /#).map { String(line[$0.range.upperBound...]) } ?? ""
    }
}
