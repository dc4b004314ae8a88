/// Escapes text from outside (a user id, a provider's text, the body of an answer) for a terminal.
///
/// It escapes control characters, characters that change the direction of text, and characters without width. A
/// terminal would act on them, or show something else than the text. The escapes are those of JSON (`\u202e`), so
/// escaped JSON stays the same document.
enum TerminalText {
    /// Returns the bytes with escapes, or nil if none is needed. Line breaks and tabs stay, and a byte that is not
    /// UTF-8 becomes `\xff`.
    static func escaped(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        // Common text returns here, so that no copy of a token is made.
        guard !bytes.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == newline || $0 == tab }) else { return nil }
        var result: [UInt8] = []
        var position = 0
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                let next = position + encoded.count
                let isLineBreak = bytes[position] == carriageReturn && next < bytes.count && bytes[next] == newline
                if isLineBreak || scalar == "\n" || scalar == "\t" || !scalar.isUnsafeOnTerminal {
                    result += encoded
                } else {
                    result += Array(scalar.escaped.utf8)
                }
                position = next
            case .error(let length):
                for byte in bytes[position..<position + length] {
                    result += Array("\\x\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8)
                }
                position += length
            case .emptyInput:
                return result
            }
        }
    }

    private static let (tab, newline, carriageReturn) = (UInt8(0x09), UInt8(0x0A), UInt8(0x0D))
}

extension String {
    /// The text on one line and safe for a terminal: a space for each line break or tab, and an escape for other
    /// characters that `TerminalText` escapes.
    var onOneLine: String {
        guard unicodeScalars.contains(where: \.isUnsafeOnTerminal) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\n", "\r", "\t": result += " "
            case _ where scalar.isUnsafeOnTerminal: result += scalar.escaped
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension Unicode.Scalar {
    /// Whether a terminal would act on the character, reorder text or show nothing.
    fileprivate var isUnsafeOnTerminal: Bool {
        guard !(0x20..<0x7F).contains(value) else { return false }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }

    /// The JSON escape: `\u202e`, or two of them for a character above U+FFFF.
    fileprivate var escaped: String {
        UTF16.encode(self)!.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}
