extension UInt8 {
    /// The number of bytes after this first byte of a character in UTF-8 (RFC 3629), and the valid range of the next
    /// one. `nil` if no character of several bytes begins with this byte.
    ///
    /// The range excludes overlong forms, surrogates and values above U+10FFFF. The bytes after the next one are in
    /// `0x80...0xBF`.
    package var tailInUTF8: (count: Int, next: ClosedRange<UInt8>)? {
        switch self {
        case 0xC2...0xDF: (1, 0x80...0xBF)
        case 0xE0: (2, 0xA0...0xBF)
        case 0xED: (2, 0x80...0x9F)
        case 0xE1...0xEF: (2, 0x80...0xBF)
        case 0xF0: (3, 0x90...0xBF)
        case 0xF1...0xF3: (3, 0x80...0xBF)
        case 0xF4: (3, 0x80...0x8F)
        default: nil
        }
    }
}
