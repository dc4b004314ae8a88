import Glibc
public import JunctionProtocol

// Conversions for the timers of an app.
extension Timestamp {
    /// The present time by the wall clock, which the daemon also uses.
    public static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The duration until this time; negative after it has passed.
    public var timeLeft: Duration {
        let (left, overflow) = milliseconds.subtractingReportingOverflow(Self.now.milliseconds)
        return .milliseconds(overflow ? (milliseconds < 0 ? Int64.min : .max) : left)
    }
}

extension ContinuousClock.Instant {
    /// Makes the instant of `timestamp` on the continuous clock. The result is right as long as the wall clock is not
    /// set.
    ///
    /// ```swift
    /// try await Task.sleep(until: ContinuousClock.Instant(token.expiresAt))
    /// ```
    public init(_ timestamp: Timestamp) {
        // Limits the duration to ten thousand years, which is longer than any timer.
        let longest = Duration.seconds(315_360_000_000)
        self = .now + min(max(timestamp.timeLeft, .zero - longest), longest)
    }
}
