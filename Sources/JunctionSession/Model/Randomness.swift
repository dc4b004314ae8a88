/// The machine's only source of random numbers (SplitMix64). The seed comes from outside, so that a test can repeat a
/// history.
package struct Randomness: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func uniform(in range: ClosedRange<Double>) -> Double {
        let unit = Double(next() >> 11) / Double(1 << 53)
        return range.lowerBound + (range.upperBound - range.lowerBound) * unit
    }

    package mutating func uniform(in range: ClosedRange<Duration>) -> Duration {
        let width = (range.upperBound - range.lowerBound).wholeMilliseconds
        return range.lowerBound + .milliseconds(Int64(Double(width) * uniform(in: 0...1)))
    }
}
