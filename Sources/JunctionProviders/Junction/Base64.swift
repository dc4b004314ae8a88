import JunctionSecret

/// Base64 as it arrives in real life: either alphabet, with or without padding, with line breaks.
enum Base64 {
    /// The bytes that the text stands for, or `nil` when it is not Base64.
    static func decode(_ text: UnsafeRawBufferPointer) -> SharedSecret? {
        var isValid = true
        let decoded = Secret(capacity: text.count / 4 * 3 + 3) { room in
            var written = 0
            var bits: UInt32 = 0
            var digits = 0
            var padding = 0
            for byte in text where !isSpace(byte) {
                if byte == UInt8(ascii: "=") {
                    padding += 1
                    continue
                }
                guard padding == 0, let digit = value(of: byte) else {
                    isValid = false
                    return 0
                }
                bits = bits << 6 | digit
                digits += 1
                if digits % 4 != 1 {
                    room[written] = UInt8(truncatingIfNeeded: bits >> (digits % 4 == 2 ? 4 : digits % 4 == 3 ? 2 : 0))
                    written += 1
                }
            }
            // One digit left over holds six bits, which is no byte.
            isValid = digits % 4 != 1 && padding <= 2
            return isValid ? written : 0
        }
        return isValid ? SharedSecret(decoded) : nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private static func value(of byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
