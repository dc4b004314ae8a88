import JunctionSystemd
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import JunctionDaemon

/// The watchdog heartbeats, on an event loop whose clock the test advances.
@Suite struct WatchdogTests {
    private let loop = EmbeddedEventLoop()
    private let heartbeats = Heartbeats()

    private func begin(limit: Duration) {
        Watchdog.begin(on: loop, limit: limit) { [heartbeats] in heartbeats.give() }
    }

    @Test func `heartbeats come at once and then twice in the watchdog's time`() {
        begin(limit: .seconds(120))
        #expect(heartbeats.count == 1)

        loop.advanceTime(by: .seconds(59))
        #expect(heartbeats.count == 1)
        loop.advanceTime(by: .seconds(1))
        #expect(heartbeats.count == 2)

        loop.advanceTime(by: .seconds(600))
        #expect(heartbeats.count == 12)
    }

    @Test func `a heartbeat that the service manager could not take is repeated after a second`() {
        heartbeats.isCongested = true
        begin(limit: .seconds(120))

        loop.advanceTime(by: .seconds(2))
        #expect(heartbeats.count == 3)
        heartbeats.isCongested = false
        loop.advanceTime(by: .seconds(1))
        #expect(heartbeats.count == 4)

        loop.advanceTime(by: .seconds(59))
        #expect(heartbeats.count == 4)
    }

    @Test func `a watchdog below two seconds gets its heartbeats in time during a congestion`() {
        heartbeats.isCongested = true
        begin(limit: .milliseconds(200))

        loop.advanceTime(by: .milliseconds(500))

        #expect(heartbeats.count == 6)
    }
}

private final class Heartbeats: Sendable {
    private let state = Mutex((count: 0, isCongested: false))

    var count: Int { state.withLock { $0.count } }
    var isCongested: Bool {
        get { state.withLock { $0.isCongested } }
        set { state.withLock { $0.isCongested = newValue } }
    }

    func give() -> Notifier.Delivery {
        state.withLock { state in
            state.count += 1
            return state.isCongested ? .congested : .sent
        }
    }
}
