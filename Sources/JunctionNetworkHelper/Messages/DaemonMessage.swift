package import JunctionSecret

/// A message from the daemon to the network helper.
package enum DaemonMessage: Sendable {
    /// The first message. It names the version of the format.
    case hello(version: UInt16)
    /// The network settings for every transfer that begins after this message.
    case settings(NetworkSettings)
    /// Begins a transfer: one request and its answer.
    case open(TransferRequest)
    /// The next part of the request's body. Never more than the helper has granted.
    case body(SharedSecret)
    /// The request's body is complete.
    case end
    /// The helper may send this many more bytes of the answer's body.
    case credit(UInt32)
    /// The daemon no longer needs this transfer.
    case cancel

    /// The version of the format that this program uses. Every change of a message increases it.
    package static let version: UInt16 = 1
}

extension DaemonMessage: FramedMessage {
    package enum Kind: UInt8, FrameKind {
        case hello = 1
        case settings, open, body, end, credit, cancel

        package var longestPayload: Int {
            switch self {
            case .hello: 2
            case .settings: NetworkSettings.longest
            case .open: TransferRequest.longest
            case .body: Flow.longestPart
            case .credit: 4
            case .end, .cancel: 0
            }
        }
    }

    package var kind: Kind {
        switch self {
        case .hello: .hello
        case .settings: .settings
        case .open: .open
        case .body: .body
        case .end: .end
        case .credit: .credit
        case .cancel: .cancel
        }
    }

    package var payload: Payload {
        var payload = Payload()
        switch self {
        case .hello(let version): payload.append(version)
        case .settings(let settings): settings.write(into: &payload)
        case .open(let request): request.write(into: &payload)
        case .body(let bytes): payload = Payload(bytes)
        case .credit(let count): payload.append(count)
        case .end, .cancel: break
        }
        return payload
    }

    package init(_ kind: Kind, _ payload: SharedSecret) throws(FormatFault) {
        var reader = PayloadReader(payload)
        switch kind {
        case .hello: self = .hello(version: try reader.number())
        case .settings: self = .settings(try NetworkSettings(from: &reader))
        case .open: self = .open(try TransferRequest(from: &reader))
        case .body:
            self = .body(payload)
            return
        case .end: self = .end
        case .credit: self = .credit(try reader.number())
        case .cancel: self = .cancel
        }
        try reader.end()
    }
}
