import Glibc

/// Until when to wait, on the clock that is never set.
package struct Deadline: Hashable, Sendable {
    private let instant: ContinuousClock.Instant?

    /// As long as it takes.
    package static let never = Deadline(instant: nil)

    private init(instant: ContinuousClock.Instant?) {
        self.instant = instant
    }

    /// So long from now.
    package static func after(_ duration: Duration) -> Deadline {
        Deadline(instant: .now + duration)
    }

    /// The earlier of this one and so long from now.
    func orAfter(_ duration: Duration) -> Deadline {
        let other = ContinuousClock.Instant.now + duration
        return Deadline(instant: min(instant ?? other, other))
    }

    /// Whether it is over.
    package var hasPassed: Bool { instant.map { $0 <= .now } ?? false }

    /// How long that is from now, at least a microsecond; nothing for ever.
    var timeLeft: timeval? {
        guard let instant else { return nil }
        let left = max(.zero, instant - .now).components
        return timeval(
            tv_sec: Int(min(left.seconds, 1 << 31)),
            tv_usec: max(1, Int(left.attoseconds / 1_000_000_000_000))
        )
    }

    /// What `poll` takes: milliseconds from now, or -1 for ever.
    package var pollTimeout: Int32 {
        guard let instant else { return -1 }
        let left = max(.zero, instant - .now).components
        // Rounded up, so that a wait does not end in a hurry of short ones.
        return Int32(clamping: min(left.seconds, 1 << 31) * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1)
    }
}
