package import JunctionSession
import Synchronization

/// A wall clock and an uptime clock that only the test moves.
package final class ManualClock: SessionClock {
    private let moment: Mutex<Moment>

    /// Starts at 2026-11-21T00:00:00Z, an hour after boot.
    package init(
        _ moment: Moment = Moment(
            wall: WallTime(milliseconds: 1_795_219_200_000),
            uptime: Uptime(milliseconds: 3_600_000)
        )
    ) {
        self.moment = Mutex(moment)
    }

    package func now() -> Moment {
        moment.withLock { $0 }
    }

    /// Moves both clocks forward.
    package func advance(by duration: Duration) {
        moment.withLock { $0 = Moment(wall: $0.wall + duration, uptime: $0.uptime + duration) }
    }

    /// Changes the wall clock only, as setting the system time does.
    package func stepWall(by duration: Duration) {
        moment.withLock { $0.wall = $0.wall + duration }
    }
}

/// An alarm that only records the time to which it was set.
package final class RecordingAlarm: SessionAlarm {
    private let time = Mutex<WallTime?>(nil)

    package init() {}

    package func set(_ time: WallTime?) {
        self.time.withLock { $0 = time }
    }

    package var setTo: WallTime? { time.withLock { $0 } }
}
