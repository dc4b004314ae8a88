import JunctionSystemd
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import JunctionDaemon

/// The watchdog heartbeats, on a loop whose time the test moves on.
@Suite struct WatchdogTests {
    private let loop = EmbeddedEventLoop()
    private let signs = Signs()

    private func begin(limit: Duration) {
        Watchdog.begin(on: loop, limit: limit) { [signs] in signs.give() }
    }

    @Test func `a sign comes at once, and then twice in the time that the service manager waits`() {
        begin(limit: .seconds(120))
        #expect(signs.count == 1)

        loop.advanceTime(by: .seconds(59))
        #expect(signs.count == 1)
        loop.advanceTime(by: .seconds(1))
        #expect(signs.count == 2)

        loop.advanceTime(by: .seconds(600))
        #expect(signs.count == 12)
    }

    @Test func `a sign that the service manager could not take comes again after a second`() {
        signs.isCongested = true
        begin(limit: .seconds(120))

        loop.advanceTime(by: .seconds(2))
        #expect(signs.count == 3)
        signs.isCongested = false
        loop.advanceTime(by: .seconds(1))
        #expect(signs.count == 4)

        loop.advanceTime(by: .seconds(59))
        #expect(signs.count == 4)
    }

    @Test func `a service manager that waits less than two seconds is not kept waiting by a congestion`() {
        signs.isCongested = true
        begin(limit: .milliseconds(200))

        loop.advanceTime(by: .milliseconds(500))

        #expect(signs.count == 6)
    }
}

private final class Signs: Sendable {
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
