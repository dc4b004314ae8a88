import Glibc

/// Job control for a command with its own process group, as a shell does it. The command owns the terminal while this
/// program waits for it. If the command stops, this program stops, too.
final class JobControl {
    private let terminal: Int32
    /// The attributes of the terminal before the command began.
    private var attributes = termios()
    /// The command's process group, which has the number of its first process.
    private var group: pid_t = 0

    /// Call it before the command begins. Returns nil if this program has no terminal.
    init?() {
        terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0, tcgetattr(terminal, &attributes) == 0 else { return nil }
    }

    deinit {
        if terminal >= 0 { close(terminal) }
    }

    /// Gives the terminal to the command.
    ///
    /// - Parameter group: the command's process group, which has the number of its first process.
    func begin(_ group: pid_t) {
        self.group = group
        handOver()
    }

    /// Applies a stop or a signal of the command to this program and to the rest of the group.
    func follow() {
        var information = siginfo_t()
        let what = WSTOPPED | WEXITED | WNOHANG | WNOWAIT
        guard waitid(P_PID, id_t(group), &information, what) == 0, information.si_signo == SIGCHLD else { return }
        let signal = information._sifields._sigchld.si_status
        if information.si_code == CLD_STOPPED, [SIGTTIN, SIGTTOU].contains(signal), tcgetpgrp(terminal) == group {
            // The command used the terminal before it was in the foreground.
            kill(-group, SIGCONT)
        } else if information.si_code == CLD_STOPPED {
            stop()
        } else if information.si_code != CLD_EXITED, [SIGINT, SIGQUIT].contains(signal) {
            // The background processes of a shell ignore these signals.
            kill(-group, SIGKILL)
        }
    }

    /// Stops this program's group like the command (after ^Z, or input in the background). When this program continues,
    /// the command continues.
    private func stop() {
        takeBack()
        kill(0, SIGTSTP)
        handOver()
        kill(-group, SIGCONT)
    }

    /// Takes the terminal back.
    ///
    /// - Parameter isCut: whether the command was killed, so that it may have left the terminal without echo.
    func end(isCut: Bool) {
        let isOurs = takeBack()
        if isCut, isOurs { tcsetattr(terminal, TCSANOW, &attributes) }
    }

    /// Gives the terminal to the command, unless this program is in the background and does not own it.
    private func handOver() {
        guard tcgetpgrp(terminal) == getpgrp() else { return }
        setForeground(group)
        // The command may have stopped because it read from the terminal too early.
        kill(-group, SIGCONT)
    }

    @discardableResult
    private func takeBack() -> Bool {
        guard tcgetpgrp(terminal) == group else { return tcgetpgrp(terminal) == getpgrp() }
        setForeground(getpgrp())
        return true
    }

    /// Blocks SIGTTOU, which would stop this program if it is in the background now.
    private func setForeground(_ group: pid_t) {
        var (blocked, before) = (sigset_t(), sigset_t())
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGTTOU)
        pthread_sigmask(SIG_BLOCK, &blocked, &before)
        tcsetpgrp(terminal, group)
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
