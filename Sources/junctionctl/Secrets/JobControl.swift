import Glibc

/// Job control for a command that has a process group of its own, as a shell does it: the terminal is the command's while this
/// program waits for it, and what stops the command stops this program, too.
final class JobControl {
    private let terminal: Int32
    /// How the terminal was before the command began.
    private var attributes = termios()
    /// The command's process group, and its first process.
    private var group: pid_t = 0

    /// Before a command begins; nothing where this program has no terminal.
    init?() {
        terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0, tcgetattr(terminal, &attributes) == 0 else { return nil }
    }

    deinit {
        if terminal >= 0 { close(terminal) }
    }

    /// Hands the terminal to the command.
    ///
    /// - Parameter group: the number of its process group, and of its first process.
    func begin(_ group: pid_t) {
        self.group = group
        handOver()
    }

    /// Does what the terminal's keys have done to the command to the rest, too.
    func follow() {
        var information = siginfo_t()
        let what = WSTOPPED | WEXITED | WNOHANG | WNOWAIT
        guard waitid(P_PID, id_t(group), &information, what) == 0, information.si_signo == SIGCHLD else { return }
        let signal = information._sifields._sigchld.si_status
        if information.si_code == CLD_STOPPED, [SIGTTIN, SIGTTOU].contains(signal), tcgetpgrp(terminal) == group {
            // It asked for the terminal just before it had that.
            kill(-group, SIGCONT)
        } else if information.si_code == CLD_STOPPED {
            stop()
        } else if information.si_code != CLD_EXITED, [SIGINT, SIGQUIT].contains(signal) {
            // What a shell has in the background ignores these keys.
            kill(-group, SIGKILL)
        }
    }

    /// Stops this program's group like the command (^Z, or reading in the background). Once that goes on, so does the command.
    private func stop() {
        takeBack()
        kill(0, SIGTSTP)
        handOver()
        kill(-group, SIGCONT)
    }

    /// Takes the terminal back.
    ///
    /// - Parameter isCut: the command was ended, so it may have left the terminal without echo.
    func end(isCut: Bool) {
        let isOurs = takeBack()
        if isCut, isOurs { tcsetattr(terminal, TCSANOW, &attributes) }
    }

    /// A program in the background does not own the terminal, so it has nothing to hand over.
    private func handOver() {
        guard tcgetpgrp(terminal) == getpgrp() else { return }
        setForeground(group)
        // The command may have asked for input before, which stopped it.
        kill(-group, SIGCONT)
    }

    @discardableResult
    private func takeBack() -> Bool {
        guard tcgetpgrp(terminal) == group else { return tcgetpgrp(terminal) == getpgrp() }
        setForeground(getpgrp())
        return true
    }

    /// This program may be in the background by now, where SIGTTOU would stop it.
    private func setForeground(_ group: pid_t) {
        var (blocked, before) = (sigset_t(), sigset_t())
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGTTOU)
        pthread_sigmask(SIG_BLOCK, &blocked, &before)
        tcsetpgrp(terminal, group)
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
