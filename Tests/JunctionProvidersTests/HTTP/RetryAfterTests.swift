import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct RetryAfterTests {
    @Test(arguments: [
        ("5", 5), ("0", 1), ("3600", 3_600), ("86400", 3_600), ("99999999999999999999999", 3_600),
        ("Sat, 21 Nov 2026 12:01:30 GMT", 90), ("Sat, 21 Nov 2026 11:00:00 GMT", 1),
        ("Mon, 21 Nov 2050 12:00:00 GMT", 3_600),
    ])
    func `a pause in seconds is limited to between one second and one hour`(text: String, seconds: Int) {
        #expect(answer(["retry-after": text]).retryAfter(now: ManualClock.noon) == .seconds(seconds))
    }

    @Test func `a date is measured by the clock of its server`() {
        let headers = ["Retry-After": "Sat, 21 Nov 2026 09:00:20 GMT", "Date": "Sat, 21 Nov 2026 09:00:00 GMT"]

        #expect(answer(headers).retryAfter(now: ManualClock.noon) == .seconds(20))
    }

    @Test(arguments: ["", "-5", "5.5", "soon", "5 seconds", "+5"])
    func `an invalid value is ignored`(text: String) {
        #expect(answer(["retry-after": text]).retryAfter(now: ManualClock.noon) == nil)
    }

    private func answer(_ headers: [String: String]) -> HTTPAnswer {
        HTTPAnswer(status: 503, headers: headers.map { ($0, $1) }, body: SharedSecret(text: ""), place: "example.com")
    }
}
