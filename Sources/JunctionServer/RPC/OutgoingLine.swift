import JunctionProtocol
import JunctionSecret
import NIOCore

/// A line that may contain bodies, which are written as the peer reads.
struct OutgoingLine {
    enum Part {
        case bytes([UInt8])
        case body(GatheredBody)
    }

    private(set) var parts: [Part]

    /// The bytes of the parts that are not bodies.
    private(set) var ownBytes = 0
    /// The bytes of the bodies, before they are escaped.
    private(set) var bodyBytes = 0

    init(_ bytes: [UInt8]) {
        parts = []
        append(.bytes(bytes))
    }

    init(_ answer: WireApiAnswer, _ body: GatheredBody, for id: WireRequestID) {
        var (beginning, end): ([UInt8], [UInt8]) = ([], [])
        beginning.beginApiAnswer(answer, bodyIsText: body.isText, for: id)
        end.endApiAnswer()
        self.init(beginning)
        append(.body(body))
        append(.bytes(end))
    }

    /// Makes the array of a batch's answers. There must be at least one.
    init(batch answers: [OutgoingLine]) {
        parts = []
        for (index, answer) in answers.enumerated() {
            append(.bytes([UInt8(ascii: index == 0 ? "[" : ",")]))
            for part in answer.parts { append(part) }
        }
        append(.bytes([UInt8(ascii: "]")]))
    }

    private mutating func append(_ part: Part) {
        switch part {
        case .bytes(let bytes): ownBytes += bytes.count
        case .body(let body): bodyBytes += body.count
        }
        parts.append(part)
    }

    mutating func drop() {
        let parts = parts
        self = OutgoingLine([])
        for part in parts {
            switch part {
            // Wipes the bytes in place, because no other code reads them.
            case .bytes(let bytes): bytes.withUnsafeBytes { wipe(UnsafeMutableRawBufferPointer(mutating: $0)) }
            case .body(let body): body.end()
            }
        }
    }
}
