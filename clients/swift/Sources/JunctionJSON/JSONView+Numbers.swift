extension JSONView {
    /// The value of a whole number that fits. `60`, `60.0` and `6e1` are equal.
    package var integer: Int64? { wholeNumber() }

    /// The value of a whole number that is not negative and fits.
    package var unsigned: UInt64? { wholeNumber() }

    /// The value of a number, rounded to the nearest `Double`; `nil` if it is too large.
    package var double: Double? {
        guard kind == .number else { return nil }
        if let exact = exactDouble(rawText) { return exact }
        guard let value = Double(String(decoding: rawText, as: UTF8.self)), value.isFinite else { return nil }
        return value
    }

    private func wholeNumber<Whole: FixedWidthInteger>() -> Whole? {
        guard kind == .number else { return nil }
        if node.isPlain { return digits(rawText) }
        // Above 2^53, adjacent whole numbers have the same Double. Such numbers must be written as integers.
        guard let double, double.magnitude <= 0x1p53 else { return nil }
        return Whole(exactly: double)
    }
}

/// Returns the value of `-?[0-9]+`, or `nil` if it does not fit.
private func digits<Whole: FixedWidthInteger>(_ text: UnsafeRawBufferPointer) -> Whole? {
    let isNegative = text.first == UInt8(ascii: "-")
    var value: Whole = 0
    for byte in isNegative ? text.dropFirst() : text[...] {
        let digit = Whole(byte - UInt8(ascii: "0"))
        let (product, overflow) = value.multipliedReportingOverflow(by: 10)
        let (sum, overflows) =
            isNegative
            ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
        guard !overflow, !overflows else { return nil }
        value = sum
    }
    return value
}

/// Returns the value of a plain decimal of at most fifteen digits. Both parts are exact, so the division rounds only
/// once.
private func exactDouble(_ text: UnsafeRawBufferPointer) -> Double? {
    guard text.count <= 16 else { return nil }
    var mantissa: Int64 = 0
    var scale = 1.0
    var isFraction = false
    for byte in text {
        switch byte {
        case UInt8(ascii: "-"): continue
        case UInt8(ascii: "."): isFraction = true
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            mantissa = mantissa * 10 + Int64(byte - UInt8(ascii: "0"))
            if isFraction { scale *= 10 }
        default: return nil
        }
    }
    guard mantissa < 1 << 53 else { return nil }
    let value = Double(mantissa) / scale
    return text.first == UInt8(ascii: "-") ? -value : value
}
