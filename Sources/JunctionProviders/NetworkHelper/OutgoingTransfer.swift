import JunctionCourier
import JunctionSecret
import JunctionSession
import NIOCore

/// Who wants the answer to one request; called on the event loop, in this order, and not after the end.
protocol AnswerReceiver: AnyObject {
    func head(_ head: AnswerHead)
    /// A part of the body. Whoever is done with it makes space for as much again.
    func part(_ part: SharedSecret)
    ///
    /// - Parameter sinceLeft: how long ago the request left, if it did.
    func ended(_ outcome: Result<Void, Unavailability>, sinceLeft: Duration?)
}

/// One request on its way, as the daemon sees it: what has been said about it, and what there is still to say.
final class OutgoingTransfer {
    let number: UInt32
    let errand: Errand
    let limits: TransferLimits
    let receiver: any AnswerReceiver
    /// Any of the request may have reached the server.
    var requestLeft = false
    /// When it began, and when it was said to leave first.
    private let begunAt: NIODeadline
    private var leftAt: NIODeadline?
    /// How often it was said to leave: a connection that was kept may turn out to be dead.
    private var departures = 0
    /// Something came or went at this time, as far as the courier said; or we were who kept it waiting.
    var movedAt: NIODeadline
    /// Ends the waiting for a courier that says nothing any more.
    var vigil: Scheduled<Void>?

    private var unsent: ArraySlice<UInt8>
    private let secret: SharedSecret?
    /// What is sent while it comes.
    let upload: BodyStream?
    /// The courier knows that there is no more.
    var hasSaidEnd: Bool
    private var sent = 0
    private var room = Flow.window
    /// How much of a body the answer has, once its head is there.
    private var bodyLength: AnswerHead.BodyLength?
    private var received = 0
    private var answerRoom = Flow.window

    init(
        _ number: UInt32,
        _ errand: Errand,
        _ limits: TransferLimits,
        _ receiver: any AnswerReceiver,
        at now: NIODeadline
    ) {
        (self.number, self.errand, self.limits, self.receiver) = (number, errand, limits, receiver)
        (begunAt, movedAt) = (now, now)
        switch errand.call.body {
        case .plain(let bytes): (unsent, secret, upload) = (bytes[...], nil, nil)
        case .secret(let box): (unsent, secret, upload) = ([], box, nil)
        case .streamed(let stream): (unsent, secret, upload) = ([], nil, stream)
        case nil: (unsent, secret, upload) = ([], nil, nil)
        }
        hasSaidEnd = upload == nil && unsent.isEmpty && secret.map { $0.count == 0 } ?? true
    }

    var call: HttpCall { errand.call }
    /// The server that it is for, in words.
    var place: String { call.origin.place }

    /// Whether a message can be meant as it is said, which is noted then: the courier reads what strangers send, so the order
    /// of an answer and its bounds are not left to it. What moves nothing is no message either.
    func expects(_ message: CourierMessage) -> Bool {
        switch message {
        case .hello: return false
        case .credit(let count):
            // No more than what was sent makes space.
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
        // What has left cannot be called back.
        case .failed(let failure): requestLeft = requestLeft || failure.requestLeft
        }
        movedAt = .now()
        return true
    }

    /// How much more of the answer may come: none before its head, and never more than was announced.
    private var mostToCome: Int {
        let left = call.longestAnswer - received
        return switch bodyLength {
        case .exactly(let length): min(left, Int(clamping: length) - received)
        case .untilItsEnd: left
        case nil: 0
        }
    }

    /// Somebody is done with so much of the answer.
    func makeRoom(_ count: Int) {
        answerRoom += count
    }

    /// Until when a courier that keeps the limits has said something of it again. Before the request leaves nothing that it
    /// says moves this, and after that nothing moves it beyond `end`.
    var nextWord: NIODeadline {
        guard leftAt != nil else { return begunAt + .milliseconds(Int64(limits.resolve) + Int64(limits.connect)) }
        return min(movedAt + .milliseconds(Int64(limits.silence)), end)
    }

    /// Whether nothing has moved for as long as that is allowed, rather than that the whole has taken too long.
    var hasFallenSilent: Bool {
        leftAt == nil || movedAt + .milliseconds(Int64(limits.silence)) <= .now()
    }

    /// Until when such a courier has said how it ended.
    private var end: NIODeadline {
        guard let leftAt, limits.whole > 0 else { return .distantFuture }
        return leftAt + .milliseconds(Int64(limits.whole))
    }

    /// The next part of the body that there is space for; the last one is followed by nothing.
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

    /// Nothing can move before we do something: make space for more of the answer, or bring more of the body. What we wait for
    /// ourselves then is not the courier's fault.
    var waitsForUs: Bool {
        answerRoom < 2 * Flow.longestPart || upload != nil && !hasSaidEnd && room == Flow.window
    }
    private var length: Int { secret?.count ?? unsent.count }

    /// How long ago the request left, if that was said.
    var sinceLeft: Duration? { leftAt.map { .nanoseconds((NIODeadline.now() - $0).nanoseconds) } }

    private var body: TransferRequest.Body {
        if let upload { return upload.length.map { .bytes($0) } ?? .streamed }
        return call.body == nil ? .none : .bytes(UInt64(length))
    }

    /// The request as the courier wants it.
    func request(userAgent: String) -> TransferRequest {
        var headers = call.headers.map { (name: $0.name, value: SharedSecret(text: $0.value)) }
        headers += call.credentials
        headers.append((name: "user-agent", value: SharedSecret(text: userAgent)))
        return TransferRequest(
            method: call.method,
            url: call.origin.url + call.target,
            headers: headers,
            body: body,
            mayBeRepeated: errand.mayBeRepeated,
            limits: limits
        )
    }

    /// libcurl takes five other connections at the most (CONN_MAX_RETRIES).
    private var mostDepartures: Int { errand.mayBeRepeated ? 6 : 1 }
}
