/// Status and headers of an answer, as they came.
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
            headers.append((name: try reader.text(), value: try reader.text()))
        }
    }
}
