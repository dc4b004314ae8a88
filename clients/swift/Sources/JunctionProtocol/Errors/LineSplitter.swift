import Glibc

/// Finds the lines in a stream of bytes that arrives in pieces, without copying them.
///
/// A line ends with `\n` or `\r\n`; blank lines are skipped. The caller keeps the bytes and passes all bytes that are
/// not consumed yet. The splitter remembers how many of them it has already searched.
///
/// ```swift
/// var start = 0
/// while let line = splitter.nextLine(in: bytes, from: &start) { … }
/// // Bytes before `start` are consumed. Pass the rest again, followed by new bytes.
/// ```
package struct LineSplitter: Sendable {
    /// The longest line of a caller, in bytes. A peer can make the daemon keep this much. A sign-in token has a few
    /// kilobytes, and a body for `api.request` must fit.
    package static let longestLine = 1 << 20
    /// The longest line that the client accepts from the daemon: an answer of 8 MiB in which every byte is escaped.
    package static let longestAnswer = 6 * (8 << 20) + longestLine

    /// The result of a search.
    package enum Line: Equatable, Sendable {
        /// A line that is not blank, without its ending, as offsets into the passed bytes.
        case complete(Range<Int>)
        /// A line over the limit. It is reported once, as soon as its length is known, and skipped up to its end.
        case tooLong
    }

    /// The longest line, in bytes. A change also applies to the line that has begun.
    package var limit: Int
    /// The number of bytes after the start of the line that contain no line feed.
    private var searched = 0
    private var isDraining = false

    /// Makes a splitter at the beginning of a line.
    package init(limit: Int = LineSplitter.longestLine) {
        self.limit = limit
    }

    /// Returns the next line; `nil` if more bytes are needed.
    ///
    /// - Parameters:
    ///   - bytes: all received bytes that are not consumed, and possibly earlier ones.
    ///   - start: the offset of the first unconsumed byte. It is moved past all bytes that the caller may drop.
    ///   - atEnd: whether no bytes follow, so that the last line needs no line feed.
    package mutating func nextLine(
        in bytes: UnsafeRawBufferPointer,
        from start: inout Int,
        atEnd: Bool = false
    ) -> Line? {
        while start < bytes.count {
            let lineFeed = lineFeed(in: bytes, from: start + searched)
            let end = lineFeed ?? bytes.count
            let line = start..<withoutReturn(bytes, start..<end)
            let wasDraining = isDraining
            let isTooLong = line.count > limit

            if lineFeed == nil, !atEnd, !isDraining, !isTooLong {
                searched = bytes.count - start
                return nil
            }
            isDraining = lineFeed == nil && !atEnd
            start = lineFeed.map { $0 + 1 } ?? bytes.count
            searched = 0
            if wasDraining { continue }
            if isTooLong { return .tooLong }
            if !isBlank(bytes[line]) { return .complete(line) }
        }
        return nil
    }

    private func lineFeed(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress, start < bytes.count else { return nil }
        return memchr(base + start, 0x0A, bytes.count - start).map { UnsafeRawPointer($0) - base }
    }

    private func withoutReturn(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>) -> Int {
        !line.isEmpty && bytes[line.upperBound - 1] == UInt8(ascii: "\r") ? line.upperBound - 1 : line.upperBound
    }

    private func isBlank(_ line: Slice<UnsafeRawBufferPointer>) -> Bool {
        line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
    }
}
