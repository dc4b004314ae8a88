/// A calendar day in UTC, by arithmetic alone: no time zone, locale or calendar of the machine can change it.
///
/// The vendor's own Android sample asks the device for its time zone, and mints tokens that are refused for part of
/// every day. A key that depends on the date cannot come from a formatter with defaults.
struct UTCDay: Equatable, Sendable {
    /// Eight digits, `YYYYMMDD`.
    let digits: String

    /// The points in time, in seconds since 1970, whose year has four digits.
    static let seconds: ClosedRange<Int64> = 0...253_402_300_799

    /// The day that a point in time belongs to; it has to be one of `seconds`.
    init(of time: Int64) {
        precondition(Self.seconds.contains(time), "A day was asked for that eight digits cannot name")
        // The Gregorian calendar repeats every 400 years; years begin in March so that the leap day is the last one.
        let day = time / 86_400 + 719_468
        let era = day / 146_097
        let dayOfEra = day % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1

        let text = String(year * 10_000 + month * 100 + dayOfMonth)
        digits = String(repeating: "0", count: 8 - text.utf8.count) + text
    }
}
