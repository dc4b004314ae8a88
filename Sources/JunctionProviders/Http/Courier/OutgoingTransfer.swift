import JunctionCourier
import JunctionSecret
import NIOCore

/// Who wants the answer to one request; called on the event loop, in this order, and not after the end.
protocol AnswerReceiver: AnyObject {
    func head(_ head: AnswerHead)
    /// A part of the body. Whoever is done with it makes room for as much again.
    func part(_ part: SharedSecret)
    ///
    /// - Parameter sinceLeft: how long ago the request left, if it did.
    func ended(_ outcome: Result<Void, HttpFailure>, sinceLeft: Duration?)
}

/// One request on its way, as the keeper sees it: what has been said about it, and what there is still to say.
final class OutgoingTransfer {
    let number: UInt32
    let call: HttpCall
    let limits: TransferLimits
    let receiver: any AnswerReceiver
    /// Any of the request may have reached the server.
    var requestLeft = false
    /// When it was said to leave first.
    private var leftAt: NIODeadline?
    /// The courier was heard about it at this time.
    var heard: NIODeadline
    /// Ends the waiting for a courier that says nothing any more.
    var vigil: Scheduled<Void>?

    private var unsent: ArraySlice<UInt8>
    private let secret: SharedSecret?
    private var sent = 0
    private var room = Flow.window
    private var hasHead = false
    private var received = 0
    private var answerRoom = Flow.window

    init(
        _ number: UInt32,
        _ call: HttpCall,
        _ limits: TransferLimits,
        _ receiver: any AnswerReceiver,
        at now: NIODeadline
    ) {
        (self.number, self.call, self.limits, self.receiver, heard) = (number, call, limits, receiver, now)
        switch call.body {
        case .plain(let bytes): (unsent, secret) = (bytes[...], nil)
        case .secret(let box): (unsent, secret) = ([], box)
        case nil: (unsent, secret) = ([], nil)
        }
    }

    /// Whether a message can be meant as it is said, which is noted then: the courier reads what strangers send, so the order
    /// of an answer and its bounds are not left to it.
    func expects(_ message: CourierMessage) -> Bool {
        switch message {
        case .hello: return false
        case .credit(let count):
            // No more than what was sent makes room.
            guard room + Int(count) <= Flow.window else { return false }
            room += Int(count)
        case .leaving:
            guard !hasHead else { return false }
            requestLeft = true
            leftAt = leftAt ?? .now()
        case .head:
            guard requestLeft, !hasHead else { return false }
            hasHead = true
        case .body(let part):
            guard hasHead, part.count <= answerRoom, part.count <= call.longestAnswer - received else { return false }
            answerRoom -= part.count
            received += part.count
        case .end: return hasHead
        // What has left cannot be called back.
        case .failed(let failure): requestLeft = requestLeft || failure.requestLeft
        }
        return true
    }

    /// Somebody is done with so much of the answer.
    func makeRoom(_ count: Int) {
        answerRoom += count
    }

    /// How long a courier that is awake says nothing about it at most.
    var longestSilence: TimeAmount {
        let limits = limits
        return .milliseconds(requestLeft ? Int64(limits.silence) : Int64(limits.resolve) + Int64(limits.connect))
    }

    /// The next part of the body that there is room for; the last one is followed by nothing.
    func nextPart() -> SharedSecret? {
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

    var hasSentAll: Bool { sent == length }
    private var length: Int { secret?.count ?? unsent.count }

    /// How long ago the request left, if that was said.
    var sinceLeft: Duration? { leftAt.map { .nanoseconds((NIODeadline.now() - $0).nanoseconds) } }

    /// The request as the courier wants it.
    func request(userAgent: String) -> TransferRequest {
        var headers = call.headers.map { (name: $0.name, value: SharedSecret(text: $0.value)) }
        headers += call.credentials
        headers.append((name: "user-agent", value: SharedSecret(text: userAgent)))
        return TransferRequest(
            method: call.method,
            url: call.origin.url + call.target,
            headers: headers,
            body: call.body == nil ? .none : .bytes(UInt64(length)),
            // Only what an app asks for: a vendor's own conversation is made of single outcomes.
            mayBeRepeated: call.isBulk && ["GET", "HEAD"].contains(call.method) && call.body == nil,
            limits: limits
        )
    }
}
