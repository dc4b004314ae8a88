import JunctionSession
import Synchronization

/// A clock that stands still until a test moves it.
final class ManualClock: SessionClock {
    /// 2026-11-21T12:00:00Z.
    static let noon = WallTime(milliseconds: 1_795_262_400_000)

    private let moment = Mutex(Moment(wall: noon, uptime: Uptime(milliseconds: 5_000)))

    func now() -> Moment { moment.withLock { $0 } }

    func advance(by duration: Duration) {
        moment.withLock { $0 = Moment(wall: $0.wall + duration, uptime: $0.uptime + duration) }
    }
}
