import Foundation
import JunctionClient
import JunctionClientFoundation
import Testing

/// Times of the daemon's, as apps want them.
struct TimeTests {
    @Test(arguments: [0, 1, 1_795_200_000_123, -1, 253_402_300_799_000] as [Int64])
    func `a date and back`(milliseconds: Int64) {
        let timestamp = Timestamp(milliseconds: milliseconds)

        #expect((Date(timestamp).timeIntervalSince1970 * 1000).rounded() == Double(milliseconds))
        #expect(Timestamp(Date(timestamp)) == timestamp)
    }

    @Test func `a date that no number names is the nearest`() {
        #expect(Timestamp(Date(timeIntervalSince1970: .infinity)).milliseconds == .max)
        #expect(Timestamp(Date(timeIntervalSince1970: -.infinity)).milliseconds == .min)
    }

    @Test func `what is past is before now, and what is to come after it`() {
        let now = Timestamp.now

        #expect(now.timeLeft <= .zero)
        #expect(Timestamp(milliseconds: now.milliseconds + 3_600_000).timeLeft > .zero)
        #expect(ContinuousClock.Instant(Timestamp(milliseconds: 0)) < .now)
        #expect(ContinuousClock.Instant(.never) > .now)
    }

    @Test(arguments: [Int64.min, Int64.max])
    func `no time is too far off to be asked about`(milliseconds: Int64) {
        let timestamp = Timestamp(milliseconds: milliseconds)

        #expect((timestamp.timeLeft > .zero) == (milliseconds > 0))
        #expect((ContinuousClock.Instant(timestamp) > .now) == (milliseconds > 0))
    }
}
