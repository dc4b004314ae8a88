/// Status and headers of an answer, as they came. Names are tokens, and no value has a control character.
package struct AnswerHead: Sendable {
    package var status: UInt16
    package var headers: [(name: String, value: String)]

    package init(status: UInt16, headers: [(name: String, value: String)]) {
        self.status = status
        self.headers = headers
    }

    /// More than servers send, and more than most proxies let through.
    package static let longest = 1 << 17
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
        for _ in 0..<(try reader.number(UInt16.self)) {
            // A text of the format has no control character, so it can be a value.
            let (name, value) = (try reader.text(), try reader.text())
            guard FieldText.isToken(name.utf8) else { throw FormatFault("a header whose name is none") }
            headers.append((name, value))
        }
    }
}

extension AnswerHead {
    /// How much of a body follows a head.
    package enum BodyLength: Equatable, Sendable {
        case exactly(UInt64)
        /// The body has an end of its own: its last chunk, or the end of the connection.
        case untilItsEnd
    }

    /// Returns the length of the body that follows this head (RFC 9112 section 6.3), in answer to a request of this method.
    ///
    /// - Returns: `nil` for a `Content-Length` that is no number, or for two of them that differ: two readers of such an answer may
    ///   see its end in two places.
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

    /// Digits alone, and no more of them than a length of any body has.
    private static func length(_ text: String) -> UInt64? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return UInt64(text)
    }
}
