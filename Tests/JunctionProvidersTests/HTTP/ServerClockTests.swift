import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct ServerClockTests {
    /// The request starts at `noon`, 12:00:00, and its answer arrives 1.5 s later.
    @Test(arguments: [
        ("Sat, 21 Nov 2026 12:00:00 GMT", 0), ("Sat, 21 Nov 2026 12:00:01 GMT", 0),
        ("Sat, 21 Nov 2026 11:59:59 GMT", 0), ("Sat, 21 Nov 2026 11:59:58 GMT", -1_000),
        ("Sat, 21 Nov 2026 12:00:02 GMT", 500), ("Sat, 21 Nov 2026 12:01:00 GMT", 58_500), ("nonsense", 0),
    ])
    func `only a difference that the duration of the request cannot explain is skew`(date: String, milliseconds: Int) {
        let answer = HTTPAnswer(status: 200, headers: [("Date", date)], body: SharedSecret(text: ""), place: "x")

        let clock = ServerClock(
            answer,
            sentAt: ManualClock.noon,
            receivedAt: ManualClock.noon + .milliseconds(1_500)
        )

        #expect(clock.skew == .milliseconds(milliseconds))
        #expect(clock.ours(ManualClock.noon + .milliseconds(milliseconds)) == ManualClock.noon)
    }
}
