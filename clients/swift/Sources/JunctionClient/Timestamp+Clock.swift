import Glibc
public import JunctionProtocol

// What an app's timers take.
extension Timestamp {
    /// The present by the wall clock, which the daemon reckons by, too.
    public static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// How far off it is; below zero once it has passed.
    public var timeLeft: Duration {
        let (left, overflow) = milliseconds.subtractingReportingOverflow(Self.now.milliseconds)
        return .milliseconds(overflow ? (milliseconds < 0 ? Int64.min : .max) : left)
    }
}

extension ContinuousClock.Instant {
    /// That time on the clock that timers wait by, which is not set: right for as long as the wall clock is not set either.
    ///
    /// ```swift
    /// try await Task.sleep(until: ContinuousClock.Instant(token.expiresAt))
    /// ```
    public init(_ timestamp: Timestamp) {
        // Ten thousand years are further than any timer goes.
        let longest = Duration.seconds(315_360_000_000)
        self = .now + min(max(timestamp.timeLeft, .zero - longest), longest)
    }
}
