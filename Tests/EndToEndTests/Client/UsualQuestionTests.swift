import Foundation
import Testing

/// `token` and `status` by real processes: what is read by hand and what the argument parser reads print the same and end
/// with the same, whatever there is at the socket.
///
/// An option that stands there twice means what it means once, and is nothing that is read by hand.
@Suite struct UsualQuestionTests {
    struct Answer: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var script: [ScriptedDaemon.Act]

        init(_ description: String, _ acts: ScriptedDaemon.Act...) {
            testDescription = description
            script = acts
        }

        /// A line that answers the one request.
        static func result(_ description: String, _ result: String) -> Answer {
            Answer(description, .init(says: [#"{"jsonrpc":"2.0","id":1,"result":\#(result)}"# + "\n"]))
        }

        static func error(_ code: Int, _ rest: String = "") -> Answer {
            let error = #"{"code":\#(code),"message":"what\n it \u001b[1m was"\#(rest)}"#
            return Answer("error \(code) \(rest)", .init(says: [#"{"jsonrpc":"2.0","id":1,"error":\#(error)}"# + "\n"]))
        }
    }

    private static let token =
        #"{"accessToken":"se\u0063ret-\u00e9","tokenType":"Bearer","expiresAt":"2099-01-01T00:00:00Z","userId":"joe"}"#
    private static func snapshot(_ state: String, _ flags: String, storage: String = "ok", more: String = "") -> String
    {
        """
        {"revision":17,"changedAt":"2026-11-21T06:20:34Z","state":"\(state)","flags":[\(flags)],"provider":"junction",\
        "scheme":"signInToken","userId":"joe","externalUserId":null,"teamId":null,"environment":"sandbox","region":"us",\
        "accessToken":null,"renewal":{"phase":"none","notBefore":null,"failures":0,"lastError":null},\
        "termination":null,"storage":{"sealedWith":"host","durable":true,"status":"\(storage)"}\(more)}
        """
    }

    static let answers: [Answer] = [
        .result("a token", token),
        .result("an established session", snapshot("established", #""configured","signedIn""#)),
        .result("nobody", snapshot("notLoggedIn", "")),
        .result("a locked session", snapshot("established", #""configured","signedIn""#, storage: "locked")),
        .result("words that it does not know", snapshot("asleep", #""new""#, storage: "new", more: #","new":[{}]"#)),
        .result("a result of another kind", "7"),
        .result("a result that is nothing", "null"),
        .error(1003, #","data":{"kind":"notSignedIn"}"#),
        .error(1004, #","data":{"kind":"reauthenticationRequired"}"#),
        .error(1005, #","data":{"kind":"sessionTerminated"}"#),
        .error(1006, #","data":{"kind":"providerUnavailable","retryAfter":4.5}"#),
        .error(1007, #","data":{"kind":"permissionDenied","capability":"token"}"#),
        .error(1009, #","data":{"kind":"storageUnavailable"}"#),
        .error(1010, #","data":{"kind":"tokenExpired","retryAfter":0.2}"#),
        .error(1012, #","data":{"kind":"unsupported"}"#),
        .error(-32602, #","data":{"kind":"invalidParams","maximum":2880}"#),
        .error(-32601), .error(4711), .error(4711, #","data":{"kind":"brandNew"}"#),
        Answer("no JSON", .init(says: ["what?\n"])),
        Answer("half a line and the end", .init(says: [#"{"jsonrpc":"2.0","id":1,"#])),
        Answer(
            "blank lines, news and somebody else's answer first",
            .init(says: [
                "\n\r\n", #"{"jsonrpc":"2.0","method":"session.changed","params":{}}"# + "\n",
                #"{"jsonrpc":"2.0","id":9,"result":null}"# + "\n",
                #"{"jsonrpc":"2.0","id":1,"#, #""result":\#(token)}"# + "\r\n",
            ])
        ),
        Answer(
            "an error about the connection",
            .init(says: [
                #"{"jsonrpc":"2.0","id":null,"error":{"code":1011,"message":"full","data":{"kind":"busy"}}}"# + "\n"
            ])
        ),
        Answer(
            "a question before the answer",
            .init(says: [
                #"{"jsonrpc":"2.0","id":5,"method":"session.authenticate","params":{"externalUserId":"x"}}"# + "\n",
                #"{"jsonrpc":"2.0","id":1,"result":\#(token)}"# + "\n",
            ])
        ),
        Answer(
            "a daemon that restarts",
            .init(),
            .init(reads: false),
            .init(says: [#"{"jsonrpc":"2.0","id":1,"result":\#(token)}"# + "\n"])
        ),
    ]

    @Test(arguments: answers)
    func `both ways say the same of what a daemon answers`(answer: Answer) throws {
        let folder = try TemporaryFolder()
        let daemon = try ScriptedDaemon(at: folder.path + "/d.sock", answer.script)
        for words in [
            ["token"], ["status"], ["token", "--json"], ["status", "--json"], ["token", "--min-validity", "60"],
        ] {
            // Nobody who watches says anything else in between: the script begins again for the second.
            try expectTheSame(words + ["--socket", daemon.path], in: folder)
        }
        withExtendedLifetime(daemon) {}
    }

    @Test func `both ways say the same where nobody answers`() throws {
        let folder = try TemporaryFolder()
        let plain = try folder.write("", to: "plain")
        let long = folder.path + "/" + String(repeating: "x", count: 120)
        for path in [folder.path + "/none", plain, folder.path, long, "relative"] {
            try expectTheSame(["token", "--socket", path], in: folder, status: path == long ? 78 : 69)
            try expectTheSame(["--socket", path, "--json", "status"], in: folder, status: path == long ? 78 : 69)
        }
    }

    @Test func `both ways look for the socket in the same places`() throws {
        let folder = try TemporaryFolder()
        let runtime = try folder.makeFolder("runtime/junctiond")
        let answer = #"{"jsonrpc":"2.0","id":1,"result":\#(Self.token)}"# + "\n"
        let daemon = try ScriptedDaemon(at: runtime + "/junctiond.sock", [.init(says: [answer])])
        for environment in [
            ["XDG_RUNTIME_DIR": folder.path + "/runtime"], ["JUNCTIOND_SOCKET": daemon.path],
            ["XDG_RUNTIME_DIR": folder.path + "/runtime", "JUNCTIOND_SOCKET": ""],
        ] {
            try expectTheSame(["token"], in: folder, environment: environment, status: 0)
        }
        let elsewhere = ["XDG_RUNTIME_DIR": folder.path + "/runtime", "JUNCTIOND_SOCKET": folder.path + "/none"]
        try expectTheSame(["token"], in: folder, environment: elsewhere, status: 69)
    }

    @Test func `both ways say the same of a real daemon, and to a stranger`() throws {
        let installation = try Installation.started()
        let access = ["token", "--socket", installation.socket]
        let state = ["status", "--socket", installation.socket]
        try expectTheSame(access, in: installation.folder, status: 3)
        try expectTheSame(state, in: installation.folder, status: 3)

        try installation.signInNewUser()
        try expectTheSame(access, in: installation.folder, status: 0)
        try expectTheSame(access + ["--json"], in: installation.folder, status: 0)
        try expectTheSame(access + ["--min-validity", "3000000"], in: installation.folder, status: 1)
        try expectTheSame(state + ["--json"], in: installation.folder, status: 0)

        if getuid() == 0 {
            let stranger = try Stranger(installation)
            #expect(try stranger.ctl("token").told == stranger.ctl("token", "--").told)
            try stranger.openTheDoor()
            let (short, long) = (try stranger.ctl("token"), try stranger.ctl("token", "--"))
            #expect(short.status == 77)
            #expect(short.told == long.told)
        }
    }

    /// Runs it as it is, which is read by hand, and with an option twice, which the argument parser reads.
    private func expectTheSame(
        _ words: [String],
        in folder: TemporaryFolder,
        environment: [String: String] = [:],
        status: Int32? = nil
    ) throws {
        let again = words.firstIndex(of: "--socket").map { Array(words[$0...($0 + 1)]) }
        let short = try Program("junctionctl", words, in: folder, environment: environment).wait()
        // Without a socket to name twice, the end of the options: nothing comes after it.
        let long = try Program("junctionctl", words + (again ?? ["--"]), in: folder, environment: environment).wait()
        #expect(short.told == long.told, "\(words)")
        if let status { #expect(short.status == status, "\(words): \(short.errors)") }
    }
}

extension Program.Ending {
    /// All that a caller learns.
    fileprivate var told: [String] { ["\(status)", "\(wasKilled)", output, errors] }
}
