/// Reads text in quotes, in the four forms of TOML.
extension TomlReader {
    /// Reads text that may have several lines.
    mutating func readText() throws(TomlFault) -> String {
        if take("\"\"\"") { return try readLines(endingWith: "\"", escapes: true) }
        if take("'''") { return try readLines(endingWith: "'", escapes: false) }
        return try readLineOfText()
    }

    /// Reads text on one line, which is the only form for keys.
    mutating func readLineOfText() throws(TomlFault) -> String {
        let quote: Unicode.Scalar = take("'") ? "'" : "\""
        if quote == "\"", !take("\"") { throw fault("expected text in quotes") }
        var text: [UInt8] = []
        while !take(quote) {
            if quote == "\"", take("\\") {
                try readEscape(into: &text)
            } else {
                guard let byte = takeByte(), !byte.isControl else {
                    throw fault("expected the quote that ends the text, on the same line")
                }
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func readLines(endingWith quote: Unicode.Scalar, escapes: Bool) throws(TomlFault) -> String {
        let end = String(repeating: String(quote), count: 3)
        let first = line
        var text: [UInt8] = []
        // A line break right after the opening quotes is not part of the text.
        _ = takeNewline()
        while !take(end) {
            if takeNewline() {
                text.append(UInt8(ascii: "\n"))
            } else if escapes, take("\\") {
                if !skipFoldedLines() { try readEscape(into: &text) }
            } else {
                guard let byte = takeByte(), !byte.isControl else {
                    throw TomlFault(line: first, message: "expected three quotes that end the text")
                }
                text.append(byte)
            }
        }
        // One or two quotes before the end belong to the text.
        for _ in 0..<2 where take(quote) { text += String(quote).utf8 }
        return String(decoding: text, as: UTF8.self)
    }

    /// Skips a backslash's line break and the blanks after it, which join the line with the next text.
    private mutating func skipFoldedLines() -> Bool {
        let beforeBlanks = self
        skipBlanks()
        guard takeNewline() else {
            self = beforeBlanks
            return false
        }
        repeat { skipBlanks() } while takeNewline()
        return true
    }

    private mutating func readEscape(into text: inout [UInt8]) throws(TomlFault) {
        switch takeByte() {
        case UInt8(ascii: "\""): text.append(UInt8(ascii: "\""))
        case UInt8(ascii: "\\"): text.append(UInt8(ascii: "\\"))
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "u"): text += try readScalar(digits: 4)
        case UInt8(ascii: "U"): text += try readScalar(digits: 8)
        default: throw fault("an escape that TOML does not have; write \\\\ for a backslash")
        }
    }

    private mutating func readScalar(digits: Int) throws(TomlFault) -> String.UTF8View {
        var number: UInt32 = 0
        for _ in 0..<digits {
            guard let digit = takeByte().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw fault("expected \(digits) hexadecimal digits")
            }
            number = number << 4 | UInt32(digit)
        }
        guard let scalar = Unicode.Scalar(number) else { throw fault("an escape that is no character") }
        return String(scalar).utf8
    }
}
