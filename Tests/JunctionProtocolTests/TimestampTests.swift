import JunctionProtocol
import Testing

struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1, "1970-01-01T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (1_795_242_034_000, "2026-11-21T06:20:34Z"), (1_795_242_034_120, "2026-11-21T06:20:34.120Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"), (951_868_800_000, "2000-03-01T00:00:00Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00Z"), (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (4_107_456_000_000, "2100-02-28T00:00:00Z"), (-2_203_891_200_000, "1900-03-01T00:00:00Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (-62_167_219_200_000, "0000-01-01T00:00:00Z"),
            (1_735_689_599_000, "2024-12-31T23:59:59Z"),
        ] as [(Int64, String)]
    )
    func `a time is written and read`(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
        #expect(Timestamp(text) == Timestamp(milliseconds: milliseconds))
    }

    @Test func `a time that RFC 3339 cannot express becomes the nearest one that it can`() {
        #expect(Timestamp(milliseconds: .max).description == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(milliseconds: .min).description == "0000-01-01T00:00:00Z")
    }

    @Test(
        arguments: [
            ("2026-11-21T08:20:34+02:00", "2026-11-21T06:20:34Z"),
            ("2026-11-21T00:50:34-05:30", "2026-11-21T06:20:34Z"),
            ("2026-11-21t06:20:34z", "2026-11-21T06:20:34Z"), ("2026-11-21T06:20:34-00:00", "2026-11-21T06:20:34Z"),
            ("2026-11-21T06:20:34.5Z", "2026-11-21T06:20:34.500Z"),
            ("2026-11-21T06:20:34.12Z", "2026-11-21T06:20:34.120Z"),
            ("2026-11-21T06:20:34.999999999Z", "2026-11-21T06:20:34.999Z"),
            ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"), ("2026-11-21T06:20:34.000Z", "2026-11-21T06:20:34Z"),
        ]
    )
    func `every valid notation of a time is read`(_ text: String, _ same: String) {
        #expect(Timestamp(text)?.description == same)
    }

    @Test(
        arguments: [
            "", "2026", "2026-11-21", "2026-11-21T06:20:34", "2026-11-21 06:20:34Z", "2026-11-21T06:20Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-04-31T00:00:00Z", "2026-02-29T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+1:00",
            "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+01:60", "2026-01-01T00:00:00+0100",
            "2026-01-01T00:00:00ZZ", " 2026-01-01T00:00:00Z",
            "2026-1-1T00:00:00Z", "+2026-01-01T00:00:00Z", "２０26-01-01T00:00:00Z", "20260101T000000Z",
            "-001-01-01T00:00:00Z", "10000-01-01T00:00:00Z",
        ]
    )
    func `an invalid time is nil`(_ text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test func `every day of four centuries is written and read`() {
        for day in stride(from: Int64(-80_000), to: 80_000, by: 1) {
            let time = Timestamp(milliseconds: day * 86_400_000 + 43_200_000)
            #expect(Timestamp(time.description) == time)
        }
    }
}
