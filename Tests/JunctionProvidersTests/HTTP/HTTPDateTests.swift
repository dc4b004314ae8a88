import JunctionSession
import Testing

@testable import JunctionProviders

struct HTTPDateTests {
    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
        ("Sat, 21 Nov 2026 12:00:00 GMT", 1_795_262_400),
        ("Fri, 31 Dec 9999 23:59:60 GMT", 253_402_300_800),
    ])
    func `the IMF-fixdate format is parsed`(text: String, seconds: Int64) {
        #expect(HTTPDate.parse(text) == WallTime(milliseconds: seconds * 1_000))
    }

    @Test(arguments: [
        "", "soon", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08-49-37 GMT", "Sun, 06 Nov 1894 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
    ])
    func `any other text is refused`(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }
}
