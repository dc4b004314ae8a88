import Glibc

/// The time until which to wait, on the continuous clock, which is never set.
package struct Deadline: Hashable, Sendable {
    let instant: ContinuousClock.Instant?

    package static let never = Deadline(instant: nil)

    private init(instant: ContinuousClock.Instant?) {
        self.instant = instant
    }

    /// Makes a deadline after `duration`.
    package static func after(_ duration: Duration) -> Deadline {
        Deadline(instant: .now + duration)
    }

    /// Returns the earlier of this deadline and one after `duration`.
    func orAfter(_ duration: Duration) -> Deadline {
        let other = ContinuousClock.Instant.now + duration
        return Deadline(instant: min(instant ?? other, other))
    }

    package var hasPassed: Bool { instant.map { $0 <= .now } ?? false }

    /// The time left, at least a microsecond; `nil` without a deadline.
    var timeLeft: timeval? {
        guard let instant else { return nil }
        let left = max(.zero, instant - .now).components
        return timeval(
            tv_sec: Int(min(left.seconds, 1 << 31)),
            tv_usec: max(1, Int(left.attoseconds / 1_000_000_000_000))
        )
    }

    /// The timeout for `poll`: milliseconds from now, or -1 without a deadline.
    package var pollTimeout: Int32 {
        guard let instant else { return -1 }
        let left = max(.zero, instant - .now).components
        // Rounded up, so that the last millisecond is not spent in many short waits.
        return Int32(clamping: min(left.seconds, 1 << 31) * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1)
    }
}
