/// Finds the blank line that a head ends with, and so do chunks: behind it the next request begins.
///
/// It is no parser: where something else looks like that line, a piece is only shorter than it could be.
struct LineScanner {
    /// How much of CR LF CR LF has been seen.
    private var matched = 0
    /// A line has ended without CR since the last blank line.
    private(set) var hasBareLineFeed = false

    /// How many bytes there are up to that line and with it; all of them where it is not among them.
    mutating func scan(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        if matched == 4 { self = Self() }
        var count = 0
        for byte in bytes {
            count += 1
            take(byte)
            if matched == 4 { break }
        }
        return count
    }

    private mutating func take(_ byte: UInt8) {
        switch (byte, matched) {
        case (UInt8(ascii: "\r"), 2): matched = 3
        case (UInt8(ascii: "\r"), _): matched = 1
        case (UInt8(ascii: "\n"), 1), (UInt8(ascii: "\n"), 3): matched += 1
        case (UInt8(ascii: "\n"), _): (matched, hasBareLineFeed) = (0, true)
        case (_, _): matched = 0
        }
    }
}
