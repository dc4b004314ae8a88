import JunctionText

/// Percent-encoding as RFC 3986 has it, strictly: only its unreserved characters stay as they are.
///
/// So `+` is always `%2B` and a space always `%20`, which a query and a form both read correctly.
enum PercentEncoding {
    /// Whether a byte is a letter, a digit or one of `-._~`.
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    /// Appends the encoded form of `bytes` at the front of `room`, which has space for three bytes each.
    ///
    /// - Returns: how many bytes were written.
    static func encode(_ bytes: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer) -> Int {
        var written = 0
        for byte in bytes {
            if isUnreserved(byte) {
                room[written] = byte
                written += 1
            } else {
                room[written] = UInt8(ascii: "%")
                room[written + 1] = Hexadecimal.upperCaseDigit(byte >> 4)
                room[written + 2] = Hexadecimal.upperCaseDigit(byte & 0xF)
                written += 3
            }
        }
        return written
    }

    /// The encoded form of text that is no secret.
    static func encode(_ text: String) -> String {
        var text = text
        return text.withUTF8 { bytes in
            String(unsafeUninitializedCapacity: bytes.count * 3) { room in
                encode(UnsafeRawBufferPointer(bytes), into: UnsafeMutableRawBufferPointer(room))
            }
        }
    }
}
