/// How long things took, in the buckets of a Prometheus histogram: a fixed size, however much is noted.
package struct DurationHistogram: Equatable, Sendable {
    /// The upper bounds of the buckets, in milliseconds; one more bucket has no bound.
    package static let bounds: [Int64] = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000]

    private var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// Everything together, in milliseconds.
    package private(set) var sum: Int64 = 0

    /// Starts empty.
    package init() {}

    /// Something took so long.
    package mutating func note(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let milliseconds = max(0, seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
        counts[Self.bounds.firstIndex { milliseconds <= $0 } ?? Self.bounds.count] += 1
        sum += milliseconds
    }

    /// How many took at most as long as each of the bounds, and how many there are altogether.
    package var cumulative: [Int] {
        var total = 0
        return counts.map { count in
            total += count
            return total
        }
    }
}
