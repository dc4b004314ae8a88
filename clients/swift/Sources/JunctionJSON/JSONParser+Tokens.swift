import JunctionText

extension JSONParser {
    /// Skips a number according to the grammar. Returns whether it has neither fraction nor exponent.
    mutating func skipNumber() throws(JSONFault) -> Bool {
        if peek() == UInt8(ascii: "-") { position += 1 }
        if peek() == UInt8(ascii: "0") {
            position += 1
        } else {
            try skipDigits()
        }
        var isInteger = true
        if peek() == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try skipDigits()
        }
        if peek() | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { position += 1 }
            try skipDigits()
        }
        return isInteger
    }

    private mutating func skipDigits() throws(JSONFault) {
        guard isDigit(peek()) else { throw .malformed(at: position) }
        repeat { position += 1 } while isDigit(peek())
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10
    }

    /// Skips a string with its quotes. Returns whether it has no escapes.
    mutating func skipString() throws(JSONFault) -> Bool {
        var isPlain = true
        position += 1
        while true {
            position = endOfPlainCharacters
            let byte = peek()
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return isPlain
            case UInt8(ascii: "\\"):
                isPlain = false
                try skipEscape()
            case 0x80...:
                try skipScalar(leadByte: byte)
            default:
                throw .malformed(at: position)
            }
        }
    }

    /// The end of the characters of a string that have one byte and are neither an escape nor the closing quote.
    private var endOfPlainCharacters: Int {
        var end = position
        while end < count, 0x20..<0x80 ~= text[end], text[end] != UInt8(ascii: "\""), text[end] != UInt8(ascii: "\\") {
            end += 1
        }
        return end
    }

    /// Skips one escape. A surrogate must be the first of a pair, and its second one is skipped, too.
    private mutating func skipEscape() throws(JSONFault) {
        let start = position
        position += 1
        switch peek() {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            let unit = try skipHexUnit()
            guard unit & 0xF800 == 0xD800 else { return }
            guard unit < 0xDC00, peek() == UInt8(ascii: "\\") else { throw .malformed(at: start) }
            position += 1
            guard peek() == UInt8(ascii: "u"), try skipHexUnit() & 0xFC00 == 0xDC00 else {
                throw .malformed(at: start)
            }
        default:
            throw .malformed(at: position)
        }
    }

    private mutating func skipHexUnit() throws(JSONFault) -> UInt32 {
        position += 1
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Hexadecimal.value(of: peek()) else { throw .malformed(at: position) }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }

    /// Skips one scalar of two to four bytes. It must have the shortest form, be at most U+10FFFF and be no surrogate.
    private mutating func skipScalar(leadByte: UInt8) throws(JSONFault) {
        guard let (tail, second) = leadByte.tailInUTF8, position + tail < count, second.contains(text[position + 1])
        else { throw .notUTF8(at: position) }
        for offset in 1...tail where text[position + offset] & 0xC0 != 0x80 {
            throw .notUTF8(at: position)
        }
        position += 1 + tail
    }
}
