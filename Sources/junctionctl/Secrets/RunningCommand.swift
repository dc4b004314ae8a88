import Glibc

/// The process group of the running command, which is killed when a signal ends this program.
///
/// Only one command runs at a time, because a signal handler can use only global variables.
enum RunningCommand {
    /// Zero if no command runs.
    nonisolated(unsafe) private static var running: pid_t = 0

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// Starts a command in its own process group. From then on, a signal that ends this program kills the group first.
    ///
    /// - Parameter spawn: starts the command with the given signal mask.
    /// - Returns: the process group, which has the number of its first process.
    static func begin(_ spawn: (sigset_t) throws -> pid_t) rethrows -> pid_t {
        var (blocked, before) = (sigset_t(), sigset_t())
        sigemptyset(&blocked)
        for signal in signals { sigaddset(&blocked, signal) }
        // If a signal came between the start and the assignment, the command would continue to run.
        pthread_sigmask(SIG_BLOCK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        for signal in signals { catchSignal(signal) }
        running = try spawn(before)
        return running
    }

    /// Forgets the group.
    static func end() {
        running = 0
    }

    /// Catches a signal, unless it is ignored or has a handler.
    private static func catchSignal(_ signal: Int32) {
        var action = sigaction()
        sigaction(signal, nil, &action)
        // `SIG_DFL`, which Swift cannot compare.
        guard unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0 else { return }
        action = sigaction()
        action.__sigaction_handler.sa_handler = { signal in
            let group = RunningCommand.running
            if group > 0 { kill(-group, SIGKILL) }
            // The signal has its default effect now.
            Glibc.signal(signal, SIG_DFL)
            raise(signal)
        }
        sigaction(signal, &action, nil)
    }
}
