/// A word without quotes: a number, a boolean or a date.
enum TomlWord {
    /// Returns the value of a word, or `nil` if TOML has no such word.
    static func value(of word: [UInt8]) -> SettingValue? {
        switch String(decoding: word, as: UTF8.self) {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "inf", "+inf", "-inf", "nan", "+nan", "-nan": return .other("a number with a fraction")
        case let text:
            if let integer = integer(text) { return .integer(integer) }
            if isDate(word) || isTime(word) { return .other("a date or time") }
            return isFraction(word)
                ? .other("a number with a fraction") : isTooLarge(word) ? .other("a number too large") : nil
        }
    }

    /// Whether a word begins like `1979-05-27`.
    static func isDate(_ word: [UInt8]) -> Bool {
        word.count >= 10 && word.prefix(4).allSatisfy(\.isDigit) && word[4] == UInt8(ascii: "-")
    }

    /// Whether a word begins like `07:32`.
    private static func isTime(_ word: [UInt8]) -> Bool {
        word.count >= 5 && word.prefix(2).allSatisfy(\.isDigit) && word[2] == UInt8(ascii: ":")
    }

    private static func integer(_ text: String) -> Int64? {
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where text.hasPrefix(prefix) {
            return digits(Array(text.utf8.dropFirst(2)), radix: radix).flatMap { Int64($0, radix: radix) }
        }
        let isSigned = text.hasPrefix("+") || text.hasPrefix("-")
        guard let magnitude = digits(Array(text.utf8.dropFirst(isSigned ? 1 : 0)), radix: 10) else { return nil }
        // TOML forbids leading zeros: some readers take 010 for eight, others for ten.
        guard magnitude == "0" || !magnitude.hasPrefix("0") else { return nil }
        return Int64((text.hasPrefix("-") ? "-" : "") + magnitude)
    }

    /// Whether the word has digits and a point or an exponent. It need not be well formed, because no setting takes a
    /// fraction.
    private static func isFraction(_ word: [UInt8]) -> Bool {
        word.contains { ".eE".utf8.contains($0) } && word.contains(where: \.isDigit)
            && word.allSatisfy { $0.isDigit || "+-_.eE".utf8.contains($0) }
    }

    private static func isTooLarge(_ word: [UInt8]) -> Bool {
        let magnitude = word.drop { "+-".utf8.contains($0) }
        return magnitude.count > 18 && magnitude.first != UInt8(ascii: "0") && magnitude.allSatisfy(\.isDigit)
    }

    /// Returns the digits without the single underscores between them, or `nil` for anything else.
    private static func digits(_ word: [UInt8], radix: Int) -> String? {
        let groups = word.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        guard groups.allSatisfy({ !$0.isEmpty }) else { return nil }
        let digits = groups.joined()
        let areDigits = digits.allSatisfy { byte in
            (Character(Unicode.Scalar(byte)).hexDigitValue ?? radix) < radix
        }
        return areDigits ? String(decoding: Array(digits), as: UTF8.self) : nil
    }
}
