import JunctionSession
import Synchronization

/// A clock that stands still until a test moves it.
final class ManualClock: SessionClock {
    /// 2026-11-21T12:00:00Z.
    static let noon = WallTime(milliseconds: 1_795_262_400_000)

    static let start = Moment(wall: noon, uptime: Uptime(milliseconds: 5_000))

    private let moment = Mutex(start)

    func now() -> Moment { moment.withLock { $0 } }

    func advance(by duration: Duration) {
        moment.withLock { $0 = Moment(wall: $0.wall + duration, uptime: $0.uptime + duration) }
    }
}

/// The life of a token as it reads on a clock that began at noon and was never set.
extension Grant.Token {
    var issuedAt: WallTime { ManualClock.start.wall(at: life.start) }
    var expiresAt: WallTime { life.end.map { ManualClock.start.wall(at: $0) } ?? .never }
}
