/// A point in time as the wire writes it: RFC 3339, in UTC, to the millisecond.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var milliseconds: Int64

    /// Takes a point in time as a number.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// What a token without an end is said to live until: 9999-12-31T23:59:59Z.
    public static let never = Timestamp(milliseconds: 253_402_300_799_000)

    /// Orders by time.
    public static func < (earlier: Timestamp, later: Timestamp) -> Bool {
        earlier.milliseconds < later.milliseconds
    }
}

extension Timestamp: CustomStringConvertible {
    // The first and the last moment that four digits of a year can name.
    private static let earliest: Int64 = -62_167_219_200_000
    private static let latest: Int64 = 253_402_300_799_999

    /// The time like `2026-11-21T06:20:34Z`, with milliseconds only where there are some.
    ///
    /// Before the year 0 and after the year 9999, which RFC 3339 cannot write, it is the nearest that it can.
    public var description: String {
        let time = min(max(milliseconds, Self.earliest), Self.latest)
        let (day, inDay) = floorDivide(time, by: 86_400_000)
        let (year, month, dayOfMonth) = civilDate(ofDay: day)
        let (second, fraction) = (inDay / 1000, inDay % 1000)

        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
        let clock = "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
        return fraction == 0 ? "\(date)T\(clock)Z" : "\(date)T\(clock).\(padded(fraction, 3))Z"
    }

    /// Reads a time of RFC 3339 in any offset; what is finer than a millisecond is cut off.
    ///
    /// A leap second (`:60`) is the first second of the next minute, as it is for the system clock.
    public init?(_ text: String) {
        var scan = DigitScan(text.utf8)
        guard
            let year = scan.number(4), scan.skip("-"),
            let month = scan.number(2), scan.skip("-"),
            let day = scan.number(2), scan.skip("T") || scan.skip("t"),
            let hour = scan.number(2), scan.skip(":"),
            let minute = scan.number(2), scan.skip(":"),
            let second = scan.number(2),
            (1...12).contains(month), (1...daysInMonth(month, of: year)).contains(day),
            hour < 24, minute < 60, second < 61,
            let fraction = scan.skip(".") ? scan.thousandths() : 0,
            let offset = scan.offset(), scan.isAtEnd
        else { return nil }
        let days = dayNumber(year, month, day)
        milliseconds = (days * 86_400 + hour * 3600 + minute * 60 + second - offset * 60) * 1000 + fraction
    }
}

// The proleptic Gregorian calendar, counted in eras of 400 years that begin on the first of March: the leap day
// comes last in its year, so month lengths need no table. After Howard Hinnant, "chrono-compatible low-level date
// algorithms".

private let daysOfEra: Int64 = 146_097
private let daysBeforeEpoch: Int64 = 719_468

private func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let (era, yearOfEra) = floorDivide(month > 2 ? year : year - 1, by: 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * daysOfEra + dayOfEra - daysBeforeEpoch
}

private func civilDate(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = floorDivide(day + daysBeforeEpoch, by: daysOfEra)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = era * 400 + yearOfEra + (month > 2 ? 0 : 1)
    return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
}

private func daysInMonth(_ month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
}

private func floorDivide(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}

private func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

/// Reads fixed numbers of digits, and nothing else.
private struct DigitScan {
    private var rest: Substring.UTF8View

    init(_ text: String.UTF8View) {
        rest = text[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ mark: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: mark) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func number(_ digits: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// One digit or more after the decimal point, of which three count.
    mutating func thousandths() -> Int64? {
        guard var fraction = digit() else { return nil }
        var count = 1
        while let digit = digit() {
            if count < 3 { fraction = fraction * 10 + digit }
            count += 1
        }
        return count == 1 ? fraction * 100 : count == 2 ? fraction * 10 : fraction
    }

    /// `Z`, or hours and minutes east of Greenwich; in minutes.
    mutating func offset() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let isEast = skip("+")
        guard isEast || skip("-"), let hours = number(2), skip(":"), let minutes = number(2) else { return nil }
        guard hours < 24, minutes < 60 else { return nil }
        return (hours * 60 + minutes) * (isEast ? 1 : -1)
    }

    private mutating func digit() -> Int64? {
        guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        rest.removeFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }
}
