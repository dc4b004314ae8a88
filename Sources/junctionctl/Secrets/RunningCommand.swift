import Glibc

/// The process group of the command that runs now, which ends when a signal ends this program.
///
/// There is one at a time: a handler can reach nothing but what is global.
enum RunningCommand {
    /// Zero while there is none.
    nonisolated(unsafe) private static var running: pid_t = 0

    /// From now on, what ends this program ends the group first.
    static func begin(_ group: pid_t) {
        running = group
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { catchSignal(signal) }
    }

    /// The group is on its own.
    static func end() {
        running = 0
    }

    /// A signal that is ignored, or that somebody else has caught, stays as it is.
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
