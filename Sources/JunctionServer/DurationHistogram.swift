import JunctionSession

/// A Prometheus histogram of durations. Its size is fixed.
package struct DurationHistogram: Equatable, Sendable {
    /// The upper bounds of the buckets, in milliseconds. One more bucket has no bound.
    package static let bounds: [Int64] = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000]

    private var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// The sum of all durations, in milliseconds.
    package private(set) var sum: Int64 = 0

    package init() {}

    package mutating func note(_ duration: Duration) {
        let milliseconds = max(0, duration.wholeMilliseconds)
        counts[Self.bounds.firstIndex { milliseconds <= $0 } ?? Self.bounds.count] += 1
        sum += milliseconds
    }

    /// The number of durations up to each bound, and last the number of all durations.
    package var cumulative: [Int] {
        var total = 0
        return counts.map { count in
            total += count
            return total
        }
    }
}
