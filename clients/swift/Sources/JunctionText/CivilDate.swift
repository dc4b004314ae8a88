/// A day of the proleptic Gregorian calendar. It uses only arithmetic, so no time zone, locale or calendar of the
/// machine can affect it.
///
/// The algorithm is from Howard Hinnant, "chrono-compatible low-level date algorithms". The calendar repeats in eras of
/// 400 years. A year that begins on the first of March has its leap day last, so the lengths of months need no table.
package struct CivilDate: Hashable, Sendable {
    package let year: Int64
    /// 1 to 12.
    package let month: Int64
    /// 1 to 31.
    package let day: Int64

    /// Makes a day from its parts; `nil` if the calendar has no such day.
    package init?(year: Int64, month: Int64, day: Int64) {
        guard Self.years.contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        // Only a valid day survives the conversion to a day number and back.
        guard Self(dayNumber: dayNumber) == self else { return nil }
    }

    /// Makes the day that is `dayNumber` days after 1970-01-01.
    package init(dayNumber: Int64) {
        let (era, dayOfEra) = floorDivide(dayNumber + Self.daysBeforeEpoch, by: Self.daysOfEra)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = era * 400 + yearOfEra + (month > 2 ? 0 : 1)
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    }

    /// Splits a time in seconds since 1970 into its day and the second of that day.
    package static func split(seconds: Int64) -> (date: CivilDate, second: Int64) {
        let (day, second) = floorDivide(seconds, by: 86_400)
        return (CivilDate(dayNumber: day), second)
    }

    /// The number of days since 1970-01-01.
    package var dayNumber: Int64 {
        let (era, yearOfEra) = floorDivide(month > 2 ? year : year - 1, by: 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * Self.daysOfEra + dayOfEra - Self.daysBeforeEpoch
    }

    // The years with four digits, as in every text form of a date here.
    private static let years: ClosedRange<Int64> = 0...9_999
    private static let daysOfEra: Int64 = 146_097
    private static let daysBeforeEpoch: Int64 = 719_468
}

private func floorDivide(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}
