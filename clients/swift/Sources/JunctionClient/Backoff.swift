/// The pauses before new attempts to reach the daemon: short at first, then longer.
package struct Backoff: Sendable {
    /// The pause before the second attempt. There is none before the first.
    package static let first = Duration.milliseconds(50)
    /// The longest pause. The daemon restarts within a second or two, but it may also be stopped for a week.
    package static let longest = Duration.seconds(5)

    private let first: Duration
    private var failures = 0

    package init(first: Duration = Self.first) {
        self.first = first
    }

    /// Resets the pauses, because the daemon was reached and the connection lasted.
    package mutating func succeeded() {
        failures = 0
    }

    /// Returns the pause before the next attempt. Each call counts as a failed attempt until `succeeded` is called.
    ///
    /// - Parameter chance: a random number from 0 to 1, so that the apps of one device do not reconnect at the same
    ///   instant.
    package mutating func nextDelay(chance: Double) -> Duration {
        defer { failures += 1 }
        guard failures > 0 else { return .zero }
        let whole = failures > 16 ? Self.longest : min(Self.longest, first * (1 << (failures - 1)))
        return whole * (0.5 + chance / 2)
    }
}
