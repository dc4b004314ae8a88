import JunctionSession
import Testing

@testable import JunctionProviders

struct IsoTimeTests {
    @Test(arguments: [
        ("2023-01-12T12:02:28.592Z", 1_673_524_948_592), ("1970-01-01T00:00:00Z", 0),
        ("2026-11-21T12:00:00Z", 1_795_262_400_000), ("2026-11-21T13:30:00.5+01:30", 1_795_262_400_500),
        ("2026-11-21T07:00:00.123456789-05:00", 1_795_262_400_123), ("2024-02-29T00:00:00.000Z", 1_709_164_800_000),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000),
    ])
    func `a time is parsed in any zone and with any fraction`(text: String, milliseconds: Int64) {
        #expect(IsoTime.parse(text) == WallTime(milliseconds: milliseconds))
    }

    @Test(arguments: [
        "", "2026-11-21", "2026-11-21T12:00:00", "2026-11-21 12:00:00Z", "2026-11-21T12:00:00.Z",
        "2026-11-21T12:00:00.1234567890Z", "2026-11-21T12:00:00z", "2026-13-21T12:00:00Z", "2026-00-21T12:00:00Z",
        "2026-11-32T12:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T12:60:00Z", "2026-11-21T12:00:61Z",
        "2026-11-21T12:00:00+24:00", "2026-11-21T12:00:00+0100", "2026-11-21T12:00:00Zx", "1969-12-31T23:59:59Z",
        "+026-11-21T12:00:00Z", "2026-11-21T12:00:00 01:00", "1795262400",
    ])
    func `an invalid time is refused`(text: String) {
        #expect(IsoTime.parse(text) == nil)
    }
}
