import Foundation
import JunctionText
import Testing

@testable import RegistrationToken

@Suite struct UTCDayTests {
    @Test(
        arguments: [
            (0, "19700101"), (86_399, "19700101"), (86_400, "19700102"), (951_782_399, "20000228"),
            (951_782_400, "20000229"), (951_868_800, "20000301"), (1_514_851_199, "20180101"),
            (1_514_851_200, "20180102"),
            (1_514_937_599, "20180102"), (1_514_937_600, "20180103"), (1_709_164_800, "20240229"),
            (1_735_689_599, "20241231"), (1_735_689_600, "20250101"), (4_107_542_399, "21000228"),
            (4_107_542_400, "21000301"), (253_402_300_799, "99991231"),
        ] as [(Int64, String)]
    )
    func `a day begins and ends at midnight UTC`(time: Int64, digits: String) {
        #expect(UTCDay(of: time).digits == digits)
    }

    @Test func `the arithmetic agrees with the calendar for four centuries`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for day in stride(from: Int64(0), to: 146_097 * 2, by: 13) {
            let date = Date(timeIntervalSince1970: Double(day * 86_400 + 43_200))
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            let year = try #require(parts.year)
            let expected = try year * 10_000 + #require(parts.month) * 100 + #require(parts.day)
            #expect(UTCDay(of: day * 86_400 + 43_200).digits == String(expected))
        }
    }

    /// Kiritimati is 14 hours ahead of UTC and Niue 11 hours behind: the two always have different days.
    @Test func `the time zone of the machine does not change the tokens`() async {
        // In a separate process, because the variable applies to the whole process.
        await #expect(processExitsWith: .success) {
            for zone in ["Pacific/Kiritimati", "Pacific/Niue", "Asia/Kathmandu", "Europe/Berlin", "UTC"] {
                setenv("TZ", zone, 1)
                tzset()
                try UTCDayTests.checkTokens(in: zone)
            }
        }
    }

    private static func checkTokens(in zone: String) throws {
        for (time, day) in [(1_514_851_199, "20180101"), (1_514_851_200, "20180102")] as [(Int64, String)] {
            let token = try RegistrationToken(applicationKey: "k", userId: "foo", issuedAt: time)
            let jwt = token.signed(with: try Published.secret)
            let header = try #require(Base64.decode(jwt.split(separator: ".")[0].utf8, .urlSafe))

            #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"HS256","kid":"hkdfv1-\#(day)"}"#, "\(zone)")
            #expect(try RegistrationToken.verify(jwt.utf8, with: Published.secret, at: time) == token, "\(zone)")
        }
        let published = try RegistrationToken.verify(
            Published.sorted.utf8,
            with: Published.secret,
            at: Published.now
        )
        #expect(published.userId == "foo", "\(zone)")
    }
}
