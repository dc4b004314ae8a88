import JunctionNetworkHelper

/// Assembles the status and the headers of the answer from the lines that libcurl delivers.
///
/// The first line of each head must be a status line, and no other line is read as one. The parser drops the heads of
/// interim answers (1xx), and the trailers after the final head.
struct IncomingHead {
    enum Reading {
        case incomplete
        case complete(AnswerHead)
        case unreadable
    }

    private(set) var status: UInt16 = 0
    private(set) var isComplete = false
    /// The status line has been read, but the empty line has not.
    private var isInHead = false
    private var headers: [(name: String, value: String)] = []
    /// Whether the last line was a header that was not skipped, so that the next line may continue its value.
    private var mayContinue = false
    private var count = 0

    mutating func take(_ line: UnsafeRawBufferPointer) -> Reading {
        guard !isComplete else { return .incomplete }
        count += line.count
        guard count <= AnswerHead.longest / 2 else { return .unreadable }
        let text = line.last == UInt8(ascii: "\n") ? line.dropLast() : line[...]
        let content = text.last == UInt8(ascii: "\r") ? text.dropLast() : text
        guard isInHead else {
            guard let status = Self.status(in: content) else { return .unreadable }
            (self.status, isInHead, mayContinue) = (status, true, false)
            return .incomplete
        }
        guard !content.isEmpty else { return ended() }
        // A line that begins with a blank continues the value before it (RFC 9112 section 5.2).
        if content.first.map(Self.isBlank) == true {
            let more = Self.text(content)
            guard mayContinue, !more.isEmpty else { return .incomplete }
            let value = headers[headers.count - 1].value
            headers[headers.count - 1].value = value.isEmpty ? more : "\(value) \(more)"
            return .incomplete
        }
        mayContinue = false
        // A line with an invalid name is skipped: other parsers might end the name at a different place.
        if let colon = content.firstIndex(of: UInt8(ascii: ":")), FieldText.isToken(content[..<colon]) {
            guard headers.count < AnswerHead.mostHeaders else { return .unreadable }
            headers.append((String(decoding: content[..<colon], as: UTF8.self), Self.text(content[(colon + 1)...])))
            mayContinue = true
        }
        return .incomplete
    }

    private mutating func ended() -> Reading {
        isInHead = false
        switch status {
        // After 101 the connection changes to another protocol, which no request asks for (RFC 9110 section 15.2.2).
        case 101: return .unreadable
        case 100..<200:
            headers = []
            return .incomplete
        case 200..<600:
            // libcurl would also inflate a compressed body, which may become much larger.
            guard codings.allSatisfy({ ["chunked", "identity", ""].contains($0) }) else { return .unreadable }
            isComplete = true
            return .complete(AnswerHead(status: status, headers: headers))
        default: return .unreadable
        }
    }

    private var codings: [String] {
        headers.filter { $0.name.lowercased() == "transfer-encoding" }
            .flatMap { $0.value.lowercased().split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" } }
    }

    /// Returns the three digits after the version (RFC 9112 section 4), or `nil` if the line is not a status line.
    private static func status(in line: Slice<UnsafeRawBufferPointer>) -> UInt16? {
        guard line.starts(with: "HTTP/".utf8), let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let digits = line[(space + 1)...].prefix { $0 != UInt8(ascii: " ") }
        guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + UInt16($1 - 0x30) }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns the value without surrounding spaces. Control characters become spaces, and invalid UTF-8 becomes
    /// U+FFFD.
    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        var trimmed = bytes.drop(while: isBlank)
        while let last = trimmed.last, isBlank(last) { trimmed.removeLast() }
        return String(decoding: trimmed.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
    }
}
