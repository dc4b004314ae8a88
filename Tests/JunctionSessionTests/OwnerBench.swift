import JunctionSecret
import JunctionTesting
import Synchronization

@testable import JunctionSession

/// A test bench of the owner, with fakes for its ports.
struct OwnerBench {
    let clock = ManualClock()
    let executor = ManualExecutor()
    let store = InMemoryStore()
    let alarm = RecordingAlarm()
    let observer = RecordingObserver()
    let provider: FakeProvider
    let owner: SessionOwner

    init(
        tokenLife: Duration = .seconds(3_600),
        callsPerMinute: Int = 60,
        rules: RenewalRules = RenewalRules()
    ) {
        provider = FakeProvider(clock: clock, tokenLife: tokenLife)
        owner = SessionOwner(
            provider: provider,
            store: store,
            clock: clock,
            alarm: alarm,
            observer: observer,
            executor: executor,
            tasks: executor,
            rules: rules,
            callsPerMinute: callsPerMinute,
            seed: 1
        )
    }

    /// Runs `body` on the owner, and then all work that it causes.
    func on(_ body: @escaping @Sendable (isolated SessionOwner) -> Void) {
        owner.assumeIsolated { body($0) }
        executor.runUntilIdle()
    }

    func start(_ restoration: Restoration = .absent) -> OwnerBench {
        on { $0.start(with: restoration) }
        return self
    }

    func signIn(_ user: String = "alice") -> OwnerBench {
        on { $0.signIn(.signInToken(SharedSecret(text: user)), by: 1_000) { _ in } }
        return self
    }

    /// Advances time and rings the alarm.
    func pass(_ duration: Duration) {
        clock.advance(by: duration)
        on { $0.alarmRang(clockJumped: false) }
    }

    func snapshot() -> Snapshot { owner.assumeIsolated { $0.snapshot } }
}

/// The received answers, in order.
final class Box<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    func put(_ value: Value) { values.withLock { $0.append(value) } }
    var all: [Value] { values.withLock { $0 } }
}
