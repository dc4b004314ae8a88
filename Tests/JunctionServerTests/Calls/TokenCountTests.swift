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
}
