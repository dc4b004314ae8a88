import Foundation
import JunctionTesting
import Testing

/// Tests that a failed sign-in reports the cause and the remedy, to the user and in the log.
@Suite struct FailedSignInTests {
    @Test func `an unknown OAuth client is reported as a configuration error`() throws {
        let installation = try Installation.oauth(providerSettings: "clientId = \"nobody\"")

        let ending = try installation.ctl("sign-in", "--device")

        #expect(ending.status == 78)
        #expect(ending.errors.contains("answered invalid_client: check oauth.clientId"))
        #expect(ending.errors.contains("(misconfigured): correct the configuration here or at the provider"))
    }

    @Test func `an unknown issuer is reported as a configuration error`() throws {
        let installation = try Installation.oauth()
        let provider = installation.providerSettings
        try installation.stopDaemon()
        installation.providerSettings = { cloud in provider(cloud).replacing("/oauth\"\n", with: "/oauth/\"\n") }
        try installation.startDaemon()

        let ending = try installation.ctl("sign-in", "--device")

        #expect(ending.status == 78)
        #expect(ending.errors.contains("set it to what the server says, to the letter (misconfigured): "))
    }

    @Test func `the log contains the cause, the host and the remedy`() throws {
        let installation = try Installation.started()
        let credential = try installation.cloud.credential(for: installation.cloud.makeUser())
        try installation.cloud.stop()

        let error = try installation.connect().refusal("session.signIn", credential)

        #expect(error.kind == "providerUnavailable")
        #expect(error.message.contains("127.0.0.1"))
        let line = try installation.lineOfFailedSignIn()
        #expect(line.contains("cause=connection"))
        #expect(line.contains("host=127.0.0.1:"))
        #expect(line.contains("sign in with the same credential once the provider answers"))
    }

    @Test func `the log contains the host of a refusal`() throws {
        let installation = try Installation.social()
        try installation.cloud.sandbox("POST", "social/settings", ["secureMode": true])

        _ = try installation.connect().refusal("session.signIn", ["scheme": "userLogin", "userId": "anna"])

        let line = try installation.lineOfFailedSignIn()
        #expect(line.contains("cause=credential"))
        #expect(line.contains("host=127.0.0.1:"))
    }

    @Test func `a browser sign-in without a page is logged with the cause, the host and the remedy`() throws {
        let installation = try Installation.oauth()
        try installation.cloud.stop()

        let error = try installation.connect().refusal(
            "session.authorizationPage",
            [
                "redirectUri": "http://127.0.0.1:7000/done", "state": "state-1",
                "codeChallenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
            ]
        )

        #expect(error.kind == "providerUnavailable")
        let line = try installation.lineOfFailedSignIn()
        #expect(line.contains("cause=connection"))
        #expect(line.contains("host=127.0.0.1:"))
        #expect(line.contains("the daemon does not repeat it"))
    }

    @Test func `a refused sign-in is logged with its caller and its reason, and without the credential`() throws {
        let installation = try Installation.started()

        _ = try installation.ctl("sign-in", input: "no-sign-in-token")
        _ = try installation.signInNewUser()
        let other = try installation.cloud.signInToken(for: installation.cloud.makeUser("bob"))
        _ = try installation.ctl("sign-in", input: other)

        try installation.daemon?.awaitError("is signed in on this installation")
        let log = installation.daemon?.errors.split(separator: "\n") ?? []
        let refusals = log.filter { $0.contains("Refused a sign-in") }
        #expect(refusals.count == 2)
        #expect(refusals.allSatisfy { $0.contains("peerUid=\(getuid())") })
        #expect(refusals.first?.contains("Sign-In Token") == true)
        #expect(!log.contains { $0.contains("no-sign-in-token") })
    }

    @Test func `a sign-in over the limit of calls is logged with its caller`() throws {
        let installation = try Installation(configuration: "[limits]\nproviderCallsPerMinute = 1")
        try installation.startDaemon()
        // The limit is for a minute, which may pass between two sign-ins on a busy machine.
        for number in 0..<20 {
            let token = try installation.cloud.signInToken(for: installation.cloud.makeUser("user-\(number)"))
            if try installation.ctl("sign-in", input: token).status == 75 { break }
            try installation.signOut()
        }

        try installation.daemon?.awaitError("Refused a sign-in")
        let line = installation.daemon?.errors.split(separator: "\n").first { $0.contains("Refused a sign-in") }
        #expect(line?.contains("limits.providerCallsPerMinute") == true)
        #expect(line?.contains("peerUid=\(getuid())") == true)
    }

    @Test func `an error names the environment if the same user id exists in another one`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let token = try installation.cloud.signInToken(for: user, ["environment": "production"])

        let ending = try installation.ctl("sign-in", input: token)

        #expect(ending.status == 1)
        #expect(
            ending.errors.contains(
                "User \(user) is signed in on this installation in environment sandbox, and the credential is for "
                    + "environment production: "
            )
        )
    }

    @Test(arguments: [false, true])
    func `the error for a deleted user of social.plus does not mention secure mode when it is off`(
        afterRestart: Bool
    ) throws {
        let installation = try Installation.social()
        try installation.connect().call("session.signIn", ["scheme": "userLogin", "userId": "anna"])
        try installation.connect().call("session.signOut")
        try installation.cloud.sandbox("POST", "social/users/anna/delete")
        if afterRestart { try installation.restartDaemon() }

        let error = try installation.connect().refusal("session.signIn", ["scheme": "userLogin", "userId": "anna"])

        #expect(error.kind == "invalidCredential")
        #expect(error.message.contains("users without an auth token, so it has most likely deleted this one"))
        #expect(!error.message.contains("secure mode"))
    }

    @Test func `a sign-in without an auth token names secure mode if the network needs it`() throws {
        let installation = try Installation.social()
        try installation.cloud.sandbox("POST", "social/settings", ["secureMode": true])

        let error = try installation.connect().refusal("session.signIn", ["scheme": "userLogin", "userId": "anna"])

        #expect(error.message.contains("secure mode is on: then sign in with an auth token from your server"))
    }

    @Test(arguments: [("junction", "--link-code"), ("social", "--display-name"), ("oauth", "--device")])
    func `help lists the provider's options first, and all others separately`(name: String, own: String) throws {
        let installation =
            switch name {
            case "social": try Installation.social()
            case "oauth": try Installation.oauth()
            default: try Installation.started()
            }

        for ending in [try installation.ctl("sign-in", "--help"), try installation.ctl("help", "sign-in")] {

            #expect(ending.status == 0)
            let parts = ending.output.split(separator: "\n\nOTHER PROVIDERS:\n")
            try #require(parts.count == 2, "\(ending.output)")
            for option in ["--link-code", "--display-name", "--registration-token-file", "--device"] {
                #expect(parts[0].contains("\n  \(option) ") == (option == own), "\(option)")
                #expect("\n\(parts[1])".contains("\n  \(option) ") == (option != own), "\(option)")
            }
            #expect(parts[0].contains("--user-id <id>") == (name != "oauth"))
            #expect(parts[1].contains("\n  --socket <path>"))
        }
    }

    @Test(arguments: [["--instance", "work"], ["--instance=work"]])
    func `help asks the instance that the command line names`(option: [String]) throws {
        let installation = try Installation.oauth()
        let runtime = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: runtime.path + "/junctiond", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: runtime.path + "/junctiond/work.sock",
            withDestinationPath: installation.socket
        )

        let ending = try Program(
            "junctionctl",
            ["sign-in", "--help"] + option,
            in: runtime,
            environment: ["XDG_RUNTIME_DIR": runtime.path]
        )
        .wait()

        #expect(ending.output.contains("\n\nOTHER PROVIDERS:\n"))
    }

    @Test func `without a daemon the help has a section for each provider`() throws {
        let folder = TemporaryFolder()

        let ending = try Program("junctionctl", ["sign-in", "--help", "--socket", folder.path + "/none"], in: folder)
            .wait()

        #expect(ending.status == 0)
        for section in ["JUNCTION:", "SOCIAL.PLUS:", "SINCH:", "OAUTH:"] {
            #expect(ending.output.contains("\n\(section)\n"), "\(section)")
        }
    }
}

extension Installation {
    /// Waits for a failed sign-in, and returns its line of the log.
    fileprivate func lineOfFailedSignIn() throws -> Substring {
        try daemon?.awaitError("A sign-in failed")
        return try #require(daemon?.errors.split(separator: "\n").first { $0.contains("A sign-in failed") })
    }
}
