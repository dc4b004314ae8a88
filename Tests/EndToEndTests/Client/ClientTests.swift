import Foundation
import JunctionTesting
import Testing

/// Tests of the output and the exit code of each verb of `junctionctl`.
@Suite struct ClientTests {
    @Test func `sign-in reads a token from standard input or a file, and status shows the user`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        #expect(try installation.ctl("status").status == 3)

        let first = try installation.ctl("sign-in", input: installation.cloud.signInToken(for: user) + "\n")
        try installation.signOut()
        let file = try installation.folder.write(installation.cloud.signInToken(for: user), to: "token")
        let second = try installation.ctl("sign-in", "--token-file", file, "--json")
        let status = try installation.ctl("status", "--json")

        #expect(first.status == 0)
        #expect(first.output.contains(user))
        #expect(try second.json().userId == user)
        #expect(status.status == 0)
        #expect(try status.json().state == "established")
        #expect(try installation.ctl("status").output.contains("signed in"))
    }

    @Test func `sign-in takes a link code, and an API key with a note that it is for evaluation`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()

        let linked = try installation.ctl(
            "sign-in",
            "--link-code",
            "--json",
            input: installation.cloud.linkCode(for: user)
        )
        #expect(try linked.json().userId == user)
        try installation.signOut()
        let key = try installation.folder.write(Cloud.teamKey + "\n", to: "key")
        let keyed = try installation.ctl(
            "sign-in",
            "--api-key-file",
            key,
            "--user-id",
            user,
            "--environment",
            "sandbox",
            "--region",
            "us",
            "--json"
        )

        #expect(try keyed.json()["scheme"] as? String == "apiKey")
        #expect(keyed.errors.contains("evaluation"))
        let token = try installation.ctl("token")
        #expect(token.status == 1)
        #expect(token.errors.contains("(unsupported)"))
    }

    @Test func `an error is one line with the cause, the kind and the remedy`() throws {
        let installation = try Installation.started()
        let alice = try installation.cloud.makeUser("alice")
        let bob = try installation.cloud.makeUser("bob")
        let form = /junctionctl: [^\n]+ \([a-zA-Z]+\): [^\n]+\n/

        let nobody = try installation.ctl("token")
        let malformed = try installation.ctl("sign-in", input: "nonsense")
        try installation.signIn(alice)
        let other = try installation.ctl("sign-in", input: installation.cloud.signInToken(for: bob))
        let foreign = try installation.ctl("api", "GET", "/v2/user/\(bob)")
        try installation.cloud.drive("delete", alice)
        let deleted = try installation.ctl("renew")
        let usage = try installation.ctl("sign-in", "--api-key-file", "x")

        for (ending, status, kind) in [
            (nobody, 3, "notSignedIn"), (malformed, 1, "invalidCredential"), (other, 1, "alreadySignedIn"),
            (foreign, 77, "permissionDenied"), (deleted, 1, "sessionTerminated"), (usage, 64, "usage"),
        ] {
            #expect(ending.status == status, "\(kind)")
            #expect(ending.errors.wholeMatch(of: form) != nil, "\(ending.errors)")
            #expect(ending.errors.contains("(\(kind)): "), "\(ending.errors)")
            #expect(ending.output == "")
        }
    }

    @Test func `the exit code is 69 without a daemon and 75 for a temporary failure`() throws {
        let installation = try Installation()
        let user = try installation.cloud.makeUser()
        for verb in ["status", "token", "renew", "sign-out", "watch", "metrics", "doctor"] {
            let ending = try installation.ctl(verb)
            #expect(ending.status == 69, "\(verb)")
            #expect(ending.errors.contains("(daemonUnreachable): "), "\(verb)")
        }
        try installation.startDaemon()
        try installation.signIn(user)
        try installation.cloud.fault(["status": 503, "times": 1])

        let unavailable = try installation.ctl("renew")
        try installation.awaitSnapshot { $0.generation == 2 }
        try installation.cloud.drive("require-reauthentication", user)
        let pending = try installation.ctl("renew")

        #expect(unavailable.status == 75)
        #expect(unavailable.errors.contains("(providerUnavailable): "))
        #expect(pending.status == 75)
        #expect(pending.errors.contains("(reauthenticationRequired): "))
    }

    @Test func `token prints a token, renews for a longer validity, and refuses an impossible one`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let present = try installation.token()

        let plain = try installation.ctl("token")
        let document = try installation.ctl("token", "--json", "--min-validity", "60")
        let impossible = try installation.ctl("token", "--min-validity", "3000000")

        #expect(plain.output == (present ?? "") + "\n")
        #expect(try document.json().accessToken == present)
        #expect(try document.json().userId == user)
        #expect(impossible.status == 1)
        #expect(impossible.errors.contains("2880"))
        #expect(try installation.ctl("token", "--min-validity", "-1").status == 64)
    }

    @Test func `renew gets a new token`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()

        let renewed = try installation.ctl("renew", "--json")

        #expect(try renewed.json().generation == 2)
        #expect(try installation.cloud.counter("refreshes") == 1)
    }

    @Test func `api prints the body, and the exit code is 1 from status 400 on`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        let body = try installation.folder.write(#"{"user_id":"\#(user)"}"#, to: "body.json")

        let good = try installation.ctl("api", "get", "/v2/summary/sleep/\(user)?start_date=2026-11-01")
        let posted = try installation.ctl("api", "POST", "/v2/link/token", "--data", body)
        let missing = try installation.ctl("api", "GET", "/v2/user/\(user)/nowhere")
        let document = try installation.ctl("api", "GET", "/v2/user/\(user)", "--json")

        #expect(good.status == 0)
        #expect(try JSONSerialization.jsonObject(with: Data(good.output.utf8)) is Object)
        #expect(try posted.json()["link_token"] != nil)
        #expect(missing.status == 1)
        #expect(missing.errors.contains("404"))
        #expect(try document.json()["status"] as? Int == 200)
    }

    @Test func `sign-out succeeds from any state`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()

        let first = try installation.ctl("sign-out", "--json")
        let second = try installation.ctl("sign-out")

        #expect(try first.json().state == "notLoggedIn")
        #expect(second.status == 0)
        #expect(try installation.ctl("status", "--json").json().userId == nil)
    }

    @Test func `metrics are Prometheus text`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()

        let metrics = try installation.ctl("metrics")

        #expect(metrics.status == 0)
        let lines = metrics.output.split(separator: "\n")
        #expect(lines.contains(#"junctiond_session_state{state="established"} 1"#))
        // A value may be negative, because the provider's clock may be behind.
        #expect(lines.allSatisfy { $0.hasPrefix("# ") || $0.contains(/^[a-z_]+(\{[^}]*\})? -?[0-9.e+]+$/) })
        #expect(try installation.ctl("metrics", "--json").json()["text"] is String)
    }

    @Test func `doctor finds no problem in a good installation, and reports a problem with its remedy`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()

        let good = try installation.ctl("doctor")
        try installation.cloud.stop()
        let offline = try installation.ctl("doctor", "--json")

        #expect(good.status == 0, "\(good.output)")
        #expect(good.output.contains("ok "))
        #expect(offline.status == 1)
        let checks = try #require(try offline.json()["checks"] as? [Object])
        let problems = checks.filter { $0["verdict"] as? String == "problem" }
        #expect(!problems.isEmpty)
        #expect(problems.allSatisfy { ($0["detail"] as? String)?.isEmpty == false })
        #expect(Set(checks.compactMap { $0["verdict"] as? String }).isSubset(of: ["ok", "note", "problem"]))
    }
}
