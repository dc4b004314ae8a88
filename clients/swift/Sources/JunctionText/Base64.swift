/// Base64 (RFC 4648), in the forms that this project uses.
package enum Base64 {
    /// The accepted forms of Base64.
    package enum Form: Sendable {
        /// Section 4: `+` and `/`, with padding. Every value has exactly one text.
        case standard
        /// Like `standard`, but the whole padding may be omitted.
        case standardMaybeUnpadded
        /// Section 5 without padding, as in a JWT (RFC 7515, section 2). Every value has exactly one text.
        case urlSafe
        /// Either alphabet, with or without padding, and with white space at any place.
        case lenient
    }

    /// Returns the most bytes that a text of this length can encode.
    package static func mostBytes(for characters: Int) -> Int { (characters + 3) / 4 * 3 }

    /// Returns the length of the padded text for this many bytes.
    package static func characters(for bytes: Int) -> Int { (bytes + 2) / 3 * 4 }

    /// Writes the text of a secret value, in the standard alphabet and with padding, to the front of `room`. `room`
    /// must have space for `characters(for:)`.
    ///
    /// - Returns: the number of written characters.
    package static func encode(_ bytes: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer) -> Int {
        encode(bytes, standardDigits, isPadded: true, into: room)
    }

    /// Returns the text in the standard alphabet, with padding.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        text(of: bytes, standardDigits, isPadded: true)
    }

    /// Returns the text in the URL-safe alphabet, without padding.
    package static func encodeURLSafe(_ bytes: some Sequence<UInt8>) -> String {
        text(of: bytes, urlSafeDigits, isPadded: false)
    }

    /// Returns the decoded bytes, or `nil` if the text does not have this form.
    ///
    /// Do not use this for secrets. The other `decode` writes to memory that the caller can wipe.
    package static func decode(_ text: some Collection<UInt8>, _ form: Form) -> [UInt8]? {
        [UInt8](capacity: mostBytes(for: text.count)) { decode(text, form, into: $0) }
    }

    /// Writes the decoded bytes to the front of `room`, which must have space for `mostBytes`.
    ///
    /// - Returns: the number of written bytes, or `nil` if the text does not have this form.
    package static func decode(
        _ text: some Sequence<UInt8>,
        _ form: Form,
        into room: UnsafeMutableRawBufferPointer
    ) -> Int? {
        var (written, digits, padding) = (0, 0, 0)
        var bits: UInt32 = 0
        for byte in text {
            if form == .lenient, isSpace(byte) { continue }
            if byte == UInt8(ascii: "="), form != .urlSafe {
                padding += 1
                continue
            }
            guard padding == 0, let value = value(of: byte, form) else { return nil }
            bits = bits << 6 | value
            digits += 1
            guard digits % 4 != 1 else { continue }
            room[written] = UInt8(truncatingIfNeeded: bits >> [0, 0, 4, 2][digits % 4])
            written += 1
        }
        // A single remaining digit has six bits, which is less than a byte.
        guard digits % 4 != 1, padding <= 2 else { return nil }
        if form == .lenient { return written }
        let isWhole = (digits + padding).isMultiple(of: 4)
        // Unused bits must be zero; otherwise, two texts would encode the same value.
        let spareBits: UInt32 = [0, 0, 15, 3][digits % 4]
        guard isWhole || padding == 0 && form != .standard, bits & spareBits == 0 else { return nil }
        return written
    }

    private static let standardDigits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlSafeDigits = Array(standardDigits.dropLast(2) + "-_".utf8)

    private static func text(of bytes: some Sequence<UInt8>, _ digits: [UInt8], isPadded: Bool) -> String {
        let bytes = Array(bytes)
        return String(unsafeUninitializedCapacity: characters(for: bytes.count)) { room in
            bytes.withUnsafeBytes { encode($0, digits, isPadded: isPadded, into: UnsafeMutableRawBufferPointer(room)) }
        }
    }

    private static func encode(
        _ bytes: UnsafeRawBufferPointer,
        _ digits: [UInt8],
        isPadded: Bool,
        into room: UnsafeMutableRawBufferPointer
    ) -> Int {
        var (written, bits, count): (Int, UInt32, Int) = (0, 0, 0)
        func write(_ digit: UInt8) {
            room[written] = digit
            written += 1
        }
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                write(digits[Int(bits >> count & 63)])
            }
        }
        if count > 0 { write(digits[Int(bits << (6 - count) & 63)]) }
        while isPadded, !written.isMultiple(of: 4) { write(UInt8(ascii: "=")) }
        return written
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private static func value(of byte: UInt8, _ form: Form) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): form == .urlSafe ? nil : 62
        case UInt8(ascii: "/"): form == .urlSafe ? nil : 63
        case UInt8(ascii: "-"): form == .urlSafe || form == .lenient ? 62 : nil
        case UInt8(ascii: "_"): form == .urlSafe || form == .lenient ? 63 : nil
        default: nil
        }
    }
}
