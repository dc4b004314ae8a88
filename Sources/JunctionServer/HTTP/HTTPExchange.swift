import JunctionSession

/// The progress of one HTTP request and its answer.
final class HTTPExchange {
    let request: AdmittedRequest
    let head: RequestHead
    var keepsAlive: Bool
    var input: Input
    var output = Output.nothing
    /// The bytes that the caller's account has been charged with until the answer has ended.
    var charge: Int?
    /// The API call, once its answer has begun.
    var transfer: ApiTransfer?
    var hasSaidContinue = false
    /// The bytes that are still to come of a body whose length is known.
    private(set) var left: UInt64 = 0

    /// The most bytes of a body that are gathered before the call. A body that is complete by then can be sent again
    /// after a renewal, and is checked by the API's rules. Of a longer body, at most this many bytes wait here at a
    /// time.
    static let mostKept = 1 << 16

    enum Input {
        /// The body may be short, and is gathered.
        case gathering([UInt8])
        /// The body is passed on while it arrives.
        case streaming(BodyStream)
        case complete
    }

    enum Output {
        case nothing
        /// The answer is passed on while it arrives.
        case streaming(BodyStream)
        /// States are sent until one side ends the answer.
        case events
        case complete
    }

    init(_ request: AdmittedRequest, _ head: RequestHead) {
        (self.request, self.head, keepsAlive) = (request, head, request.keepsAlive)
        if case .length(let length) = request.body { left = length }
        input =
            switch request.body {
            case .none: .complete
            case .length(let length) where length > UInt64(Self.mostKept): .streaming(BodyStream(length: length))
            // The client sends the body only after `100 Continue`. The daemon sends that when the path has been checked
            // and the body is taken.
            case .chunked where request.expectsContinue: .streaming(BodyStream())
            case .length, .chunked: .gathering([])
            }
    }

    var isToHead: Bool { head.method == "HEAD" }

    var hasAllInput: Bool {
        if case .complete = input { true } else { false }
    }

    var wantsInput: Bool {
        switch input {
        case .gathering: true
        case .streaming(let body): !body.isAbandoned && body.count < Self.mostKept && mayCome
        case .complete: false
        }
    }

    var portion: HTTPReadBuffer.Portion {
        if case .length = request.body { .bytes(left) } else { .lines }
    }

    func received(_ count: Int) {
        left -= min(left, UInt64(count))
    }

    /// Whether the client may send the body already. A client that waits for `100 Continue` sends nothing before it.
    private var mayCome: Bool { !request.expectsContinue || hasSaidContinue }

    /// The bytes of the request's and the answer's body that are kept here.
    var held: Int {
        let held =
            switch input {
            case .gathering(let kept): kept.count
            case .streaming(let body): body.count
            case .complete: 0
            }
        guard case .streaming(let body) = output else { return held }
        return held + body.count
    }

    /// Whether a part of a body is being passed on. For other requests, the right is checked before the call and before
    /// the answer.
    var isPassing: Bool {
        if case .streaming = input { return true }
        if case .streaming = output { return true }
        return false
    }

    var hasNoOutput: Bool {
        if case .nothing = output { true } else { false }
    }

    /// Stops passing on bodies: the client has gone, or the exchange is over.
    func breakOff() {
        if case .streaming(let body) = input { body.finish(.broken(Unavailability("The app has broken off"))) }
        if case .streaming(let body) = output { body.abandon() }
    }
}
