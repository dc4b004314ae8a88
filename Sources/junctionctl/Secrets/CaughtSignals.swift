import Glibc
import JunctionClient

/// Catches signals until the caller has restored the terminal or other state.
///
/// Only one object exists at a time, because a signal handler can use only global variables.
struct CaughtSignals {
    /// The last signal. The handler uses only this variable and `alarm`.
    nonisolated(unsafe) private static var last: Int32 = 0
    /// The pipe that the handler writes to, so that a wait ends even if the signal comes just before it.
    nonisolated(unsafe) private static var alarm: Int32 = -1

    private let bell: (reading: Int32, writing: Int32)
    private var before: [(signal: Int32, action: sigaction)] = []

    /// Catches the signals, except those that are ignored.
    init(_ signals: Int32...) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CommandFailure(
                "there is no pipe: \(String(cString: strerror(errno)))",
                kind: "localFailure",
                remedy: "close what this shell has open",
                status: .temporary
            )
        }
        bell = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        Self.last = 0
        Self.alarm = bell.writing
        for signal in signals { catchSignal(signal) }
    }

    private mutating func catchSignal(_ signal: Int32) {
        var action = sigaction()
        sigaction(signal, nil, &action)
        guard unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) != Self.ignored else { return }
        before.append((signal, action))
        action = sigaction()
        action.__sigaction_handler.sa_handler = { signal in
            let error = errno
            CaughtSignals.last = signal
            _ = write(CaughtSignals.alarm, "!", 1)
            errno = error
        }
        sigaction(signal, &action, nil)
    }

    /// `SIG_IGN`, which Swift cannot compare.
    private static let ignored = 1

    /// Interrupts a wait for the daemon when a signal comes.
    var interruption: Interruption { .readable(bell.reading) }

    /// Waits until the descriptor can be read. Returns `false` if a signal comes first.
    func waitForInput(from descriptor: Int32) -> Bool {
        var waited = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: bell.reading, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&waited, 2, -1) < 0, errno == EINTR {}
        return waited[1].revents == 0
    }

    /// Restores the handlers and raises the signal that came, if one did.
    func release() {
        for (signal, action) in before {
            var action = action
            sigaction(signal, &action, nil)
        }
        Self.alarm = -1
        close(bell.reading)
        close(bell.writing)
        if Self.last != 0 { raise(Self.last) }
    }
}
