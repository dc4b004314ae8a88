import JunctionNetworkHelper
import JunctionSecret
import JunctionSession
import NIOCore

/// Receives the answer to one request. The methods are called on the event loop, in this order, and never after
/// `ended`.
protocol AnswerReceiver: AnyObject {
    func head(_ head: AnswerHead)
    /// Receives a part of the body. When the receiver is done with it, it grants as many bytes again.
    func part(_ part: SharedSecret)
    /// Receives the end of the transfer.
    ///
    /// - Parameter sinceLeft: the time since the request left, if it did.
    func ended(_ outcome: Result<Void, Unavailability>, sinceLeft: Duration?)
}

/// One request from the daemon's side: the messages that were exchanged about it, and the body that is still to be
/// sent.
final class OutgoingTransfer {
    let number: UInt32
    let helperRequest: HelperRequest
    let limits: TransferLimits
    let receiver: any AnswerReceiver
    /// Whether a part of the request may have reached the server.
    var requestLeft = false
    /// When the transfer began, and the time of the first `leaving`.
    private let begunAt: NIODeadline
    private var leftAt: NIODeadline?
    /// The number of `leaving` messages. There can be several, because a kept connection may turn out to be dead.
    private var departures = 0
    /// The last time at which bytes moved, as far as the helper reported it, or at which the daemon kept the helper
    /// waiting.
    var movedAt: NIODeadline
    /// The response timeout: gives up a helper that sends nothing more.
    var responseTimer: Scheduled<Void>?

    private var unsent: ArraySlice<UInt8>
    private let secret: SharedSecret?
    let upload: BodyStream?
    /// Whether the daemon has sent the end of the body.
    var hasSentEnd: Bool
    private var sent = 0
    private var room = Flow.window
    /// The length of the answer's body, after its head has arrived.
    private var bodyLength: AnswerHead.BodyLength?
    private var received = 0
    private var answerRoom = Flow.window

    init(
        _ number: UInt32,
        _ helperRequest: HelperRequest,
        _ limits: TransferLimits,
        _ receiver: any AnswerReceiver,
        at now: NIODeadline
    ) {
        (self.number, self.helperRequest, self.limits, self.receiver) = (number, helperRequest, limits, receiver)
        (begunAt, movedAt) = (now, now)
        switch helperRequest.call.body {
        case .plain(let bytes): (unsent, secret, upload) = (bytes[...], nil, nil)
        case .secret(let box): (unsent, secret, upload) = ([], box, nil)
        case .streamed(let stream): (unsent, secret, upload) = ([], nil, stream)
        case nil: (unsent, secret, upload) = ([], nil, nil)
        }
        hasSentEnd = upload == nil && unsent.isEmpty && secret.map { $0.count == 0 } ?? true
    }

    var call: HTTPCall { helperRequest.call }
    /// The name of the server for messages.
    var place: String { call.origin.place }

    /// Checks whether a message is allowed now, and records it. The helper parses untrusted input, so the daemon itself
    /// enforces the order and the limits of an answer. A message that moves no bytes is not allowed.
    func accepts(_ message: HelperMessage) -> Bool {
        switch message {
        case .hello: return false
        case .credit(let count):
            // Never more than was sent.
            guard count > 0, room + Int(count) <= Flow.window else { return false }
            room += Int(count)
        case .leaving:
            guard bodyLength == nil, departures < mostDepartures else { return false }
            departures += 1
            requestLeft = true
            leftAt = leftAt ?? .now()
        case .head(let head):
            guard requestLeft, bodyLength == nil else { return false }
            bodyLength = head.bodyLength(answering: call.method)
            guard bodyLength != nil else { return false }
        case .body(let part):
            guard part.count > 0, part.count <= answerRoom, part.count <= mostToCome else { return false }
            answerRoom -= part.count
            received += part.count
        case .end:
            switch bodyLength {
            case .exactly(let length): return UInt64(received) == length
            case .untilItsEnd: return true
            case nil: return false
            }
        // A request that has left cannot be unsent.
        case .failed(let failure): requestLeft = requestLeft || failure.requestLeft
        }
        movedAt = .now()
        return true
    }

    /// The most bytes that the rest of the answer may have: none before the head, and never more than the head
    /// announced.
    private var mostToCome: Int {
        let left = call.longestAnswer - received
        return switch bodyLength {
        case .exactly(let length): min(left, Int(clamping: length) - received)
        case .untilItsEnd: left
        case nil: 0
        }
    }

    /// Records that the receiver has granted more bytes of the answer.
    func grant(_ count: Int) {
        answerRoom += count
    }

    /// The deadline of the helper's next message. It is fixed until the request leaves. After that each message extends
    /// it, at most to `end`.
    var responseDeadline: NIODeadline {
        guard leftAt != nil else { return begunAt + .milliseconds(Int64(limits.resolve) + Int64(limits.connect)) }
        return min(movedAt + .milliseconds(Int64(limits.silence)), end)
    }

    /// Whether no bytes have moved for `silence`. Otherwise the whole limit has passed.
    var isSilent: Bool {
        leftAt == nil || movedAt + .milliseconds(Int64(limits.silence)) <= .now()
    }

    /// The time by which a helper that keeps the limits has reported the outcome.
    private var end: NIODeadline {
        guard let leftAt, limits.whole > 0 else { return .distantFuture }
        return leftAt + .milliseconds(Int64(limits.whole))
    }

    /// Returns the next part of the body that the helper has space for, or `nil`.
    func nextPart() -> SharedSecret? {
        if let upload {
            let part = upload.take(atMost: min(room, Flow.longestPart)) { SharedSecret(copying: $0) }
            room -= part?.count ?? 0
            return part
        }
        let left = length - sent
        let count = min(left, room, Flow.longestPart)
        guard count > 0 else { return nil }
        defer {
            sent += count
            room -= count
        }
        if let secret {
            return secret.withUnsafeBytes { SharedSecret(copying: .init(rebasing: $0[sent..<sent + count])) }
        }
        return unsent.withUnsafeBytes { SharedSecret(copying: .init(rebasing: $0[sent..<sent + count])) }
    }

    var hasSentAll: Bool { upload.map { $0.end == .complete } ?? (sent == length) }

    /// Whether the daemon must act before anything can move: grant more bytes of the answer, or send more of the body.
    /// This time does not count against the helper.
    var waitsForUs: Bool {
        answerRoom < 2 * Flow.longestPart || upload != nil && !hasSentEnd && room == Flow.window
    }
    private var length: Int { secret?.count ?? unsent.count }

    /// The time since the request left, if the helper reported that.
    var sinceLeft: Duration? { leftAt.map { .nanoseconds((NIODeadline.now() - $0).nanoseconds) } }

    private var body: TransferRequest.Body {
        if let upload { return upload.length.map { .bytes($0) } ?? .streamed }
        return call.body == nil ? .none : .bytes(UInt64(length))
    }

    /// Returns the request as a message for the helper.
    func request(userAgent: String) -> TransferRequest {
        var headers = call.headers.map { (name: $0.name, value: SharedSecret(text: $0.value)) }
        headers += call.credentials
        headers.append((name: "user-agent", value: SharedSecret(text: userAgent)))
        return TransferRequest(
            method: call.method,
            url: call.origin.url + call.target,
            headers: headers,
            body: body,
            mayBeRepeated: helperRequest.mayBeRepeated,
            limits: limits
        )
    }

    /// libcurl retries with at most five other connections (CONN_MAX_RETRIES).
    private var mostDepartures: Int { helperRequest.mayBeRepeated ? 6 : 1 }
}
