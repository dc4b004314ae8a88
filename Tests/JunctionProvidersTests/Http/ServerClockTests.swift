import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct ServerClockTests {
    /// `noon` is 12:00:00; the answer came after a second and a half.
    @Test(arguments: [
        ("Sat, 21 Nov 2026 12:00:00 GMT", 0), ("Sat, 21 Nov 2026 12:00:01 GMT", 0),
        ("Sat, 21 Nov 2026 11:59:59 GMT", 0), ("Sat, 21 Nov 2026 11:59:58 GMT", -1_000),
        ("Sat, 21 Nov 2026 12:00:02 GMT", 500), ("Sat, 21 Nov 2026 12:01:00 GMT", 58_500), ("nonsense", 0),
    ])
    func `only what sending and receiving cannot explain is a difference`(date: String, milliseconds: Int) {
        let answer = HttpAnswer(status: 200, headers: [("Date", date)], body: SharedSecret(text: ""), place: "x")

        let clock = ServerClock(
            answer,
            sentAt: ManualClock.noon,
            receivedAt: ManualClock.noon + .milliseconds(1_500)
        )

        #expect(clock.skew == .milliseconds(milliseconds))
        #expect(clock.ours(ManualClock.noon + .milliseconds(milliseconds)) == ManualClock.noon)
    }
}
