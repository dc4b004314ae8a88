import JunctionText

/// A calendar day in UTC. It uses only arithmetic, so no time zone, locale or calendar of the machine can affect it.
///
/// The vendor's Android sample uses the time zone of the device, and its tokens are refused for part of every day. So a
/// key that depends on the date must not use a date formatter with defaults.
struct UTCDay: Equatable, Sendable {
    /// The date in eight digits, `YYYYMMDD`.
    let digits: String

    /// The supported times, in seconds since 1970: up to the end of the year 9999.
    static let seconds: ClosedRange<Int64> = 0...253_402_300_799

    /// Makes the day of a time, which must be one of `seconds`.
    init(of time: Int64) {
        precondition(Self.seconds.contains(time), "A day was asked for that eight digits cannot name")
        let date = CivilDate.split(seconds: time).date
        let text = String(date.year * 10_000 + date.month * 100 + date.day)
        digits = String(repeating: "0", count: 8 - text.utf8.count) + text
    }
}
