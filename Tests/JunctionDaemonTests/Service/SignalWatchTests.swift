import Glibc
import Testing

@testable import JunctionDaemon

/// In processes of their own, because signal masks and handlers belong to the whole process.
@Suite(.timeLimit(.minutes(10))) struct SignalWatchTests {
    @Test func `signals arrive as events on the watch's own thread`() async {
        await #expect(processExitsWith: .success) {
            SignalWatch.blockSignals()
            let signals = Signals<ProcessSignal>()
            let watch = try SignalWatch { signals.put($0) }

            for (number, expected) in [(SIGHUP, ProcessSignal.reload), (SIGTERM, .end), (SIGINT, .end)] {
                watch.receive(number)
                #expect(signals.take() == expected)
            }
            watch.shutDown()
            watch.shutDown()

            #expect(signals.count == 0)
        }
    }

    @Test func `a blocked signal stays pending and does not end the process`() async {
        await #expect(processExitsWith: .success) {
            SignalWatch.blockSignals()
            // Without the blocked mask, each of the three signals would end the process.
            for number in [SIGHUP, SIGTERM, SIGINT] { pthread_kill(pthread_self(), number) }
            var pending = sigset_t()
            sigpending(&pending)

            #expect([SIGHUP, SIGTERM, SIGINT].allSatisfy { sigismember(&pending, $0) == 1 })
        }
    }
}
