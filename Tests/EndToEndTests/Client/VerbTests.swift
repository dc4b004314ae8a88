import Foundation
import JunctionTesting
import Testing

/// Tests of `rpc`, `whoami`, aliases, timeouts and machine-readable output.
@Suite struct VerbTests {
    @Test func `rpc calls any method, and prints its result as JSON`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()

        let plain = try installation.ctl("rpc", "session.status")
        let reconciled = try installation.ctl("rpc", "session.reconcile", #"{"userId":"\#(user)"}"#)
        // Line breaks inside the parameters do not end the message.
        let piped = try installation.ctl("rpc", "session.reconcile", "-", input: "{\n  \"userId\":\r\n null\n}\n")

        #expect(try plain.json().userId == user)
        #expect(try reconciled.json()["action"] as? String == "none")
        #expect(try piped.json()["action"] as? String == "signOut")
        #expect(try installation.ctl("rpc", "rpc.discover").json()["openrpc"] is String)
    }

    @Test func `rpc reads a credential from standard input, and never from an argument`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let params = #"{"scheme":"signInToken","token":"\#(try installation.cloud.signInToken(for: user))"}"#

        let argument = try installation.ctl("rpc", "session.signIn", params)
        let input = try installation.ctl("rpc", "session.signIn", "-", input: params)

        #expect(argument.status == 64)
        #expect(argument.errors.contains("standard input"))
        #expect(try input.json().userId == user)
    }

    @Test func `an error of rpc is printed like any other error`() throws {
        let installation = try Installation.started()

        let unknown = try installation.ctl("rpc", "session.nonsense")
        let nobody = try installation.ctl("rpc", "token.get")
        let broken = try installation.ctl("rpc", "token.get", "{")
        let wrong = try installation.ctl("rpc", "token.get", #"{"minimumValidity":"x"}"#)
        let array = try installation.ctl("rpc", "token.get", "[1]")

        #expect(unknown.status == 1)
        #expect(unknown.errors.contains("(methodNotFound): "))
        #expect(unknown.errors.contains("'junctionctl rpc rpc.discover' lists all"))
        #expect(try installation.ctl("rpc", "session.stauts").errors.contains("is it 'session.status'?"))
        #expect(nobody.status == 3)
        #expect(broken.status == 64)
        #expect(broken.errors.contains("malformed JSON at byte 1"))
        #expect(wrong.errors.contains("(invalidParams): "))
        #expect(array.status == 1)
    }

    @Test func `whoami shows the user, its rights and the entries that give them`() throws {
        let installation = try Installation.started()

        let text = try installation.ctl("whoami")
        let document = try installation.ctl("whoami", "--json")

        #expect(text.status == 0)
        #expect(text.output.contains("may       status, token, api, handle, manage\n"))
        #expect(try document.json()["user"] as? Int == Int(getuid()))
        #expect(try document.json()["capabilities"] as? [String] == ["status", "token", "api", "handle", "manage"])
        #expect(try document.json()["basis"] as? String == (getuid() == 0 ? "root" : "daemonUser"))
    }

    @Test(.enabled(if: getuid() == 0)) func `a refused caller is told the deciding entry, as in whoami`() throws {
        let (_, otherUser) = try OtherUser.installation(
            configuration: """
                [[access]]
                allow = ["manage"]
                user = "root"
                [[access]]
                allow = ["status"]
                user = "\(OtherUser.name)"
                """
        )

        let refused = try otherUser.ctl("token")
        let answer = try otherUser.ctl("whoami")

        #expect(refused.status == 77)
        #expect(refused.remedy.contains("access[1], counted from 0, decides about you"))
        #expect(answer.status == 0)
        #expect(
            answer.output.contains(
                "may       status\nbecause   access[1] decides, which is about user \(OtherUser.name) (\(OtherUser.identifier))"
            )
        )
    }

    @Test func `login and logout are aliases`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()

        #expect(
            try installation.ctl("login", "--json", input: installation.cloud.signInToken(for: user)).json().userId
                == user
        )
        #expect(try installation.ctl("logout", "--json").json().state == "notLoggedIn")
    }

    @Test func `token --header prints a header line for curl`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()

        let header = try installation.ctl("token", "--header")

        #expect(header.output == "Authorization: Bearer \(try installation.token() ?? "")\n")
        #expect(try installation.ctl("token", "--header", "--json").status == 64)
    }

    @Test(arguments: [
        ["status"], ["token"], ["token", "--min-validity", "5"], ["renew"], ["sign-out"], ["watch"], ["metrics"],
        ["whoami"],
        ["rpc", "session.status"], ["api", "GET", "/v2/providers"], ["identify", "joe"], ["reconcile", "--none"],
        ["handle-renewals", "--exec", "true"], ["sign-in", "--device"], ["wait"], ["credential", "headers"],
        ["token", "--output", "/dev/null/token", "--follow"],
    ])
    func `a timeout limits the wait for a daemon that does not answer`(words: [String]) throws {
        let folder = TemporaryFolder()
        // A listener that never accepts connections.
        let socket = folder.path + "/d.sock"
        let peer = try TestListener(.path(socket))

        let ending = try Program("junctionctl", words + ["--socket", socket, "--timeout", "0.05"], in: folder).wait()

        #expect(ending.status == 75)
        #expect(ending.errors.contains("(timedOut): "), "\(ending.errors)")
        #expect(words == ["wait"] || ending.errors.contains("within 0.05 s"), "\(ending.errors)")
        withExtendedLifetime(peer) {}
    }

    @Test func `a timeout limits the wait for a daemon with a full backlog`() throws {
        let folder = TemporaryFolder()
        let socket = folder.path + "/d.sock"
        let peer = try TestListener(.path(socket), backlog: 0)
        let first = try peer.fill()

        for verb in ["status", "metrics"] {
            let ending = try Program("junctionctl", [verb, "--socket", socket, "--timeout", "0.05"], in: folder).wait()
            #expect(ending.status == 75, "\(ending.errors)")
            #expect(ending.errors.contains("(timedOut): "), "\(ending.errors)")
        }
        withExtendedLifetime(first) {}
    }

    @Test func `an invalid timeout is a usage error`() throws {
        let folder = TemporaryFolder()
        for limit in ["-1", "nan", "soon"] {
            #expect(try Program("junctionctl", ["status", "--timeout", limit], in: folder).wait().status == 64)
        }
    }

    @Test func `with --json an error is one document on standard error, for every verb`() throws {
        let installation = try Installation.started()
        let verbs: [(words: [String], kind: String, code: Int, status: Int32)] = [
            (["token"], "notSignedIn", 1003, 3), (["renew"], "notSignedIn", 1003, 3),
            (["credential", "headers"], "notSignedIn", 1003, 3), (["credential", "git"], "usage", 0, 64),
            (["api", "GET", "/v2/providers"], "notSignedIn", 1003, 3),
            (["rpc", "session.nonsense"], "methodNotFound", -32601, 1), (["sign-in"], "secretUnreadable", 0, 64),
            (["identify", "joe"], "usage", 0, 64), (["reconcile"], "usage", 0, 64), (["nonsense"], "usage", 0, 64),
            (["help", "nonsense"], "usage", 0, 64),
            (["handle-renewals"], "usage", 0, 64), (["wait", "--for", "nothing"], "usage", 0, 64),
        ]
        for verb in verbs {
            let ending = try installation.ctl(verb.words + ["--json"])
            let document = try JSONSerialization.jsonObject(with: Data(ending.errors.utf8)) as? Object
            let error = try #require(document?["error"] as? Object, "\(verb.words): \(ending.errors)")

            #expect(ending.status == verb.status, "\(verb.words)")
            #expect(error["kind"] as? String == verb.kind, "\(verb.words)")
            #expect(error["exitCode"] as? Int == Int(verb.status), "\(verb.words)")
            #expect(error["code"] as? Int ?? 0 == verb.code, "\(verb.words)")
            #expect((error["message"] as? String)?.isEmpty == false && (error["remedy"] as? String)?.isEmpty == false)
            #expect(ending.errors.filter { $0 == "\n" }.count == 1)
            #expect(ending.output == "")
        }
    }

    @Test(arguments: ["{\"a\":1}", "{\"a\":1}\n"])
    func `api ends its output with a line break only on a terminal`(body: String) throws {
        let folder = TemporaryFolder()
        let answer = try JSONSerialization.data(withJSONObject: ["status": 200, "headers": [:], "body": body])
        let line = #"{"jsonrpc":"2.0","id":1,"result":"# + String(decoding: answer, as: UTF8.self) + "}\n"
        let daemon = try ScriptedDaemon(at: folder.path + "/d.sock", saying: line)
        let words = ["api", "GET", "/v2/x", "--socket", daemon.path]

        let terminal = try PseudoTerminal()
        let screen = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        let shown = try Program("junctionctl", words, in: folder, output: screen)
        close(screen)
        #expect(try shown.wait().status == 0)

        #expect(try terminal.rest() == "{\"a\":1}\r\n")
        #expect(try Program("junctionctl", words, in: folder).wait().output == body)
        withExtendedLifetime(daemon) {}
    }

    @Test func `status and watch print the time difference next to each time`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()

        let status = try installation.ctl("status").output
        let watcher = try installation.talkingCtl("watch")

        #expect(status.contains(/token     valid until [0-9TZ:.-]+ \(in \d+ min\)\n/), "\(status)")
        #expect(status.contains(/renewal   scheduled, at [0-9TZ:.-]+ \(in \d+ min\)\n/), "\(status)")
        #expect(try watcher.lines.next()?.contains(#/token-until=[0-9TZ:.-]+ \(in \d+ min\) /#) == true)
        watcher.stopListening()
        _ = try watcher.program.wait()
    }
}
