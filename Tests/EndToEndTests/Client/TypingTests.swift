import Foundation
import JunctionTesting
import Testing

/// Tests of a user who types or pastes a secret at a terminal.
struct TypingTests {
    /// The longest line that the terminal driver keeps.
    private static let longestLineOfTerminal = 4_095

    /// Signs in to social.plus, which accepts a secret of any length.
    private func signIn(typing keys: String) throws -> (
        ending: Program.Ending, screen: String, installation: Installation
    ) {
        let installation = try Installation.social()
        try installation.cloud.sandbox("POST", "social/settings", ["secureMode": true])
        let terminal = try PseudoTerminal()
        let program = try self.program(installation, at: terminal)
        try terminal.awaitText("auth token: ")
        #expect(!terminal.isAsUsual)
        terminal.type(keys.replacing("TOKEN", with: try installation.authToken(for: "anna")))
        let ending = try program.wait()
        #expect(terminal.isAsUsual)
        return (ending, try terminal.rest(), installation)
    }

    private func program(_ installation: Installation, at terminal: PseudoTerminal) throws -> Program {
        try Program(
            "junctionctl",
            ["--socket", installation.socket, "sign-in", "--user-id", "anna", "--auth-token-file", "-"],
            in: installation.folder,
            // A toolchain's Swift would print a backtrace at SIGQUIT and wait for input.
            environment: ["SWIFT_BACKTRACE": "enable=no"],
            terminal: terminal.path
        )
    }

    @Test(arguments: [
        "TOKEN\n", "TOKEN\r", "TOKEN\u{4}", "wrong\u{15}TOKEN\n", "TOKENé\u{7F}\n",
        // Only the terminal driver counts white space.
        String(repeating: " ", count: 5 << 10) + "TOKEN\n", String(repeating: " ", count: 60 << 10) + "TOKEN\n",
    ])
    func `typed text arrives as edited, without echo, whatever its length`(keys: String) throws {
        let (ending, screen, installation) = try signIn(typing: keys)

        #expect(ending.status == 0, "\(screen)")
        #expect(try installation.status()["userId"] as? String == "anna")
        // The only output is the warning that no session handler is registered.
        let lines = screen.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }
        #expect(lines.allSatisfy { $0.hasPrefix("junctionctl: No session handler is registered") }, "\(screen)")
    }

    @Test func `a token that is longer than a terminal line is sent completely`() throws {
        let folder = TemporaryFolder()
        let socket = folder.path + "/d.sock"
        let daemon = try TestListener(.path(socket))
        let terminal = try PseudoTerminal()
        let program = try Program(
            "junctionctl",
            ["--socket", socket, "sign-in", "--link-code"],
            in: folder,
            terminal: terminal.path
        )
        let token = String(repeating: "0123456789abcdef", count: 400)
        #expect(token.utf8.count > Self.longestLineOfTerminal)

        try terminal.awaitText("link code: ")
        terminal.type(token + "\n")

        #expect(try daemon.firstLine()?.contains("\"code\":\"\(token)\"") == true)
        program.signal(SIGKILL)
    }

    @Test func `an empty line, an end of input and a line without an end are refused as a secret`() throws {
        for keys in ["\n", "\u{4}", String(repeating: "x", count: 70 << 10) + "\n"] {
            let (ending, screen, installation) = try signIn(typing: keys)

            #expect(ending.status == 64)
            #expect(screen.contains("(secretUnreadable): "), "\(screen.suffix(200))")
            #expect(try installation.status()["state"] as? String == "notLoggedIn")
        }
    }

    @Test(arguments: [("\u{3}", SIGINT), ("\u{1C}", SIGQUIT)])
    func `a key that ends the program leaves the terminal restored`(key: String, signal: Int32) throws {
        let (ending, screen, installation) = try signIn(typing: "TOK" + key)

        #expect(ending.wasKilled)
        #expect(ending.status == signal)
        #expect(!screen.contains("secretUnreadable"))
        #expect(try installation.status()["state"] as? String == "notLoggedIn")
    }

    @Test func `a signal from another process leaves the terminal restored`() throws {
        let installation = try Installation.social()
        let terminal = try PseudoTerminal()
        let program = try self.program(installation, at: terminal)
        try terminal.awaitText("auth token: ")

        program.signal(SIGTERM)

        let ending = try program.wait()
        #expect(ending.wasKilled && ending.status == SIGTERM)
        #expect(terminal.isAsUsual)
    }

    @Test func `a user who resumes the program is prompted again`() throws {
        let installation = try Installation.social()
        let terminal = try PseudoTerminal()
        // A key can stop only a program whose parent is in the same session.
        let ctl = Program.path(of: "junctionctl")
        let program = try Program(
            "/bin/sh",
            [
                "-c",
                """
                set -m
                \(ctl) --socket \(installation.socket) sign-in --user-id anna --auth-token-file -
                echo stopped >&2
                fg
                """,
            ],
            in: installation.folder,
            terminal: terminal.path
        )
        try terminal.awaitText("auth token: ")
        terminal.type("half a to\u{1A}")
        try terminal.awaitText("stopped")
        try terminal.awaitText("auth token: ")

        terminal.type("whole\n")

        #expect(try program.wait().status == 0)
        #expect(try installation.status()["userId"] as? String == "anna")
    }
}
