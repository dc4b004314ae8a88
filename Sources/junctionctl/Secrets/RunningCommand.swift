import Glibc

/// The process group of the command that runs now, which ends when a signal ends this program.
///
/// There is one at a time: a handler can reach nothing but what is global.
enum RunningCommand {
    /// Zero while there is none.
    nonisolated(unsafe) private static var running: pid_t = 0

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// Starts a command in a group of its own. From its first moment on, what ends this program ends the group first.
    ///
    /// - Parameter spawn: starts it, with the signals blocked that it is given.
    /// - Returns: the number of the group, and of its first process.
    static func begin(_ spawn: (sigset_t) throws -> pid_t) rethrows -> pid_t {
        var (blocked, before) = (sigset_t(), sigset_t())
        sigemptyset(&blocked)
        for signal in signals { sigaddset(&blocked, signal) }
        // A signal between the start and the note of it would leave the command behind.
        pthread_sigmask(SIG_BLOCK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        for signal in signals { catchSignal(signal) }
        running = try spawn(before)
        return running
    }

    /// The group is on its own.
    static func end() {
        running = 0
    }

    /// A signal that is ignored, or that already has a handler, stays as it is.
    private static func catchSignal(_ signal: Int32) {
        var action = sigaction()
        sigaction(signal, nil, &action)
        // `SIG_DFL`, which Swift cannot compare.
        guard unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0 else { return }
        action = sigaction()
        action.__sigaction_handler.sa_handler = { signal in
            let group = RunningCommand.running
            if group > 0 { kill(-group, SIGKILL) }
            // Now it does what it would have done.
            Glibc.signal(signal, SIG_DFL)
            raise(signal)
        }
        sigaction(signal, &action, nil)
    }
}
