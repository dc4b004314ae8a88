import JunctionText

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
        let date = CivilDate.split(seconds: time).date
        let text = String(date.year * 10_000 + date.month * 100 + date.day)
        digits = String(repeating: "0", count: 8 - text.utf8.count) + text
    }
}
