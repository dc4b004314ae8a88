import JunctionCourier

/// Puts status and headers of the answer together from lines as libcurl hands them over.
///
/// The first line of a head is its status line, and no other line is one. The heads of interim answers (1xx) come first and are
/// dropped, and so are the trailers that may come after the final head.
struct IncomingHead {
    enum Reading {
        case incomplete
        case complete(AnswerHead)
        case unreadable
    }

    private(set) var status: UInt16 = 0
    private(set) var isComplete = false
    /// The status line has been read, and the empty line has not.
    private var isInHead = false
    private var headers: [(name: String, value: String)] = []
    private var count = 0

    mutating func take(_ line: UnsafeRawBufferPointer) -> Reading {
        guard !isComplete else { return .incomplete }
        count += line.count
        guard count <= AnswerHead.longest / 2 else { return .unreadable }
        let text = line.last == UInt8(ascii: "\n") ? line.dropLast() : line[...]
        let content = text.last == UInt8(ascii: "\r") ? text.dropLast() : text
        guard isInHead else {
            guard let status = Self.status(in: content) else { return .unreadable }
            (self.status, isInHead) = (status, true)
            return .incomplete
        }
        guard !content.isEmpty else { return ended() }
        // A line whose name is none is left out: what one reader skips is another one's end of the name.
        if let colon = content.firstIndex(of: UInt8(ascii: ":")), FieldText.isToken(content[..<colon]) {
            headers.append((String(decoding: content[..<colon], as: UTF8.self), Self.text(content[(colon + 1)...])))
        }
        return .incomplete
    }

    private mutating func ended() -> Reading {
        isInHead = false
        switch status {
        // What follows would be another protocol, and no request asks for one (RFC 9110 section 15.2.2).
        case 101: return .unreadable
        case 100..<200:
            headers = []
            return .incomplete
        case 200..<600:
            isComplete = true
            return .complete(AnswerHead(status: status, headers: headers))
        default: return .unreadable
        }
    }

    /// The three digits after the version (RFC 9112 section 4); `nil` where the line is no status line.
    private static func status(in line: Slice<UnsafeRawBufferPointer>) -> UInt16? {
        guard line.starts(with: "HTTP/".utf8), let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let digits = line[(space + 1)...].prefix { $0 != UInt8(ascii: " ") }
        guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + UInt16($1 - 0x30) }
    }

    /// Without the spaces around it; what is no text, or would begin a line, is shown as a gap.
    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        var trimmed = bytes.drop(while: isSpace)
        while let last = trimmed.last, isSpace(last) { trimmed.removeLast() }
        return String(decoding: trimmed.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
    }
}
