/// How long to wait before the daemon is tried again: soon at first, then less and less often.
package struct Backoff: Sendable {
    /// The wait before the second attempt; the first comes at once.
    package static let first = Duration.milliseconds(50)
    /// The daemon restarts within a second or two, but it may also be stopped for a week.
    package static let longest = Duration.seconds(5)

    private let first: Duration
    private var failures = 0

    package init(first: Duration = Self.first) {
        self.first = first
    }

    /// Notes that the daemon was there and stayed; what comes next is a new story.
    package mutating func succeeded() {
        failures = 0
    }

    /// The wait before the next attempt, which is assumed to fail until `succeeded` says otherwise.
    ///
    /// - Parameter chance: 0…1, so that the apps of one device do not come back in the same instant.
    package mutating func nextDelay(chance: Double) -> Duration {
        defer { failures += 1 }
        guard failures > 0 else { return .zero }
        let whole = failures > 16 ? Self.longest : min(Self.longest, first * (1 << (failures - 1)))
        return whole * (0.5 + chance / 2)
    }
}
