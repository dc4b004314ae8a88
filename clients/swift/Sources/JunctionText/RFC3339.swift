/// Parses the times of RFC 3339, such as `2026-11-21T06:20:34.592Z`.
package enum RFC3339 {
    /// Returns the milliseconds since 1970-01-01T00:00:00Z, or `nil` if the text is no such time. The text may have any
    /// offset. Digits after the milliseconds are cut off.
    ///
    /// A leap second (`:60`) becomes the first second of the next minute, as in the system clock.
    package static func milliseconds(_ text: String) -> Int64? {
        var text = text
        return text.withUTF8 { milliseconds(of: $0) }
    }

    private static func milliseconds(of text: UnsafeBufferPointer<UInt8>) -> Int64? {
        var scan = DigitScan(rest: text[...])
        guard
            let year = scan.number(4), scan.skip("-"),
            let month = scan.number(2), scan.skip("-"),
            let day = scan.number(2), scan.skip("T") || scan.skip("t"),
            let hour = scan.number(2), scan.skip(":"),
            let minute = scan.number(2), scan.skip(":"),
            let second = scan.number(2),
            let date = CivilDate(year: year, month: month, day: day),
            hour < 24, minute < 60, second < 61,
            let fraction = scan.skip(".") ? scan.thousandths() : 0,
            let offset = scan.offset(), scan.isAtEnd
        else { return nil }
        return (date.dayNumber * 86_400 + hour * 3600 + minute * 60 + second - offset * 60) * 1000 + fraction
    }
}

/// Parses numbers with a fixed count of digits.
private struct DigitScan {
    var rest: Slice<UnsafeBufferPointer<UInt8>>

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

    /// Parses the digits after the decimal point. At least one is required, and three count.
    mutating func thousandths() -> Int64? {
        guard var fraction = digit() else { return nil }
        var count = 1
        while let digit = digit() {
            if count < 3 { fraction = fraction * 10 + digit }
            count += 1
        }
        return count == 1 ? fraction * 100 : count == 2 ? fraction * 10 : fraction
    }

    /// Parses `Z`, or hours and minutes east of Greenwich. Returns minutes.
    mutating func offset() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let isEast = skip("+")
        guard isEast || skip("-"), let hours = number(2), skip(":"), let minutes = number(2) else { return nil }
        guard hours < 24, minutes < 60 else { return nil }
        return (hours * 60 + minutes) * (isEast ? 1 : -1)
    }

    private mutating func digit() -> Int64? {
        guard let byte = rest.first, byte.isASCIIDigit else { return nil }
        rest.removeFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }
}
