import JunctionSession
import JunctionTesting

typealias ManualClock = JunctionTesting.ManualClock

extension ManualClock {
    /// 2026-11-21T12:00:00Z.
    static let noon = WallTime(milliseconds: 1_795_262_400_000)

    static let start = Moment(wall: noon, uptime: Uptime(milliseconds: 5_000))
}

/// The life of a token on a wall clock that began at noon and was never set.
extension Grant.Token {
    var issuedAt: WallTime { ManualClock.start.wall(at: life.start) }
    var expiresAt: WallTime { life.end.map { ManualClock.start.wall(at: $0) } ?? .never }
}
