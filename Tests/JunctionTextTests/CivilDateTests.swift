import Foundation
import JunctionText
import Testing

struct CivilDateTests {
    @Test func `the arithmetic agrees with Foundation's calendar over more than an era`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        // Begins in 1600: before that, Foundation's calendar is not always the Gregorian one.
        for day in stride(from: Int64(-135_000), to: 146_097 * 2, by: 13) {
            let parts = calendar.dateComponents(
                [.year, .month, .day],
                from: Date(timeIntervalSince1970: Double(day * 86_400))
            )
            let date = CivilDate(dayNumber: day)
            #expect(date.year == parts.year.map(Int64.init))
            #expect(date.month == parts.month.map(Int64.init))
            #expect(date.day == parts.day.map(Int64.init))
            #expect(date.dayNumber == day)
        }
    }

    @Test(arguments: [
        (1970, 1, 1, 0), (2000, 2, 29, 11_016), (2000, 3, 1, 11_017), (2100, 2, 28, 47_540), (2100, 3, 1, 47_541),
        (0, 1, 1, -719_528), (9999, 12, 31, 2_932_896),
    ])
    func `a day has its day number`(year: Int64, month: Int64, day: Int64, number: Int64) {
        #expect(CivilDate(year: year, month: month, day: day)?.dayNumber == number)
        #expect(CivilDate(dayNumber: number) == CivilDate(year: year, month: month, day: day))
    }

    @Test(arguments: [
        (2026, 2, 29), (2100, 2, 29), (2024, 2, 30), (2026, 4, 31), (2026, 1, 32), (2026, 1, 0), (2026, 0, 1),
        (2026, 13, 1), (2026, 1, -1), (-1, 12, 31), (10_000, 1, 1), (2026, 1, .max), (.max, 1, 1), (.min, 1, 1),
    ])
    func `an invalid day is nil`(year: Int64, month: Int64, day: Int64) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }

    @Test(arguments: [
        (0, 1970, 0), (86_399, 1970, 86_399), (-1, 1969, 86_399), (253_402_300_799, 9999, 86_399),
    ])
    func `a time is split into a day and a second`(seconds: Int64, year: Int64, second: Int64) {
        let (date, rest) = CivilDate.split(seconds: seconds)
        #expect(date.year == year)
        #expect(rest == second)
    }
}
