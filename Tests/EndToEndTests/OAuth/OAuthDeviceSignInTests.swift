import Foundation
import JunctionTesting
import Testing

/// Tests of the device sign-in with the built daemon and the real approval form.
@Suite struct OAuthDeviceSignInTests {
    @Test func `an approval signs in, and the login survives restarts and twenty rotations`() throws {
        let installation = try Installation.oauth()
        let signedIn = try installation.signInByDevice()
        let user = try #require(signedIn.userId)
        #expect(signedIn["scheme"] as? String == "device" && signedIn.authorization == nil)

        for round in 1...20 {
            let renewed = try installation.connect().call("session.renew")
            #expect(renewed.userId == user && renewed.isDurable)
            if round % 7 == 0 { try installation.restartDaemon() }
        }

        let logins = try installation.cloud.oauthLogins()
        #expect(logins.count == 1 && logins[0].isAlive && logins[0]["replays"] as? Int == 0)
        #expect(logins[0]["narrowedBy"] as? [String] == [], "a renewal has sent scope or resource")
        #expect(try installation.cloud.introspect(installation.token())["standing"] as? String == "accessToken")
        let answer = try installation.connect().call("api.request", ["method": "GET", "path": "/whoami"])
        #expect(answer["status"] as? Int == 200)
    }

    @Test func `a sign-out ends the login at the server`() throws {
        let installation = try Installation.oauth()
        try installation.signInByDevice()
        try installation.signOut()
        try installation.cloud.wait(for: "signOuts")

        #expect(try installation.cloud.oauthLogins().map(\.isAlive) == [false])
    }

    @Test func `a denial is reported, and a new sign-in is possible`() throws {
        let installation = try Installation.oauth()
        let watcher = try installation.watch()
        let codes = try installation.beginDeviceSignIn()
        try installation.cloud.decide(codes.userCode, "deny")
        let ended = try watcher.awaitSnapshot { $0.state == "notLoggedIn" }

        #expect(ended.lastError.contains("denied") && ended.authorization == nil)
        #expect(try installation.signInByDevice().state == "established")
    }

    @Test func `expired codes end the device sign-in`() throws {
        let installation = try Installation.oauth()
        let watcher = try installation.watch()
        let codes = try installation.beginDeviceSignIn()
        try installation.cloud.sandbox("POST", "oauth/devices/\(codes.userCode)/expire")

        let ended = try watcher.awaitSnapshot { $0.state == "notLoggedIn" }
        #expect(ended.lastError.contains("expired"))
    }

    @Test func `failures while polling lose no approval`() throws {
        let installation = try Installation.oauth()
        for trouble in [
            ["status": 503], ["status": 200, "body": "<html>", "contentType": "text/html"], ["drop": "before"],
        ] {
            var fault: Object = trouble
            (fault["match"], fault["grant"], fault["times"]) = ("/oauth/token", "device_code", 1)
            try installation.cloud.fault(fault)
        }
        #expect(try installation.signInByDevice().state == "established")
    }

    // MARK: junctionctl

    @Test func `junctionctl shows address and code, waits, and prints the signed-in user`() throws {
        let installation = try Installation.oauth()
        let watcher = try installation.watch()
        let ctl = try installation.talkingCtl("sign-in", "--device")
        let codes = try watcher.awaitCodes()
        try installation.cloud.decide(codes.userCode, "approve")
        let user = try #require(try watcher.awaitSnapshot { $0.state == "established" }.userId)
        let ending = try ctl.program.wait()
        let text = try String(decoding: ctl.lines.rest(), as: UTF8.self) + ending.errors

        #expect(ending.status == 0, "\(ending)")
        #expect(text.contains(codes.userCode) && text.contains("/oauth/device"))
        #expect(text.contains(user))
    }

    @Test func `junctionctl reports a denial as an error`() throws {
        let installation = try Installation.oauth()
        let watcher = try installation.watch()
        let ctl = try installation.talkingCtl("sign-in", "--device")
        let codes = try watcher.awaitCodes()
        try installation.cloud.decide(codes.userCode, "deny")
        let ending = try ctl.program.wait()

        #expect(ending.status != 0 && ending.errors.contains("denied"))
    }

    // MARK: Restarts

    @Test func `an approval while the daemon is stopped signs in after the restart`() throws {
        let installation = try Installation.oauth()
        let codes = try installation.beginDeviceSignIn()
        try installation.killDaemon()
        try installation.cloud.decide(codes.userCode, "approve")

        try installation.startDaemon()
        #expect(try installation.awaitSnapshot { $0.state == "established" }.userId != nil)
        #expect(try installation.cloud.oauthLogins().count == 1)
    }

    @Test(arguments: ["temporaryWritten", "temporarySynced", "renamed", "directorySynced"])
    func `after a kill while the codes are stored, they are restored or were never shown`(step: String) throws {
        let installation = try Installation.oauth()
        try installation.restartDaemon(["JUNCTIOND_CRASH_POINT": step])
        let isAnswered = try installation.isAnswered(
            installation.connect(),
            "session.signIn",
            ["scheme": "device"]
        )
        #expect(try installation.daemon?.wait().wasKilled == true && !isAnswered)

        try installation.startDaemon()
        let status = try installation.status()
        #expect(["establishing", "notLoggedIn"].contains(status.state))
        if ["renamed", "directorySynced"].contains(step) { #expect(status.authorization?.userCode.isEmpty == false) }
        #expect(try installation.signInByDevice().state == "established")
    }

    @Test(arguments: ["temporaryWritten", "temporarySynced", "renamed", "directorySynced", "swapped"])
    func `after a kill while the session is stored, it is restored or the approval must be repeated`(
        step: String
    ) throws {
        let installation = try Installation.oauth()
        let codes = try installation.beginDeviceSignIn()
        try installation.killDaemon()
        try installation.cloud.decide(codes.userCode, "approve")
        // The daemon polls at its start, receives the grant and writes the session.
        try installation.launchDaemon(["JUNCTIOND_CRASH_POINT": step])
        #expect(try installation.daemon?.wait().wasKilled == true)

        try installation.startDaemon()
        let settled = try installation.awaitSnapshot { $0.state != "establishing" }
        // The next start uses a complete temporary file.
        if settled.state == "established" || ["renamed", "directorySynced", "swapped"].contains(step) {
            #expect(settled.state == "established")
            #expect(try installation.cloud.introspect(installation.token())["standing"] as? String == "accessToken")
        } else {
            #expect(settled.state == "notLoggedIn" && settled.lastError.contains("has to be repeated"))
        }
    }

    @Test func `after a kill between grant and write, the approval must be repeated`() throws {
        let installation = try Installation.oauth()
        let codes = try installation.beginDeviceSignIn()
        try installation.killDaemon()
        try installation.cloud.decide(codes.userCode, "approve")
        try installation.launchDaemon(["JUNCTIOND_CRASH_POINT": "answered"])
        #expect(try installation.daemon?.wait().wasKilled == true)

        try installation.startDaemon()
        let settled = try installation.awaitSnapshot { $0.state == "notLoggedIn" }
        #expect(settled.lastError.contains("has to be repeated"))
        #expect(try installation.signInByDevice().state == "established")
    }

    // MARK: Sign-outs and other sign-ins

    @Test func `a poll during a sign-out is completed, and its grant is revoked`() throws {
        let installation = try Installation.oauth()
        try installation.cloud.fault(["match": "/oauth/token", "grant": "device_code", "times": 1, "hang": true])
        let codes = try installation.beginDeviceSignIn()
        try installation.cloud.decide(codes.userCode, "approve")
        try installation.cloud.wait(for: "hanging")
        #expect(try installation.signOut().state == "notLoggedIn")
        try installation.cloud.release()
        try installation.cloud.wait(for: "signOuts")

        #expect(try installation.cloud.oauthLogins().map(\.isAlive) == [false])
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `an app that identifies by device has its user bound after the approval`() throws {
        let installation = try Installation.oauth()
        let watcher = try installation.watch()
        let app = try installation.connect()
        let request = try app.request("session.identify", ["externalUserId": "ext-1"])
        let question = try app.question()
        try app.reply(to: question.identifier, ["scheme": "device"])
        let codes = try watcher.awaitCodes()
        try installation.cloud.decide(codes.userCode, "approve")

        let result = try app.answer(to: request)
        #expect(result["outcome"] as? String == "signedIn")
        #expect(try installation.status().externalUserId == "ext-1")
    }

    @Test func `no code is in a log, in an argument or readable on the disk`() throws {
        let installation = try Installation.oauth(configuration: "[log]\nlevel = \"trace\"")
        let codes = try installation.beginDeviceSignIn()
        let daemon = try #require(installation.daemon)
        let files = SecretSearch.found([codes.userCode], inFilesBelow: installation.stateDirectory)
        let metrics = try installation.ctl("metrics").output
        try installation.killDaemon()

        #expect(!codes.userCode.isEmpty && files == [])
        #expect(SecretSearch.found([codes.userCode], in: daemon.errors) == [])
        #expect(SecretSearch.found([codes.userCode], in: metrics) == [])
    }
}

extension RawClient {
    /// Waits until a snapshot shows the codes of a device sign-in.
    fileprivate func awaitCodes() throws -> Object {
        try #require(try awaitSnapshot { $0.authorization?.userCode.isEmpty == false }.authorization)
    }
}
