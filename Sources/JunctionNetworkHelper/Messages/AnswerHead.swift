/// The status and the headers of an answer, unchanged. Names are tokens, and values have no control characters.
package struct AnswerHead: Sendable {
    package var status: UInt16
    package var headers: [(name: String, value: String)]

    package init(status: UInt16, headers: [(name: String, value: String)]) {
        self.status = status
        self.headers = headers
    }

    /// The longest encoded head, in bytes: more than servers send and more than most proxies allow.
    package static let longest = 1 << 17
    /// The most headers, because the daemon's work grows faster than their number.
    package static let mostHeaders = 256
}

extension AnswerHead {
    func write(into payload: inout Payload) {
        payload.append(status)
        payload.append(UInt16(clamping: headers.count))
        for header in headers {
            payload.append(header.name)
            payload.append(header.value)
        }
    }

    init(from reader: inout PayloadReader) throws(FormatFault) {
        status = try reader.number()
        guard (200..<600).contains(status) else { throw FormatFault("a status that is none") }
        headers = []
        let count = try reader.number(UInt16.self)
        guard count <= Self.mostHeaders else { throw FormatFault("more than \(Self.mostHeaders) headers") }
        for _ in 0..<count {
            // `text()` rejects control characters, so the value is valid.
            let (name, value) = (try reader.text(), try reader.text())
            guard FieldText.isToken(name.utf8) else { throw FormatFault("a header whose name is none") }
            headers.append((name, value))
        }
    }
}

extension AnswerHead {
    /// The length of the body that follows a head.
    package enum BodyLength: Equatable, Sendable {
        case exactly(UInt64)
        /// The body ends with its last chunk, or when the connection closes.
        case untilItsEnd
    }

    /// Returns the length of the body that follows this head (RFC 9112 section 6.3), for a request with this method.
    ///
    /// - Returns: `nil` if a `Content-Length` is not a number or if two of them differ. Two readers of such an answer
    ///   could disagree about its end.
    package func bodyLength(answering method: String) -> BodyLength? {
        var length = BodyLength.untilItsEnd
        if !headers.contains(where: { $0.name.lowercased() == "transfer-encoding" }) {
            for header in headers where header.name.lowercased() == "content-length" {
                guard let count = Self.length(header.value), [.untilItsEnd, .exactly(count)].contains(length) else {
                    return nil
                }
                length = .exactly(count)
            }
        }
        return method == "HEAD" || status == 204 || status == 304 ? .exactly(0) : length
    }

    /// Parses at most 18 digits and nothing else.
    private static func length(_ text: String) -> UInt64? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return UInt64(text)
    }
}
