import Foundation
import JunctionClient
import JunctionClientFoundation
import Testing

/// Times of the daemon in the forms that apps use.
struct TimeTests {
    @Test(arguments: [0, 1, 1_795_200_000_123, -1, 253_402_300_799_000] as [Int64])
    func `a time converted to a date and back is the same`(milliseconds: Int64) {
        let timestamp = Timestamp(milliseconds: milliseconds)

        #expect((Date(timestamp).timeIntervalSince1970 * 1000).rounded() == Double(milliseconds))
        #expect(Timestamp(Date(timestamp)) == timestamp)
    }

    @Test func `a date out of range becomes the nearest time`() {
        #expect(Timestamp(Date(timeIntervalSince1970: .infinity)).milliseconds == .max)
        #expect(Timestamp(Date(timeIntervalSince1970: -.infinity)).milliseconds == .min)
    }

    @Test func `an instant of a past time is before now, and one of a future time after it`() {
        let now = Timestamp.now

        #expect(now.timeLeft <= .zero)
        #expect(Timestamp(milliseconds: now.milliseconds + 3_600_000).timeLeft > .zero)
        #expect(ContinuousClock.Instant(Timestamp(milliseconds: 0)) < .now)
        #expect(ContinuousClock.Instant(.never) > .now)
    }

    @Test(arguments: [Int64.min, Int64.max])
    func `an extreme time can be converted`(milliseconds: Int64) {
        let timestamp = Timestamp(milliseconds: milliseconds)

        #expect((timestamp.timeLeft > .zero) == (milliseconds > 0))
        #expect((ContinuousClock.Instant(timestamp) > .now) == (milliseconds > 0))
    }
}
