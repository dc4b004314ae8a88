import Glibc

/// Asks for a secret at a terminal, without showing what is typed.
enum Terminal {
    /// The signal that interrupted the typing. A handler may touch nothing else.
    nonisolated(unsafe) static var wasInterrupted: Int32 = 0

    /// Runs `body` with a prompt and without echo when standard input is a terminal, and just runs it when not.
    static func withoutEcho<Result>(prompt: String, _ body: () throws -> Result) throws -> Result {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return try body() }

        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]
        let handlers = signals.map { catchSignal($0) }
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        prompt.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            _ = write(STDERR_FILENO, "\n", 1)
            for (signal, handler) in zip(signals, handlers) { restoreSignal(signal, handler) }
            // The echo is back: now the signal may do what it would have done.
            if wasInterrupted != 0 { raise(wasInterrupted) }
        }
        return try body()
    }

    /// Whether somebody at a terminal has finished the line; a pipe is read to its end.
    static func isAtLineEnd(_ file: Int32, _ last: UInt8) -> Bool {
        last == UInt8(ascii: "\n") && isatty(file) == 1
    }

    private static func catchSignal(_ signal: Int32) -> sigaction {
        var handler = sigaction()
        // Without SA_RESTART, so that `read` returns.
        handler.__sigaction_handler.sa_handler = { Terminal.wasInterrupted = $0 }
        var before = sigaction()
        sigaction(signal, &handler, &before)
        return before
    }

    private static func restoreSignal(_ signal: Int32, _ handler: sigaction) {
        var handler = handler
        sigaction(signal, &handler, nil)
    }
}
