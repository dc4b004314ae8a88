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

    @Test func `every day of four centuries is written and read`() {
        for day in stride(from: Int64(-80_000), to: 80_000, by: 1) {
            let time = Timestamp(milliseconds: day * 86_400_000 + 43_200_000)
            #expect(Timestamp(time.description) == time)
        }
    }
}
