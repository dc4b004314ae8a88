import Glibc
import Testing

@testable import JunctionDaemon

/// In processes of their own: signals belong to the whole process.
@Suite(.timeLimit(.minutes(10))) struct SignalWatchTests {
    @Test func `signals arrive as events on the watch's own thread`() async {
        await #expect(processExitsWith: .success) {
            SignalWatch.holdBack()
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

    @Test func `a signal to a thread that was told first does not end the process`() async {
        await #expect(processExitsWith: .success) {
            SignalWatch.holdBack()
            // Every other signal of the three would have ended the process at once.
            for number in [SIGHUP, SIGTERM, SIGINT] { pthread_kill(pthread_self(), number) }
            var pending = sigset_t()
            sigpending(&pending)

            #expect([SIGHUP, SIGTERM, SIGINT].allSatisfy { sigismember(&pending, $0) == 1 })
        }
    }
}
