/// A time on the wall clock, in milliseconds since 1970-01-01T00:00:00Z.
///
/// Times that outlive the process are wall-clock times. The wall clock may step, and the machine is then notified.
package struct WallTime: Hashable, Comparable, Sendable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The value for "no end": the last second with a four-digit year (9999-12-31T23:59:59Z).
    package static let never = WallTime(milliseconds: 253_402_300_799_000)

    package static func < (earlier: WallTime, later: WallTime) -> Bool {
        earlier.milliseconds < later.milliseconds
    }

    package static func + (time: WallTime, duration: Duration) -> WallTime {
        WallTime(milliseconds: time.milliseconds + duration.wholeMilliseconds)
    }

    package static func - (later: WallTime, earlier: WallTime) -> Duration {
        .milliseconds(later.milliseconds - earlier.milliseconds)
    }

    /// Returns the rest of the time until this end in a record. If the end has passed, the wall clock may be wrong, and
    /// the full time from the write of the record is left.
    func left(writtenAt: WallTime, _ now: Moment) -> Duration {
        self > now.wall ? self - now.wall : max(self - writtenAt, .zero)
    }
}

/// A time on the monotonic clock, which never steps and counts through suspend (CLOCK_BOOTTIME), in milliseconds since
/// boot.
package struct Uptime: Hashable, Comparable, Sendable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (earlier: Uptime, later: Uptime) -> Bool {
        earlier.milliseconds < later.milliseconds
    }

    package static func + (time: Uptime, duration: Duration) -> Uptime {
        Uptime(milliseconds: time.milliseconds + duration.wholeMilliseconds)
    }

    package static func - (later: Uptime, earlier: Uptime) -> Duration {
        .milliseconds(later.milliseconds - earlier.milliseconds)
    }
}

/// One reading of both clocks.
package struct Moment: Hashable, Sendable {
    package var wall: WallTime
    package var uptime: Uptime

    package init(wall: WallTime, uptime: Uptime) {
        self.wall = wall
        self.uptime = uptime
    }

    /// Returns the same instant with the wall-clock reading that the present clock setting gives. The wall clock may
    /// have been set since this reading.
    package func read(by now: Moment) -> Moment {
        Moment(wall: now.wall(at: uptime), uptime: uptime)
    }

    /// Returns the same instant for a record of this write time. An earlier wall-clock reading is wrong, and no time has
    /// passed since the write then.
    func notBefore(_ writtenAt: WallTime) -> Moment {
        Moment(wall: max(wall, writtenAt), uptime: uptime)
    }

    /// The time of the boot by the wall clock. It changes only if the wall clock is set.
    var bootTime: WallTime { wall(at: Uptime(milliseconds: 0)) }

    /// Returns the wall-clock time of `uptime`, as long as the wall clock is not set.
    package func wall(at uptime: Uptime) -> WallTime {
        wall + (uptime - self.uptime)
    }
}

extension Duration {
    /// The duration in milliseconds, rounded towards zero.
    package var wholeMilliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}

/// The lifetime of a token on the monotonic clock.
///
/// It is based on one reading of both clocks at the start of the request that brought the token. Setting the wall clock
/// during the request does not change it.
package struct Life: Hashable, Sendable {
    package var start: Uptime
    /// `nil` for a token without an end.
    package var end: Uptime?

    package init(start: Uptime, end: Uptime?) {
        self.start = start
        self.end = end
    }

    /// Creates a lifetime that a server gave as a duration from the start of the request.
    package init(from start: Moment, lasting duration: Duration) {
        self.init(start: start.uptime, end: start.uptime + duration)
    }

    /// Creates a lifetime that a server gave as two times, read on our wall clock at the start of the request.
    package init(from begin: WallTime, to end: WallTime?, at start: Moment) {
        self.init(
            start: start.uptime + (begin - start.wall),
            end: end.flatMap { $0 < .never ? start.uptime + ($0 - start.wall) : nil }
        )
    }

    /// `nil` for a token without an end.
    package var duration: Duration? { end.map { $0 - start } }
}
