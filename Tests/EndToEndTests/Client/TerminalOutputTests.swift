import Foundation
import JunctionTesting
import Testing

/// Tests that ids, messages and bodies from others are escaped on a terminal and unchanged in a file.
struct TerminalOutputTests {
    /// Escape sequences for a window title and a colour, right-to-left text, and an invisible character.
    private static let odd = "a\u{1B}]0;title\u{7}b\u{9B}31mc\u{202E}d\u{200B}e"
    private static let oddJSON = #"a\u001b]0;title\u0007b"# + "\u{9B}31mc\u{202E}d\u{200B}e"
    private static let shown = #"a\u001b]0;title\u0007b\u009b31mc\u202ed\u200be"#

    private static let snapshot = """
        {"revision":17,"changedAt":"2026-11-21T06:20:34Z","state":"established","flags":["configured","signedIn"],\
        "provider":"junction","scheme":"signInToken","userId":"\(oddJSON)","externalUserId":null,"teamId":null,\
        "environment":"sandbox","region":"us","accessToken":null,\
        "renewal":{"phase":"none","notBefore":null,"failures":0,"lastError":"\(oddJSON)"},\
        "termination":null,"storage":{"sealedWith":"host","durable":true,"status":"ok"}}
        """
    private static let token =
        #"{"accessToken":"\#(oddJSON)","tokenType":"Bearer","expiresAt":"2099-01-01T00:00:00Z","userId":"joe"}"#
    private static let api = #"{"status":200,"headers":{},"body":"\#(oddJSON)\n"}"#

    private static func result(_ json: String) -> String { #"{"jsonrpc":"2.0","id":1,"result":\#(json)}"# + "\n" }
    private static let error =
        #"{"jsonrpc":"2.0","id":1,"error":{"code":1006,"message":"\#(oddJSON)","data":{"kind":"providerUnavailable"}}}"#
        + "\n"

    private static let cases: [(words: [String], answer: String)] = [
        (["status"], result(snapshot)), (["status", "--json"], result(snapshot)), (["wait"], result(snapshot)),
        (["renew"], result(snapshot)), (["sign-out"], result(snapshot)), (["token"], result(token)),
        (["token", "--json"], result(token)), (["api", "GET", "/x"], result(api)),
        (["api", "GET", "/x", "--json"], result(api)), (["rpc", "session.status"], result(snapshot)),
        (["status"], error), (["status", "--json"], error), (["api", "GET", "/x"], error),
    ]

    @Test(arguments: cases)
    func `on a terminal control characters are escaped`(words: [String], answer: String) throws {
        let folder = TemporaryFolder()
        let daemon = try ScriptedDaemon(at: folder.path + "/d.sock", saying: answer)
        let terminal = try PseudoTerminal()
        let output = open(terminal.path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
        let program = try Program(
            "junctionctl",
            words,
            in: folder,
            environment: ["JUNCTIOND_SOCKET": daemon.path],
            output: output,
            terminal: terminal.path
        )
        close(output)

        try program.wait()

        let screen = try terminal.rest()
        #expect(screen.contains(Self.shown), "\(screen)")
        #expect(!screen.unicodeScalars.contains { ["\u{1B}", "\u{7}", "\u{9B}", "\u{202E}", "\u{200B}"].contains($0) })
    }

    @Test func `a file receives the bytes of an API answer and of a token unchanged`() throws {
        let folder = TemporaryFolder()
        for (words, result, expected) in [
            (["api", "GET", "/x"], Self.api, Self.odd + "\n"), (["token"], Self.token, Self.odd + "\n"),
            (["api", "GET", "/x", "--json"], Self.api, Self.api + "\n"),
        ] {
            let socket = folder.fresh("d.sock")
            let daemon = try ScriptedDaemon(at: socket, saying: Self.result(result))

            let ending = try Program("junctionctl", words + ["--socket", socket], in: folder).wait()

            #expect(Array(ending.output.utf8) == Array(expected.utf8), "\(words)")
            withExtendedLifetime(daemon) {}
        }
    }

    @Test func `the text about a user is one line, also in a file`() throws {
        let folder = TemporaryFolder()
        let daemon = try ScriptedDaemon(at: folder.path + "/d.sock", saying: Self.result(Self.snapshot))

        let ending = try Program("junctionctl", ["status", "--socket", daemon.path], in: folder).wait()

        #expect(ending.output.contains("user      \(Self.shown)\n"), "\(ending.output)")
        withExtendedLifetime(daemon) {}
    }
}
