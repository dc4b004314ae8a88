package import JunctionSecret

/// A message from the network helper to the daemon.
package enum HelperMessage: Sendable {
    /// The first message. It names the version of the format.
    case hello(version: UInt16)
    /// The daemon may send this many more bytes of the request's body.
    case credit(UInt32)
    /// The helper is connected and sends the first byte of the request after this message. The server may act on the
    /// request from here on.
    case leaving
    /// The status and headers of the answer.
    case head(AnswerHead)
    /// The next part of the answer's body. Never more than the daemon has granted.
    case body(SharedSecret)
    /// The answer is complete.
    case end
    /// The transfer ended without a complete answer.
    case failed(TransferFailure)
}

extension HelperMessage: FramedMessage {
    package enum Kind: UInt8, FrameKind {
        // The numbers differ from those of the daemon's messages: a message that is sent back to its sender is invalid.
        case hello = 129
        case credit, leaving, head, body, end, failed

        package var longestPayload: Int {
            switch self {
            case .hello: 2
            case .credit: 4
            case .head: AnswerHead.longest
            case .body: Flow.longestPart
            case .failed: TransferFailure.longest
            case .leaving, .end: 0
            }
        }
    }

    package var kind: Kind {
        switch self {
        case .hello: .hello
        case .credit: .credit
        case .leaving: .leaving
        case .head: .head
        case .body: .body
        case .end: .end
        case .failed: .failed
        }
    }

    package var payload: Payload {
        var payload = Payload()
        switch self {
        case .hello(let version): payload.append(version)
        case .credit(let count): payload.append(count)
        case .head(let head): head.write(into: &payload)
        case .body(let bytes): payload = Payload(bytes)
        case .failed(let failure): failure.write(into: &payload)
        case .leaving, .end: break
        }
        return payload
    }

    package init(_ kind: Kind, _ payload: SharedSecret) throws(FormatFault) {
        var reader = PayloadReader(payload)
        switch kind {
        case .hello: self = .hello(version: try reader.number())
        case .credit: self = .credit(try reader.number())
        case .leaving: self = .leaving
        case .head: self = .head(try AnswerHead(from: &reader))
        case .body:
            self = .body(payload)
            return
        case .end: self = .end
        case .failed: self = .failed(try TransferFailure(from: &reader))
        }
        try reader.end()
    }
}
