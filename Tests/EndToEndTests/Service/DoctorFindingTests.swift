import Foundation
import JunctionTesting
import Testing

/// Tests of what `junctionctl doctor` finds on a faulty installation, with and without the daemon.
struct DoctorFindingTests {
    @Test func `doctor reports a changed configuration, and whether a reload or a restart applies it`() throws {
        let installation = try Installation.started(configuration: "[log]\nlevel = \"info\"")
        #expect(try installation.finding("configuration").verdict == "ok")

        try installation.change("[log]\nlevel = \"debug\"")
        let changed = try installation.finding("configuration")
        try installation.change("[log]\nlevel = \"info\"\n[limits]\nconnections = 7")
        let other = try installation.finding("configuration")
        try installation.change("nonsense = 1")
        let refused = try installation.finding("configuration")

        #expect(changed.verdict == "note")
        #expect(changed.remedy.contains("reload"))
        #expect(other.verdict == "note")
        #expect(other.detail.contains("limits.connections"))
        #expect(other.remedy.contains("restart"))
        #expect(refused.verdict == "problem")
        #expect(refused.detail.contains("nonsense"))
        #expect(refused.remedy.contains("--check-config"))
    }

    @Test func `doctor reports a package's file until it is loaded, and the line of a refused one`()
        throws
    {
        let installation = try Installation(configuration: "[log]\nlevel = \"info\"")
        try installation.folder.makeFolder("conf.d")
        let notify = try installation.startDaemon()
        let entry = "[[access]]\nallow = [\"status\"]\nunit = \"s3cret.service\"\n"

        _ = try installation.folder.write(entry, to: "conf.d/50-app.toml")
        let added = try installation.finding("configuration")
        installation.daemon?.signal(SIGHUP)
        try notify.wait(for: "READY=1")
        let reloaded = try installation.finding("configuration")
        let bundle = try installation.ctl("doctor", "--bundle")
        _ = try installation.folder.write("\nnonsense = 1", to: "conf.d/60-other.toml")
        let refused = try installation.finding("configuration")

        let file = installation.configurationFile
        #expect(added.detail == "\(file) or its conf.d was changed and is not in force yet.")
        #expect(added.remedy.contains("reload"))
        #expect(reloaded.detail == "\(file) is in force, with conf.d/50-app.toml.")
        #expect(reloaded.verdict == "ok")
        #expect(refused.verdict == "problem")
        #expect(refused.detail.contains("\(installation.folder.path)/conf.d/60-other.toml:2: nonsense: unknown key"))
        let part = """
            == configuration \(installation.folder.path)/conf.d/50-app.toml
            access[0].allow = ["status"]
            access[0].unit = (hidden)
            """
        #expect(bundle.output.contains(part), "\(bundle.output)")
        #expect(!bundle.output.contains("s3cret"))
    }

    @Test func `every finding has its own name`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()

        let names = try installation.findings().map(\.name)

        #expect(names.contains("socket") && names.contains("listener") && names.contains("disk space"))
        #expect(Set(names).count == names.count, "\(names.sorted())")
    }

    @Test func `doctor reports an access entry for an unknown user`() throws {
        let installation = try Installation.started(
            configuration: "[[access]]\nallow = [\"status\"]\nuser = \"nobody-of-that-name\""
        )

        let finding = try installation.finding("access")

        #expect(finding.verdict == "problem")
        #expect(finding.detail.contains("nobody-of-that-name"))
    }

    @Test func `doctor reports a session that waits for an app, and whether a session handler is registered`() throws {
        let installation = try Installation.social(configuration: "[renewal]\nmode = \"handler\"")
        let signIn = try installation.ctl("sign-in", "--user-id", "anna")
        let token = try #require(try installation.status()["accessToken"] as? Object)
        let end = try #require(token["expiresAt"] as? String)

        #expect(signIn.status == 0)
        #expect(signIn.errors.contains("No session handler is registered"))
        #expect(signIn.errors.contains("the session ends with the token at \(end)"))
        #expect(try installation.ctl("status").output.contains("it needs a session handler, and none is registered"))
        try installation.daemon?.awaitError("No session handler is registered")
        let finding = try installation.finding("renewal")
        #expect(finding.verdict == "note")
        #expect(finding.detail.contains(end))
        let app = try installation.connect()
        try app.call("handler.register")
        #expect(try installation.findings().contains { $0.name == "renewal" } == false)
    }

    @Test func `a registration that only an app can renew is reported also in automatic mode`() throws {
        let installation = try Installation.sinch(configuration: "[renewal]\nmode = \"automatic\"")
        let token = try installation.registrationToken(for: "anna", ["instanceTtl": 172_800])
        let signIn = try installation.ctl([
            "sign-in", "--user-id", "anna", "--registration-token-file",
            installation.folder.write(token, to: "registration-token"),
        ])
        let accessToken = try #require(try installation.status()["accessToken"] as? Object)
        let end = try #require(accessToken["expiresAt"] as? String)

        #expect(signIn.status == 0)
        #expect(signIn.errors.contains("No session handler is registered"))
        #expect(signIn.errors.contains("the session ends with the token at \(end)"))
        let app = try installation.connect()
        #expect(try app.call("handler.register")["mode"] == nil)
        #expect(try installation.findings().contains { $0.name == "renewal" } == false)
    }

    @Test func `doctor reports a session that needs reauthentication`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.cloud.drive("require-reauthentication", user)
        _ = try? installation.connect().call("session.renew")

        let finding = try installation.finding("session")

        #expect(finding.verdict == "problem")
        #expect(finding.detail.contains("reauthentication is pending"))
        #expect(finding.remedy.contains("new credential"))
    }

    // MARK: Without the daemon

    @Test func `without the daemon, doctor checks its configuration and the files in conf.d`() throws {
        let installation = try Installation()
        try installation.writeConfiguration()
        _ = try installation.folder.makeFolder("conf.d")
        _ = try installation.folder.write("[[access]]\nallow = []\nuser = \"no-such-user\"", to: "conf.d/a.toml")
        func findings() throws -> [Finding] {
            let ending = try installation.ctl("doctor", "--json", "--config", installation.configurationFile)
            #expect(ending.status == 69)
            return Finding.all(in: try ending.json())
        }

        let inOrder = try findings()
        _ = try installation.folder.write("nonsense = 1", to: "conf.d/b.toml")
        let refused = try #require(try findings().first { $0.name == "configuration" })

        #expect(inOrder.first { $0.name == "daemon" }?.verdict == "problem")
        #expect(inOrder.contains { $0.detail == "\(installation.configurationFile): in order, with conf.d/a.toml" })
        let access = try #require(inOrder.first { $0.name == "access" })
        #expect(access.detail.hasPrefix("\(installation.folder.path)/conf.d/a.toml:1: access[0] matches nobody"))
        #expect(refused.verdict == "problem")
        #expect(refused.detail.contains("conf.d/b.toml:1: nonsense: unknown key"))
    }

    @Test(.needsOtherUser)
    func `a user who may not read a file in conf.d is told so, without a claim that it is refused`() throws {
        let installation = try Installation()
        try installation.writeConfiguration()
        _ = try installation.folder.makeFolder("conf.d")
        _ = try installation.folder.write("", to: "conf.d/a.toml")
        let otherUser = try OtherUser(installation)
        let folder = installation.folder.path
        for (path, mode) in [(folder, 0o755), (folder + "/conf.d", 0o755), (installation.configurationFile, 0o644)] {
            #expect(chmod(path, mode_t(mode)) == 0)
        }

        let ending = try otherUser.ctl("doctor", "--json", "--config", installation.configurationFile)
        let finding = try #require(Finding.all(in: try ending.json()).first { $0.name == "configuration" })

        #expect(finding.verdict == "note")
        #expect(finding.detail == "\(folder)/conf.d/a.toml cannot be looked at by this user")
    }

    @Test(.needsOtherUser)
    func `a caller that has only the status right is told about the state`() throws {
        let (installation, otherUser) = try OtherUser.installation(configuration: OtherUser.entry(allowing: "status"))
        let user = try installation.signInNewUser()
        try installation.cloud.drive("require-reauthentication", user)
        _ = try? installation.connect().call("session.renew")

        let ending = try otherUser.ctl("doctor", "--json")
        let findings = Finding.all(in: try ending.json())

        #expect(ending.status == 77)
        #expect(findings.first { $0.name == "session" }?.detail.contains("reauthentication is pending") == true)
    }

    // MARK: Bundles

    @Test func `a bundle contains every section and no secret`() throws {
        let secret = "pr0xy-s3cret"
        let installation = try Installation.started(
            configuration: "[network]\nproxy = \"http://kiosk:\(secret)@127.0.0.1:9\"\n# \(secret)"
        )
        let user = try installation.signInNewUser()
        let token = try #require(try installation.token())

        // The daemon reports the path of its configuration file.
        let ending = try installation.ctl("doctor", "--bundle")
        let json = try installation.ctl("doctor", "--bundle", "--json")

        #expect(ending.status == 0)
        for heading in [
            "== findings", "== versions", "== configuration \(installation.configurationFile)", "== units",
            "== journal",
        ] {
            #expect(ending.output.contains(heading))
        }
        #expect(ending.output.contains("junctiond 0.1.0"))
        #expect(ending.output.contains("network.proxy = \"(hidden)@127.0.0.1:9\""))
        #expect(SecretSearch.found([secret, token, user], in: ending.output + ending.errors + json.output) == [])
        #expect((try json.json()["parts"] as? [Object])?.count == 5)
    }

    @Test func `a bundle contains a refused file and no content of an unreadable one`() throws {
        let installation = try Installation.started()
        try installation.change("[log]\r\nlevel = \"s3cret\"\r\n")

        let refused = try installation.ctl("doctor", "--bundle")
        try installation.change("s3cret")
        let torn = try installation.ctl("doctor", "--bundle")

        #expect(refused.output.contains("== configuration \(installation.configurationFile)\n"), "\(refused.output)")
        #expect(refused.output.contains("\nlog.level = (hidden)\n"))
        #expect(torn.output.contains("== configuration \(installation.configurationFile)\nit is no TOML, see line "))
        #expect(SecretSearch.found(["s3cret"], in: refused.output + torn.output) == [])
    }
}

private struct Finding {
    var name: String
    var verdict: String
    var detail: String
    var remedy: String

    static func all(in document: Object) -> [Finding] {
        (document["checks"] as? [Object] ?? []).map { check in
            func text(_ key: String) -> String { check[key] as? String ?? "" }
            return Finding(name: text("name"), verdict: text("verdict"), detail: text("detail"), remedy: text("remedy"))
        }
    }
}

extension Installation {
    fileprivate func findings() throws -> [Finding] { Finding.all(in: try ctl("doctor", "--json").json()) }

    fileprivate func finding(_ name: String) throws -> Finding {
        try #require(try findings().first { $0.name == name })
    }
}
