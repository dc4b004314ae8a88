import Glibc

/// Finds the blank line that ends a request head, or chunks. The next request begins after it.
///
/// This is not a parser. If other bytes look like a blank line, the piece is only shorter than it could be.
struct LineScanner {
    private var length = 0
    private var endsWithCR = false
    /// Whether the present line is the first one since the last blank line.
    private var isFirst = true
    private var isAtBlankLine = false
    /// Whether a line has ended without CR since the last blank line.
    private(set) var hasBareLineFeed = false

    private static let lineFeed = Int32(UInt8(ascii: "\n"))
    private static let carriageReturn = UInt8(ascii: "\r")

    /// Returns the number of bytes up to and including the blank line, or all bytes if there is none.
    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Int {
        if isAtBlankLine { self = Self() }
        var rest = bytes[...]
        // Bodies also pass here, so the search for line ends uses `memchr`.
        while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress,
            let end = memchr(start, Self.lineFeed, rest.count)
        {
            let count = UnsafeRawPointer(end) - start
            take(rest.prefix(count))
            rest = rest.dropFirst(count + 1)
            endLine()
            if isAtBlankLine { return rest.startIndex }
        }
        take(rest)
        return bytes.count
    }

    private mutating func take(_ bytes: Slice<UnsafeRawBufferPointer>) {
        guard let last = bytes.last else { return }
        length += bytes.count
        endsWithCR = last == Self.carriageReturn
    }

    private mutating func endLine() {
        if !endsWithCR { hasBareLineFeed = true }
        isAtBlankLine = endsWithCR && length == 1 && !isFirst
        (length, endsWithCR, isFirst) = (0, false, false)
    }
}
