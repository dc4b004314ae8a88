import Testing

@testable import JunctionServer

struct DurationHistogramTests {
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
