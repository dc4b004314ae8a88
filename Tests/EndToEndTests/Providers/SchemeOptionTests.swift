import Foundation
import JunctionTesting
import Testing

/// Tests that `junctionctl sign-in` chooses the scheme from its options, and asks the daemon only if they are
/// ambiguous.
struct SchemeOptionTests {
    @Test func `social.plus: a user alone, with a name, and with the auth token of secure mode`() throws {
        let installation = try Installation.social()
        for options in [["--user-id", "Anna"], ["--user-id", "Anna", "--display-name", "Anna A."]] {
            #expect(try installation.signIn(options).scheme == "userLogin")
            try installation.signOut()
        }
        let users = try installation.cloud.sandbox("GET", "social/users")["users"] as? [Object]
        #expect(users?.map { $0["name"] as? String } == ["Anna A."])

        try installation.cloud.sandbox("POST", "social/settings", ["secureMode": true])
        let refused = try installation.run(["--user-id", "Anna"])
        #expect(refused.status == 1)
        #expect(refused.errors.contains(#""kind":"invalidCredential""#))
        let file = try installation.folder.write(installation.authToken(for: "Anna") + "\n", to: "auth-token")
        #expect(try installation.signIn(["--user-id", "Anna", "--auth-token-file", file]).scheme == "userLogin")
        try installation.signOut()
        let token = try installation.authToken(for: "Anna")
        #expect(try installation.signIn(["--user-id", "Anna", "--auth-token-file", "-"], token).scheme == "userLogin")
    }

    @Test func `Sinch: a registration token comes from a file, standard input or a handler`() throws {
        let installation = try Installation.sinch()
        let file = try installation.folder.write(installation.registrationToken(for: "anna") + "\n", to: "jwt")
        let form = ["--user-id", "anna", "--registration-token-file"]
        #expect(try installation.signIn(form + [file]).scheme == "registration")
        try installation.signOut()
        let token = try installation.registrationToken(for: "anna")
        #expect(try installation.signIn(form + ["-"], token).scheme == "registration")
        try installation.signOut()

        let alone = try installation.run(["--user-id", "anna"])
        #expect(alone.status == 75)
        #expect(alone.errors.contains(#""kind":"providerUnavailable""#))
        #expect(alone.errors.contains("handle-renewals"))
        let app = try RenewingApp(installation)
        let signIn = try installation.startCtl(["--json", "sign-in", "--user-id", "anna"])
        let jwt = try installation.registrationToken(for: "anna")
        let question = try app.answer(["action": "renewWithAuthToken", "authToken": jwt])
        #expect(question["reason"] as? String == "missing")
        #expect(try signIn.wait().json().scheme == "registration")
    }

    @Test func `Sinch: the legacy signature and self-signing work and are reported as such`() throws {
        let installation = try Installation.sinch(selfSigning: true)
        let answer = try installation.cloud.sandbox("POST", "sinch/users/anna/registration-signature")
        let file = try installation.folder.write(
            String(decoding: try JSONSerialization.data(withJSONObject: answer), as: UTF8.self),
            to: "signature"
        )

        let legacy = try installation.run(["--user-id", "anna", "--registration-signature-file", file])
        try installation.signOut()
        let own = try installation.run(["--user-id", "anna", "--self-signed"])

        #expect(try legacy.json().scheme == "registrationSignature")
        #expect(legacy.errors.contains("legacy"))
        #expect(try own.json().scheme == "selfSigned")
        #expect(own.errors.contains("discouraged"))
    }

    @Test func `Junction: a token, a link code, an API key, and then a user alone`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        #expect(try installation.ctl("status").status == 3)
        let signIn = try installation.ctl("sign-in", input: installation.cloud.signInToken(for: user) + "\n")
        #expect(signIn.status == 0 && signIn.output.contains(user))
        #expect(try installation.ctl("status", "--json").json().scheme == "signInToken")
        #expect(try installation.ctl("status").output.contains("signed in"))
        try installation.signOut()
        let file = try installation.folder.write(installation.cloud.signInToken(for: user), to: "token")
        #expect(try installation.signIn(["--token-file", file]).scheme == "signInToken")
        try installation.signOut()
        #expect(try installation.signIn(["--link-code"], installation.cloud.linkCode(for: user)).userId == user)
        try installation.signOut()
        let key = try installation.folder.write(Cloud.teamKey, to: "key")
        let configured = try installation.run(["--api-key-file", key, "--environment", "sandbox", "--region", "us"])
        #expect(configured.errors.contains("evaluation"))
        #expect(try configured.json().state == "notLoggedIn")
        #expect(try configured.json().flags == ["configured"])
        let keyed = try installation.signIn(["--user-id", user])
        #expect(keyed.scheme == "apiKey")
        #expect(keyed.userId == user)
        let token = try installation.ctl("token")
        #expect(token.status == 1 && token.errors.contains("(unsupported)"))
    }

    @Test func `social.plus and Sinch name the options that they need, and do not prompt for a Sign-In Token`() throws {
        for (installation, option) in try [
            (Installation.social(), "--auth-token-file"), (.sinch(), "--registration-token-file"),
        ] {
            let ending = try installation.run([])

            #expect(ending.status == 64)
            #expect(ending.errors.contains("--user-id"), "\(ending.errors)")
            #expect(ending.errors.contains(option), "\(ending.errors)")
            #expect(!ending.errors.contains("Sign-In Token"))
        }
    }

    @Test func `social.plus: identify logs in, with the auth token of a command if one is needed`() throws {
        let installation = try Installation.social()
        let open = try installation.ctl("identify", "anna", "--json")
        #expect(try open.json()["outcome"] as? String == "signedIn", "\(open.errors)")
        #expect(try installation.status().userId == "anna")

        try installation.cloud.sandbox("POST", "social/settings", ["secureMode": true])
        let file = try installation.folder.write(installation.authToken(for: "bert") + "\n", to: "auth-token")
        let secure = try installation.ctl([
            "identify", "app-bert", "--user-id", "bert", "--token-command", "cat \(file)", "--json",
        ])

        #expect(try secure.json()["outcome"] as? String == "switched", "\(secure.errors)")
        let status = try installation.status()
        #expect(status.userId == "bert")
        #expect(status.externalUserId == "app-bert")
        #expect(status.scheme == "userLogin")
    }

    @Test func `Sinch: identify registers, with the token of a command or of a session handler`() throws {
        let installation = try Installation.sinch()
        let file = try installation.folder.write(installation.registrationToken(for: "anna") + "\n", to: "jwt")
        let first = try installation.ctl("identify", "anna", "--token-command", "cat \(file)", "--json")
        #expect(try first.json()["outcome"] as? String == "signedIn", "\(first.errors)")
        try installation.signOut()

        let app = try RenewingApp(installation)
        let identify = try installation.startCtl(["--json", "identify", "bert"])
        let jwt = try installation.registrationToken(for: "bert")
        let question = try app.answer(["action": "renewWithAuthToken", "authToken": jwt])

        #expect(question["userId"] as? String == "bert")
        let second = try identify.wait()
        #expect(try second.json()["outcome"] as? String == "signedIn", "\(second.errors)")
        #expect(try installation.status().externalUserId == "bert")
    }

    @Test(arguments: [
        ["--link-code", "--token-file", "t"], ["--user-id", "u", "--registration-token-file", "/nowhere/jwt"],
        ["--registration-token", "eyJhbGciOiJIUzI1NiJ9"],
    ])
    func `conflicting options are a usage error before a connection to the daemon`(options: [String]) throws {
        let folder = TemporaryFolder()

        let ending = try Program(
            "junctionctl",
            ["--socket", folder.path + "/nobody", "sign-in"] + options,
            in: folder
        ).wait()

        // The socket has no listener. The exit code 69 would mean that junctionctl tried to connect.
        #expect(ending.status == (options.contains("/nowhere/jwt") ? 69 : 64), "\(ending.errors)")
        #expect(ending.output == "")
        #expect(!ending.errors.contains("eyJhbGciOiJIUzI1NiJ9"))
    }

    @Test func `the daemon refuses another provider's scheme, and the client reports a missing file`()
        throws
    {
        let installation = try Installation.sinch()
        let login = try installation.run(["--user-id", "anna", "--display-name", "Anna"])
        #expect(login.status == 1)
        #expect(login.errors.contains(#""kind":"unsupported""#))
        let missing = try installation.run(["--user-id", "anna", "--registration-token-file", "/nowhere/jwt"])
        #expect(missing.status == 64)
        #expect(missing.errors.contains("the file given to --registration-token-file cannot be read"))
        let signature = try installation.folder.write(#"{"signature":"c2VjcmV0","sequence":-7}"#, to: "signature")
        let malformed = try installation.run(["--user-id", "anna", "--registration-signature-file", signature])
        #expect(malformed.status == 64)
        #expect(malformed.errors.contains("sequence"))
        #expect(!malformed.errors.contains("c2VjcmV0"))
        #expect(try installation.cloud.counter("requests") == 0)
    }
}

extension Installation {
    fileprivate func run(_ options: [String], _ input: String? = nil) throws -> Program.Ending {
        try ctl(["--json", "sign-in"] + options, input: input)
    }

    /// Signs in and returns the snapshot.
    fileprivate func signIn(_ options: [String], _ input: String? = nil) throws -> Object {
        let ending = try run(options, input)
        guard ending.status == 0 else { throw TestFailure(description: "\(options): \(ending.errors)") }
        return try ending.json()
    }
}

extension [String: Any] {
    fileprivate var scheme: String? { self["scheme"] as? String }
}
