/// Base64 in the two forms that a registration token needs: the usual one for a secret, the URL-safe one for a JWT.
enum Base64 {
    enum Alphabet {
        /// `+` and `/`; padding may be there or not.
        case usual
        /// `-` and `_`, without padding.
        case urlSafe
    }

    /// The URL-safe form of some bytes, without padding.
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(digits[Int(bits >> count & 63)])
            }
        }
        if count > 0 { text.append(digits[Int(bits << (6 - count) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes the bytes that a text stands for at the front of `room`, which has space for all of them.
    ///
    /// - Returns: how many bytes were written, or `nil` when the text is not in this form: every text has one meaning,
    ///   and every meaning one text.
    static func decode(
        _ text: some Sequence<UInt8>,
        _ alphabet: Alphabet,
        into room: UnsafeMutableRawBufferPointer
    ) -> Int? {
        var written = 0
        var bits: UInt32 = 0
        var digits = 0
        var padding = 0
        for byte in text {
            if byte == UInt8(ascii: "="), alphabet == .usual {
                padding += 1
                continue
            }
            guard padding == 0, let value = value(of: byte, alphabet) else { return nil }
            bits = bits << 6 | value
            digits += 1
            guard digits % 4 != 1 else { continue }
            room[written] = UInt8(truncatingIfNeeded: bits >> [0, 0, 4, 2][digits % 4])
            written += 1
        }
        let spareBits: UInt32 = [0, 0, 15, 3][digits % 4]
        let isComplete = padding == 0 || (digits + padding) % 4 == 0 && padding <= 2
        return digits % 4 != 1 && isComplete && bits & spareBits == 0 ? written : nil
    }

    /// The bytes that a part of a JWT stands for.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count) { room, count in
            let written = decode(text, .urlSafe, into: UnsafeMutableRawBufferPointer(room))
            isValid = written != nil
            count = written ?? 0
        }
        return isValid ? bytes : nil
    }

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static func value(of byte: UInt8, _ alphabet: Alphabet) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): alphabet == .usual ? 62 : nil
        case UInt8(ascii: "/"): alphabet == .usual ? 63 : nil
        case UInt8(ascii: "-"): alphabet == .urlSafe ? 62 : nil
        case UInt8(ascii: "_"): alphabet == .urlSafe ? 63 : nil
        default: nil
        }
    }
}
