/// Checks whether bytes that arrive in pieces are UTF-8 (RFC 3629).
struct Utf8Check {
    /// Whether all bytes so far can be UTF-8.
    private var isPossible = true
    /// The missing bytes of the unfinished character.
    private var missing = 0
    /// The valid range of the next byte. The first byte excludes overlong forms, surrogates and values above U+10FFFF.
    private var next: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether all bytes so far are UTF-8 and the last character is complete.
    var isText: Bool { isPossible && missing == 0 }

    mutating func take(_ bytes: UnsafeRawBufferPointer) {
        guard isPossible else { return }
        for byte in bytes {
            if missing > 0 {
                guard next.contains(byte) else { return isPossible = false }
                (missing, next) = (missing - 1, 0x80...0xBF)
            } else if byte >= 0x80, !begin(byte) {
                return isPossible = false
            }
        }
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: (missing, next) = (1, 0x80...0xBF)
        case 0xE0: (missing, next) = (2, 0xA0...0xBF)
        case 0xED: (missing, next) = (2, 0x80...0x9F)
        case 0xE1...0xEF: (missing, next) = (2, 0x80...0xBF)
        case 0xF0: (missing, next) = (3, 0x90...0xBF)
        case 0xF1...0xF3: (missing, next) = (3, 0x80...0xBF)
        case 0xF4: (missing, next) = (3, 0x80...0x8F)
        default: return false
        }
        return true
    }
}
