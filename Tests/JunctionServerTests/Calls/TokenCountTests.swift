import Testing

@testable import JunctionServer

/// The counters of tokens, whose size callers cannot increase.
struct TokenCountTests {
    @Test func `tokens are counted by unit, and those of callers without a unit separately`() {
        var tally = UnitCounters()
        let place = tally.place(of: "health-sync.service")
        tally.count(place)
        tally.count(tally.place(of: "health-sync.service"))
        tally.count(tally.place(of: nil))

        #expect(
            tally.tokens.map { "\($0.unit) \($0.count)" } == ["(none) 1", "(other) 0", "health-sync.service 2"]
        )
    }

    @Test func `units above the limit share one counter`() {
        var tally = UnitCounters()
        for number in 0..<1_000 { tally.count(tally.place(of: "app@\(number).service")) }

        #expect(tally.tokens.count == UnitCounters.mostUnits + 2)
        #expect(tally.tokens.map(\.count).reduce(0, +) == 1_000)
        #expect(tally.tokens.first { $0.unit == "(other)" }?.count == 1_000 - UnitCounters.mostUnits)
        // A unit from before the limit still has its own counter.
        tally.count(tally.place(of: "app@0.service"))
        #expect(tally.tokens.first { $0.unit == "app@0.service" }?.count == 2)
    }

    @Test func `a long duration is counted in all larger buckets`() {
        var histogram = DurationHistogram()
        #expect(histogram.cumulative.last == 0)
        for milliseconds in [0, 5, 6, 30_000, 30_001] { histogram.note(.milliseconds(milliseconds)) }
        histogram.note(.seconds(-1))

        #expect(histogram.cumulative.count == DurationHistogram.bounds.count + 1)
        #expect(histogram.cumulative.prefix(2) == [3, 4])
        #expect(histogram.cumulative.suffix(2) == [5, 6])
        #expect(histogram.sum == 60_012)
    }
}
