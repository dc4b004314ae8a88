import Glibc

/// A request to the process by a signal.
package enum ProcessSignal: Sendable, CaseIterable {
    /// End in good order (SIGTERM, SIGINT).
    case end
    /// Read the configuration again (SIGHUP).
    case reload
}

/// Waits for signals on a thread of its own, so that they arrive as ordinary events and interrupt nothing.
package final class SignalWatch: Sendable {
    private let thread: WaitingThread
    private let ending = Ending()

    /// Blocks the watched signals in the whole process. Call it before any other thread starts: threads inherit the
    /// mask, and a signal would end the process if one thread did not block it.
    package static func blockSignals() {
        var signals = watched
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// - Parameter call: called on the watch's own thread. It must only hand the signal over.
    package init(calling call: @escaping @Sendable (ProcessSignal) -> Void) throws(SystemFailure) {
        thread = try WaitingThread { [ending] in
            // This thread always blocks the signals, so that they arrive only at `sigwait`.
            SignalWatch.blockSignals()
            var signals = SignalWatch.watched
            var number: Int32 = 0
            while true {
                guard sigwait(&signals, &number) == 0 else { continue }
                if ending.hasBegun { return }
                call(number == SIGHUP ? .reload : .end)
            }
        }
    }

    /// Ends the watch. The signals stay blocked. Do not call it on the watch's own thread.
    package func shutDown() {
        guard ending.begin() else { return }
        thread.signal(SIGTERM)
        thread.join()
    }

    /// Sends a signal to the watch's thread only, for tests.
    func receive(_ number: Int32) { thread.signal(number) }

    private static var watched: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, number) }
        return signals
    }
}
