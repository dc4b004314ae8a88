package import JunctionSecret

/// What the daemon says to its courier.
package enum DaemonMessage: Sendable {
    /// The first message: which version of the format follows.
    case hello(version: UInt16)
    /// How the network is to be used, for every transfer that begins after it.
    case settings(NetworkSettings)
    /// One transfer begins: a request is made and its answer brought.
    case open(TransferRequest)
    /// More of the request's body. No more than the courier has made space for.
    case body(SharedSecret)
    /// The request's body is complete.
    case end
    /// There is space for so many more bytes of the answer's body.
    case credit(UInt32)
    /// Nobody waits for this transfer any more.
    case cancel

    /// The version of the format that this program speaks. Any change of a message is another version.
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
