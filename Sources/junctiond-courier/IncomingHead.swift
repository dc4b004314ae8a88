import JunctionCourier

/// Puts status and headers of the answer together from lines as libcurl hands them over.
///
/// The heads of interim answers (1xx) come first and are forgotten; what comes after the final one are trailers, which
/// nobody asked for.
struct IncomingHead {
    enum Reading {
        case incomplete
        case complete(AnswerHead)
        case unreadable
    }

    private(set) var status: UInt16 = 0
    private(set) var isComplete = false
    private var headers: [(name: String, value: String)] = []
    private var count = 0

    mutating func take(_ line: UnsafeRawBufferPointer) -> Reading {
        guard !isComplete else { return .incomplete }
        count += line.count
        guard count <= AnswerHead.longest / 2 else { return .unreadable }
        let text = line.last == UInt8(ascii: "\n") ? line.dropLast() : line[...]
        let content = text.last == UInt8(ascii: "\r") ? text.dropLast() : text
        guard !content.isEmpty else { return ended() }
        if content.starts(with: "HTTP/".utf8) {
            (status, headers) = (Self.status(in: content), [])
        } else if let colon = content.firstIndex(of: UInt8(ascii: ":")), Self.isToken(content[..<colon]) {
            headers.append((String(decoding: content[..<colon], as: UTF8.self), Self.text(content[(colon + 1)...])))
        }
        return .incomplete
    }

    private mutating func ended() -> Reading {
        switch status {
        case 100..<200: return .incomplete
        case 200..<600:
            isComplete = true
            return .complete(AnswerHead(status: status, headers: headers))
        default: return .unreadable
        }
    }

    /// The three digits after the version (RFC 9112 §4); zero when they are none.
    private static func status(in line: Slice<UnsafeRawBufferPointer>) -> UInt16 {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return 0 }
        let digits = line[(space + 1)...].prefix { $0 != UInt8(ascii: " ") }
        guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return 0 }
        return digits.reduce(0) { $0 * 10 + UInt16($1 - 0x30) }
    }

    /// Whether it is the name of a header (RFC 9110 §5.1). What is none is left out: what one reader skips is another one's
    /// end of the name.
    private static func isToken(_ name: Slice<UnsafeRawBufferPointer>) -> Bool {
        !name.isEmpty
            && name.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// Without the spaces around it; what is no text, or would begin a line, is shown as a gap.
    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        var trimmed = bytes.drop(while: isSpace)
        while let last = trimmed.last, isSpace(last) { trimmed.removeLast() }
        return String(decoding: trimmed.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
    }
}
