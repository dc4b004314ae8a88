import Foundation
import JunctionTesting
import Testing

/// Tests of the output and the exit code of each verb of `junctionctl`.
@Suite struct ClientTests {
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
}
