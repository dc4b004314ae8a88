import Glibc

/// Finds the blank line that a head ends with, and so do chunks: behind it the next request begins.
///
/// It is no parser: where something else looks like that line, a piece is only shorter than it could be.
struct LineScanner {
    /// How much there is of the present line.
    private var length = 0
    private var endsWithCR = false
    /// The present line is the first since the last blank one.
    private var isFirst = true
    private var isAtBlankLine = false
    /// A line has ended without CR since the last blank one.
    private(set) var hasBareLineFeed = false

    private static let lineFeed = Int32(UInt8(ascii: "\n"))
    private static let carriageReturn = UInt8(ascii: "\r")

    /// How many bytes there are up to that line and with it; all of them where it is not among them.
    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Int {
        if isAtBlankLine { self = Self() }
        var rest = bytes[...]
        // Bodies pass here, too: what is no end of a line is not looked at one by one.
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
