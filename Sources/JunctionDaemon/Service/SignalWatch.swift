import Glibc
import Synchronization

/// What somebody outside asks of the process.
package enum ProcessSignal: Sendable, CaseIterable {
    /// End in good order (SIGTERM, SIGINT).
    case end
    /// Read the configuration again (SIGHUP).
    case reload
}

/// Waits for signals on a thread of its own, as ordinary events instead of interruptions.
package final class SignalWatch: Sendable {
    private let thread: WaitingThread
    private let ending = Ending()
    private let isOpen = Mutex(true)

    /// Holds the watched signals back from the whole process. Before any other thread starts: threads inherit it, and
    /// one that did not would be killed by the first signal.
    package static func holdBack() {
        var signals = watched
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// - Parameter call: called on the watch's own thread: it must only hand over.
    package init(calling call: @escaping @Sendable (ProcessSignal) -> Void) throws(SystemFailure) {
        thread = try WaitingThread { [ending] in
            // Held back here in any case, so that the wait below is the only place where they arrive.
            SignalWatch.holdBack()
            var signals = SignalWatch.watched
            var number: Int32 = 0
            while true {
                guard sigwait(&signals, &number) == 0 else { continue }
                if ending.hasBegun { return }
                call(number == SIGHUP ? .reload : .end)
            }
        }
    }

    /// Ends the watch; the signals stay held back. Not to be called on the watch's own thread.
    package func shutDown() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard wasOpen else { return }
        ending.begin()
        thread.signal(SIGTERM)
        thread.join()
    }

    /// Sends a signal to the watch alone, where a test cannot risk the rest of the process.
    func receive(_ number: Int32) { thread.signal(number) }

    private static var watched: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, number) }
        return signals
    }
}
