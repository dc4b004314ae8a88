import Foundation
import JunctionTesting
import Testing

/// Tests of the verbs that wait: watch, wait and identify.
@Suite struct WaitingTests {
    @Test func `watch prints the present state and then every change`() throws {
        let installation = try Installation.started()
        let watch = try installation.talkingCtl("watch", "--json")
        #expect(try watch.object().state == "notLoggedIn")

        let user = try installation.signInNewUser()

        var seen = try watch.object()
        while seen.state != "established" { seen = try watch.object() }
        #expect(seen.userId == user)
        try installation.signOut()
        while seen.state != "notLoggedIn" { seen = try watch.object() }
        #expect(watch.program.isRunning)
    }

    @Test func `watch continues after the daemon restarts`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let watch = try installation.talkingCtl("watch", "--json")
        #expect(try watch.object().userId == user)

        try installation.restartDaemon()

        #expect(try watch.object().userId == user)
    }

    @Test func `watch without --json prints one line per state`() throws {
        let installation = try Installation.started()
        let watch = try installation.talkingCtl("watch")
        #expect(try watch.lines.next()?.contains("notLoggedIn") == true)

        let user = try installation.signInNewUser()

        var line = try watch.lines.next()
        while line?.contains("established") == false { line = try watch.lines.next() }
        #expect(line?.contains("user=\(user)") == true)
    }

    @Test func `wait returns when the state is reached, even if the daemon starts later`() throws {
        let installation = try Installation()
        let signedIn = try installation.talkingCtl("wait", "--json", "--timeout", "30")
        let fresh = try installation.talkingCtl("wait", "--for", "fresh", "--json", "--timeout", "30")
        try installation.startDaemon()
        let user = try installation.signInNewUser()

        #expect(try signedIn.object().userId == user)
        #expect(try fresh.object().state == "established")
        #expect(try signedIn.program.wait().status == 0)
        let signedOut = try installation.talkingCtl("wait", "--for", "signed-out", "--json", "--timeout", "30")
        try installation.signOut()
        #expect(try signedOut.object().state == "notLoggedIn")
    }

    @Test func `wait for a fresh session ends at once if the session is locked or terminated`() throws {
        let installation = try Installation()
        let credentials = try Credentials(installation, key: 1)
        try installation.startDaemon()
        let user = try installation.signInNewUser()
        try credentials.put(2)
        try installation.restartDaemon()

        let locked = try installation.ctl("wait", "--for", "fresh")
        #expect(locked.status == 75)
        #expect(locked.errors.contains("locked"))
        #expect(locked.errors.contains("(storageUnavailable): "))

        try credentials.put(1)
        try installation.restartDaemon()
        #expect(try installation.ctl("wait", "--for", "fresh", "--timeout", "30").status == 0)
        try installation.cloud.drive("delete", user)
        _ = try? installation.connect().call("session.renew")
        let terminated = try installation.ctl("wait", "--for", "fresh")
        #expect(terminated.status == 1)
        #expect(terminated.errors.contains("(sessionTerminated): "))
    }

    @Test func `wait ends with 75 after its timeout`() throws {
        let installation = try Installation.started()

        let ending = try installation.ctl("wait", "--timeout", "0.1")

        #expect(ending.status == 75)
        #expect(ending.errors.contains("(timedOut): "))
        #expect(try installation.ctl("wait", "--for", "signed-out", "--timeout", "10").status == 0)
        #expect(try installation.ctl("wait", "--for", "something").status == 64)
    }

    @Test func `wait for a fresh session ends at once for an expired token with pending reauthentication`() throws {
        let installation = try Installation.started(accessTokenLifetime: 2)
        let user = try installation.signInNewUser()
        try installation.cloud.drive("require-reauthentication", user)
        let watch = try installation.talkingCtl("watch", "--json")
        // The session is fresh until the token expires.
        var snapshot = try watch.object()
        while snapshot.state != "tokenExpired" || !snapshot.flags.contains("pendingReauthentication") {
            snapshot = try watch.object()
        }

        let ending = try installation.ctl("wait", "--for", "fresh")

        #expect(ending.status == 75)
        #expect(ending.errors.contains("(reauthenticationRequired): sign the same user in again"), "\(ending.errors)")
    }

    @Test func `identify runs its command only if a token is needed, and passes it the user`() throws {
        let installation = try Installation.started()
        let alice = try installation.cloud.makeUser("alice")
        let token = try installation.folder.write(installation.cloud.signInToken(for: alice), to: "token")
        let trace = installation.folder.path + "/trace"
        let command = "echo \"$JUNCTION_EXTERNAL_USER_ID\" >> \(trace); cat \(token)"

        let first = try installation.ctl("identify", "app-alice", "--token-command", command, "--json")
        let second = try installation.ctl("identify", "app-alice", "--token-command", command, "--json")

        #expect(try first.json()["outcome"] as? String == "signedIn")
        #expect(try second.json()["outcome"] as? String == "unchanged")
        #expect(try String(contentsOfFile: trace, encoding: .utf8) == "app-alice\n")
        #expect(try installation.status().userId == alice)
    }

    @Test func `identify reports a failed command and changes nothing`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()

        let ending = try installation.ctl("identify", "app-bob", "--token-command", "exit 7")

        #expect(ending.status == 1)
        #expect(ending.errors.contains("7"))
        #expect(try installation.status().userId == user)
        #expect(try installation.status().externalUserId == nil)
        let silent = try installation.ctl("identify", "app-bob", "--token-command", "true")
        #expect(silent.status == 1)
        #expect(silent.errors.contains("it printed nothing (tokenCommandFailed)"), "\(silent.errors)")
        let commandless = try installation.ctl("identify", "app-bob")
        #expect(commandless.status == 64)
        #expect(commandless.errors.contains("--token-command"))
    }

    @Test func `identify ends its command after the timeout, and sends nothing afterwards`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()

        let ending = try installation.ctl([
            "identify", "app-bob", "--timeout", "1", "--token-command", "echo TOK; exec sleep 1000",
        ])

        #expect(ending.status == 75)
        #expect(ending.errors.contains("the token command failed: it was not done in time"), "\(ending.errors)")
        #expect(try installation.status().userId == user)
    }

    @Test func `identify is not repeated after a later sign-out`() throws {
        let installation = try Installation.started()
        let alice = try installation.cloud.makeUser("alice")
        try installation.cloud.change(["singleUseSignInTokens": false])
        let token = try installation.folder.write(installation.cloud.signInToken(for: alice), to: "token")
        let trace = installation.folder.path + "/trace"
        try installation.cloud.fault(["match": "/v1/token", "hang": true, "times": 1])
        let identify = try installation.talkingCtl(
            "identify",
            "app-alice",
            "--token-command",
            "echo asked >> \(trace); cat \(token)"
        )
        try installation.cloud.wait(for: "hanging")

        try installation.stopDaemon()
        try installation.startDaemon()
        try installation.signOut()
        let ending = try identify.program.wait()

        #expect(ending.status == 69)
        #expect(ending.errors.contains("(connectionLost): "))
        #expect(try String(contentsOfFile: trace, encoding: .utf8) == "asked\n")
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `identify --none signs out`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()

        let ending = try installation.ctl("identify", "--none", "--json")

        #expect(try ending.json()["outcome"] as? String == "signedOut")
        #expect(try installation.status().state == "notLoggedIn")
        #expect(try installation.ctl("identify", "--none", "x").status == 64)
    }

    @Test func `reconcile compares and changes nothing`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let other = "00000000-0000-4000-8000-000000000000"

        let none = try installation.ctl("reconcile", "--none")
        let signIn = try installation.ctl("reconcile", "--user-id", user)
        try installation.signIn(user)
        let before = try installation.status().revision
        let same = try installation.ctl("reconcile", "--user-id", user.uppercased())
        let signOut = try installation.ctl("reconcile", "--none")
        let change = try installation.ctl("reconcile", "--user-id", other, "--json")

        #expect((none.output, none.status) == ("in-sync\n", 0))
        #expect((signIn.output, signIn.status) == ("sign-in-needed\n", 1))
        #expect((same.output, same.status) == ("in-sync\n", 0))
        #expect((signOut.output, signOut.status) == ("sign-out-needed\n", 1))
        #expect(try change.json()["action"] as? String == "switch")
        #expect(change.status == 1)
        #expect(try installation.status().revision == before)
    }
}
