import Glibc

/// Finds the lines in a stream of bytes that arrives in pieces, without copying them.
///
/// A line ends with `\n` or `\r\n`; blank lines are passed over. The caller keeps the bytes: it shows the splitter
/// all it has not consumed yet, and the splitter remembers how much of that it has searched already.
///
/// ```swift
/// var start = 0
/// while let line = splitter.nextLine(in: bytes, from: &start) { … }
/// // Bytes before `start` are done with; show the rest again, with what comes next behind it.
/// ```
package struct LineSplitter: Sendable {
    /// What a peer may make us hold before it has said anything: a sign-in token has a few kilobytes, and a body
    /// for `api.request` must still fit.
    package static let longestLine = 1 << 20
    /// What the client accepts from the daemon: an answer of 8 MiB in which every byte had to be escaped.
    package static let longestAnswer = 6 * (8 << 20) + longestLine

    /// What was found.
    package enum Line: Equatable, Sendable {
        /// A line that is not blank, without its ending: offsets into the bytes that were shown.
        case complete(Range<Int>)
        /// A line over the limit. It is reported once, as soon as it is known, and dropped up to its end.
        case tooLong
    }

    /// The most bytes of one line. A change counts for the line that has begun, too.
    package var limit: Int
    /// How many bytes after the start of the line are known to hold no line feed.
    private var searched = 0
    private var isDraining = false

    /// Starts at the beginning of a line.
    package init(limit: Int = LineSplitter.longestLine) {
        self.limit = limit
    }

    /// Finds the next line, or nothing until more bytes have come.
    ///
    /// - Parameters:
    ///   - bytes: all that was received and not consumed, and possibly more before that.
    ///   - start: where the unconsumed bytes begin; moved past everything that the caller may forget.
    ///   - atEnd: whether nothing follows `bytes`, so that a last line needs no line feed.
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
