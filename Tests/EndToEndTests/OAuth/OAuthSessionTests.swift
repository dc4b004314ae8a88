import Foundation
import JunctionTesting
import Testing

/// Tests of the other OAuth sign-ins, and of the server's errors.
@Suite struct OAuthSessionTests {
    // The example of RFC 7636, appendix B.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    @Test(arguments: [("codeChallenge", challenge), ("codeVerifier", verifier)])
    func `the daemon redeems a browser's code with the app's verifier`(member: String, value: String) throws {
        let installation = try Installation.oauth()
        let redirect = "http://127.0.0.1:7777/callback"
        let client = try installation.connect()
        let page = try client.call(
            "session.authorizationPage",
            ["redirectUri": redirect, "state": "state-1", member: value]
        )
        let url = try #require((page["url"] as? String).flatMap { URLComponents(string: $0) })
        #expect(url.queryItems?.first { $0.name == "code_challenge" }?.value == Self.challenge)
        #expect(url.string?.contains(Self.verifier) == false)
        var form = [String: String]()
        for item in url.queryItems ?? [] { form[item.name] = item.value }
        (form["user"], form["decision"]) = ("alice", "approve")
        let (_, back) = try installation.cloud.post(url.path, form)
        let items = URLComponents(string: back ?? "")?.queryItems ?? []
        #expect(items.first { $0.name == "state" }?.value == "state-1")
        let code = try #require(items.first { $0.name == "code" }?.value)

        let signedIn = try client.call(
            "session.signIn",
            ["scheme": "authorizationCode", "code": code, "redirectUri": redirect, "codeVerifier": Self.verifier]
        )

        #expect(signedIn.state == "established" && signedIn["scheme"] as? String == "authorizationCode")
        #expect(try client.call("session.renew").generation == 2)
    }

    @Test func `the daemon takes over another tool's login, but not while a healthy session exists`() throws {
        let installation = try Installation.oauth()
        let other = try installation.cloud.sandbox("POST", "oauth/users/alice/tokens", [:])
        let token = try #require(other["refreshToken"] as? String)
        let client = try installation.connect()

        let signedIn = try client.call("session.signIn", ["scheme": "refreshToken", "refreshToken": token])

        #expect(signedIn.state == "established" && signedIn["scheme"] as? String == "refreshToken")
        let bobs = try installation.cloud.sandbox("POST", "oauth/users/bob/tokens", [:])
        let refusal = try client.refusal(
            "session.signIn",
            ["scheme": "refreshToken", "refreshToken": bobs["refreshToken"] as? String ?? ""]
        )
        #expect(refusal.kind == "alreadySignedIn")
        #expect(try client.call("session.renew").userId == signedIn.userId)
    }

    @Test func `a subject token signs in, and a handler provides the next one if there is no refresh token`() throws {
        let installation = try Installation.oauth(
            settings: ["exchangeRefreshToken": false],
            providerSettings: "clientId = \"sandbox-public\"\nidentity = \"userinfo\"",
            configuration: "[renewal]\nmode = \"handler\""
        )
        let signedIn = try installation.connect().call("session.signIn", installation.cloud.tokenExchange())
        #expect(signedIn.state == "established" && signedIn["scheme"] as? String == "tokenExchange")
        try installation.restartDaemon()

        let renewed = try RenewingApp(installation).renewal(answering: installation.cloud.nextSubjectToken())
        #expect(renewed.userId == signedIn.userId && renewed.generation == 2)
    }

    // MARK: A login whose user is not known yet

    /// With a refresh token, too, an app may give a subject token for a renewal.
    @Test func `a renewal with a subject token before its user is known survives a SIGKILL`() throws {
        let installation = try Installation.oauth(
            providerSettings: "clientId = \"sandbox-public\"\nidentity = \"userinfo\"",
            configuration: "[renewal]\nmode = \"handler\""
        )
        let signedIn = try installation.connect().call("session.signIn", installation.cloud.tokenExchange())
        #expect(signedIn["scheme"] as? String == "refreshToken")
        let answer = try installation.cloud.nextSubjectToken()

        try installation.cloud.fault(["match": "/oauth/userinfo", "status": 503])
        #expect(try RenewingApp(installation).refusedRenewal(answering: answer).kind == "providerUnavailable")
        #expect(try installation.cloud.oauthLogins().map(\.isAlive) == [true, true])
        try installation.restartDaemon()
        try installation.cloud.clearFaults()

        #expect(try RenewingApp(installation).renewal(answering: answer).generation == 2)
        #expect(
            try installation.cloud.oauthLogins().map(\.isAlive) == [true, true],
            "the same grant, and no third one"
        )
    }

    /// Prepares a login that was rotated, whose userinfo request failed, and whose daemon was killed.
    private func interrupted() throws -> (Installation, token: String) {
        let installation = try Installation.oauth(
            rotationGrace: 0,
            providerSettings: "clientId = \"sandbox-public\"\nidentity = \"userinfo\""
        )
        let other = try installation.cloud.sandbox("POST", "oauth/users/alice/tokens", [:])
        let token = try #require(other["refreshToken"] as? String)
        try installation.cloud.fault(["match": "/oauth/userinfo", "status": 503])
        let refusal = try installation.connect().refusal(
            "session.signIn",
            ["scheme": "refreshToken", "refreshToken": token]
        )
        #expect(refusal.kind == "providerUnavailable")
        #expect(try installation.cloud.introspect(token)["standing"] as? String == "replacedRefreshToken")
        try installation.restartDaemon()
        try installation.cloud.clearFaults()
        return (installation, token)
    }

    @Test func `a login that was rotated before its user is known survives a SIGKILL`() throws {
        let (installation, token) = try interrupted()

        let client = try installation.connect()
        let signedIn = try client.call("session.signIn", ["scheme": "refreshToken", "refreshToken": token])

        #expect(signedIn.state == "established")
        #expect(try installation.cloud.oauthLogins().map(\.isAlive) == [true])
        #expect(try client.call("session.renew").userId == signedIn.userId)
    }

    @Test func `a sign-out revokes such a login, also after a SIGKILL`() throws {
        let (installation, token) = try interrupted()
        let client = try installation.connect()

        try client.call("session.signOut")
        try installation.cloud.wait(for: "signOuts")

        #expect(try installation.cloud.oauthLogins().map(\.isAlive) == [false])
        let refusal = try client.refusal("session.signIn", ["scheme": "refreshToken", "refreshToken": token])
        #expect(refusal.kind == "invalidCredential")
    }

    @Test func `an approval whose user is not yet known survives a SIGKILL`() throws {
        let installation = try Installation.oauth(
            providerSettings: "clientId = \"sandbox-public\"\nidentity = \"userinfo\""
        )
        try installation.cloud.fault(["match": "/oauth/userinfo", "status": 503])
        let codes = try installation.beginDeviceSignIn()
        let watcher = try installation.watch()
        try installation.cloud.decide(codes.userCode, "approve")
        _ = try watcher.awaitSnapshot { $0.lastError.contains("503") || $0.lastError.contains("error of its own") }
        try installation.restartDaemon()
        let after = try installation.watch()
        try installation.cloud.clearFaults()

        let signedIn = try after.awaitSnapshot { $0.state == "established" }
        #expect(signedIn["scheme"] as? String == "device")
        #expect(try installation.cloud.oauthLogins().map(\.isAlive) == [true])
    }

    // MARK: Errors of the server

    @Test func `a disabled user keeps session and refresh token, and is renewed when enabled again`() throws {
        let installation = try Installation.oauth()
        let user = try installation.signInByDevice().userId
        let client = try installation.connect()
        try installation.cloud.driveOAuth("disable")
        #expect(try client.refusal("session.renew").kind == "reauthenticationRequired")
        let pending = try installation.status()
        #expect(pending.state == "established" && pending.flags.contains("pendingReauthentication"))
        #expect(pending.userId == user)
        try installation.cloud.driveOAuth("enable")
        // The daemon repeats a failure for ten seconds. A restart clears only that.
        try installation.restartDaemon()

        let renewed = try installation.connect().call("session.renew")
        #expect(renewed.userId == user && !renewed.flags.contains("pendingReauthentication"))
    }

    @Test func `only an approval by the same user clears a pending reauthentication`()
        throws
    {
        let installation = try Installation.oauth()
        let user = try installation.signInByDevice().userId
        try installation.cloud.driveOAuth("require-reauthentication")
        #expect(try installation.connect().refusal("session.renew").kind == "reauthenticationRequired")
        let watcher = try installation.watch()
        let first = try installation.connect().call("session.signIn", ["scheme": "device"])
        #expect(first.state == "established" && first.flags.contains("pendingReauthentication"))
        try installation.cloud.decide(first.authorization?.userCode ?? "", "approve", as: "bob")
        let refused = try watcher.awaitSnapshot { $0.authorization == nil && !$0.lastError.isEmpty }
        #expect(refused.userId == user && refused.flags.contains("pendingReauthentication"))
        try installation.cloud.wait(for: "signOuts")

        let second = try installation.connect().call("session.signIn", ["scheme": "device"])
        try installation.cloud.decide(second.authorization?.userCode ?? "", "approve")
        let healed = try watcher.awaitSnapshot { !$0.flags.contains("pendingReauthentication") }
        #expect(healed.userId == user && healed.state == "established")
        let alive = try installation.cloud.oauthLogins().filter(\.isAlive)
        #expect(alive.allSatisfy { $0["userId"] as? String == user })
    }

    @Test func `a wrong client secret loses no session, and doctor names the remedy`() throws {
        let installation = try Installation.oauth()
        try installation.signInByDevice()
        let secret = try installation.folder.write("wrong\n", to: "client-secret")
        try installation.stopDaemon()
        let before = installation.providerSettings
        installation.providerSettings = { cloud in
            before(cloud).replacing("sandbox-public", with: "sandbox-confidential")
                + "\nclientAuthentication = \"basic\"\nclientSecretFile = \"\(secret)\""
        }
        try installation.startDaemon()

        #expect(try installation.connect().refusal("session.renew").kind == "misconfigured")
        let status = try installation.status()
        #expect(status.state == "established" && !status.flags.contains("pendingReauthentication"))
        let doctor = try installation.ctl("doctor")
        #expect(doctor.output.contains("invalid_client"))
    }

    @Test func `a discovery document with another token endpoint is not followed, and doctor reports it`() throws {
        let installation = try Installation.oauth()
        try installation.signInByDevice()
        let before = try installation.status().generation ?? 0
        // The same server under another name. It would grant a token.
        let forged = installation.cloud.url.replacing("127.0.0.1", with: "localhost") + "/oauth/token"
        let members: Object = ["token_endpoint": forged]
        try installation.cloud.sandbox("POST", "oauth/settings", ["discoveryMembers": members])
        // The daemon caches the discovery document in memory only.
        try installation.restartDaemon()

        let error = try installation.connect().refusal("session.renew")
        #expect(error.kind == "providerUnavailable")
        #expect(error.message.contains("now names a token endpoint at http://localhost"))
        #expect(try installation.cloud.counter("refreshes") == 0)
        #expect(try installation.status().state == "established")
        let doctor = try installation.ctl("doctor").output
        #expect(doctor.contains("provider endpoints"))

        try installation.cloud.sandbox("POST", "oauth/settings", ["discoveryMembers": [:] as Object])
        try installation.awaitSnapshot { ($0.generation ?? 0) > before }
        #expect(try installation.cloud.oauthLogins().map(\.isAlive) == [true])
    }
}

extension Cloud {
    /// Returns a credential with a new subject token.
    fileprivate func tokenExchange() throws -> Object {
        var credential = try sandbox("POST", "oauth/users/alice/subject-token", [:])
        credential["scheme"] = "tokenExchange"
        return credential
    }

    /// Returns a handler's answer with a new subject token.
    fileprivate func nextSubjectToken() throws -> Object {
        ["action": "renewWithAuthToken", "authToken": try tokenExchange()["subjectToken"] as? String ?? ""]
    }
}
