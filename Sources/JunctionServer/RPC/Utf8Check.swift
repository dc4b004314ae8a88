import JunctionText

/// Checks whether bytes that arrive in pieces are UTF-8 (RFC 3629).
struct Utf8Check {
    /// Whether all bytes so far can be UTF-8.
    private var isPossible = true
    /// The missing bytes of the unfinished character.
    private var missing = 0
    /// The valid range of the next byte of this character.
    private var next: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether all bytes so far are UTF-8 and the last character is complete.
    var isText: Bool { isPossible && missing == 0 }

    mutating func take(_ bytes: UnsafeRawBufferPointer) {
        guard isPossible else { return }
        for byte in bytes {
            if missing > 0 {
                guard next.contains(byte) else { return isPossible = false }
                (missing, next) = (missing - 1, 0x80...0xBF)
            } else if byte >= 0x80 {
                guard let tail = byte.tailInUTF8 else { return isPossible = false }
                (missing, next) = tail
            }
        }
    }
}
