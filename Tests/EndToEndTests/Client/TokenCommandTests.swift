import Foundation
import JunctionTesting
import Testing

/// Tests of the command of `identify --token-command` at a terminal.
///
/// All processes of the command hold a FIFO open. Reading it ends when the last process has ended.
@Suite(.timeLimit(.minutes(5))) struct TokenCommandTests {
    /// An installation with a token command that runs at a terminal.
    private struct Scene {
        let installation: Installation
        let terminal: PseudoTerminal
        let program: Program
        /// The program that reads the FIFO.
        let witness: Program

        /// - Parameter command: A command that gets the FIFO as descriptor 9.
        init(_ command: String, shell: ((String) -> String)? = nil) throws {
            installation = try Installation.started()
            terminal = try PseudoTerminal()
            let fifo = installation.folder.path + "/fifo"
            try #require(mkfifo(fifo, 0o600) == 0)
            witness = try Program("/bin/cat", [fifo], in: installation.folder)
            let words = ["--socket", installation.socket, "identify", "app-alice", "--token-command"]
            let line = "exec 9>\(fifo); \(command)"
            if let shell {
                let script = try installation.folder.write(line, to: "command.sh")
                let ctl = ([Program.path(of: "junctionctl")] + words).joined(separator: " ")
                program = try Program(
                    "/bin/sh",
                    ["-c", shell("\(ctl) '. \(script)'")],
                    in: installation.folder,
                    terminal: terminal.path
                )
            } else {
                program = try Program(
                    "junctionctl",
                    words + [line],
                    in: installation.folder,
                    // A toolchain's Swift would print a backtrace at SIGQUIT and wait for input.
                    environment: ["SWIFT_BACKTRACE": "enable=no"],
                    terminal: terminal.path
                )
            }
        }
    }

    // A shell leads the session. If junctionctl led it, its end would end every process at the terminal.

    @Test(arguments: [
        ("sleep 1000", "--timeout 5", "status 75"), ("kill -TERM $PPID", "", "status 1"),
        ("kill -HUP $PPID", "", "status 1"), ("kill -INT $PPID", "", "status 1"),
    ])
    func `a command ends with all its child processes when its time is over or a signal ends junctionctl`(
        command: String,
        option: String,
        status: String
    ) throws {
        let scene = try Scene("sleep 1000 & \(command) & wait") { ctl in
            "\(ctl) \(option); echo status $? >&2; read rest"
        }

        try scene.terminal.awaitText(status)

        try scene.witness.wait()
        scene.terminal.type("\n")
        try scene.program.wait()
    }

    @Test(arguments: [("\u{3}", SIGINT), ("\u{1C}", SIGQUIT)])
    func `a key that ends the command also ends junctionctl`(key: String, signal: Int32) throws {
        let scene = try Scene("sleep 1000 & echo ready >/dev/tty; wait")
        try scene.terminal.awaitText("ready")

        scene.terminal.type(key)

        let ending = try scene.program.wait()
        #expect(ending.wasKilled && ending.status == signal)
        try scene.witness.wait()
    }

    // Type ^C only while a program reads, because a shell that is starting a program can lose it.
    @Test func `the command can prompt, and an interrupted command leaves the terminal restored`() throws {
        let scene = try Scene(
            "stty -echo </dev/tty; printf 'word: ' >/dev/tty; read word; echo \"=$word=\" >/dev/tty; read more"
        )
        try scene.terminal.awaitText("word: ")
        #expect(!scene.terminal.isAsUsual)

        scene.terminal.type("sesame\n")
        try scene.terminal.awaitText("=sesame=")
        scene.terminal.type("\u{3}")

        #expect(try scene.program.wait().status == SIGINT)
        #expect(scene.terminal.isAsUsual)
        try scene.witness.wait()
    }

    @Test func `a stop signal stops junctionctl and the command, and both continue`() throws {
        let scene = try Scene("printf 'word: ' >/dev/tty; read word; echo \"=$word=\" >/dev/tty; exit 3") { ctl in
            "set -m; \(ctl); echo stopped >&2; fg; echo over >&2"
        }
        try scene.terminal.awaitText("word: ")

        scene.terminal.type("\u{1A}")
        try scene.terminal.awaitText("stopped")
        scene.terminal.type("sesame\n")

        try scene.terminal.awaitText("=sesame=")
        try scene.terminal.awaitText("over")
        try scene.program.wait()
        try scene.witness.wait()
    }
}
