import JunctionSession

/// One request over HTTP and its answer, as far as they have come.
final class HTTPExchange {
    let request: AdmittedRequest
    let head: RequestHead
    /// Another request may follow.
    var keepsAlive: Bool
    var input: Input
    var output = Output.nothing
    /// The bytes that its caller's account has been charged with, while it is answered later.
    var charge: Int?
    /// The call of the API, once there is an answer to it.
    var transfer: ApiTransfer?
    var hasSaidContinue = false
    /// How much of a body whose length is known is still to come.
    private(set) var left: UInt64 = 0

    /// How much of a body is gathered before the request goes on: one that is complete by then can be repeated after a renewal,
    /// and is what the API's rules are applied to. Of a longer one no more than this waits here at any time.
    static let mostKept = 1 << 16

    enum Input {
        /// It may be short.
        case gathering([UInt8])
        /// It goes on while it comes.
        case streaming(BodyStream)
        case complete
    }

    enum Output {
        /// Its answer is not known yet.
        case nothing
        /// It is handed on while it comes.
        case streaming(BodyStream)
        /// States are told until somebody ends it.
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
            // It is asked for when its path has been judged, which is when somebody takes it.
            case .chunked where request.expectsContinue: .streaming(BodyStream())
            case .length, .chunked: .gathering([])
            }
    }

    var isToHead: Bool { head.method == "HEAD" }

    var hasAllInput: Bool {
        if case .complete = input { true } else { false }
    }

    /// Whether more of the body is to be read now.
    var wantsInput: Bool {
        switch input {
        case .gathering: true
        case .streaming(let body): !body.isAbandoned && body.count < Self.mostKept && mayCome
        case .complete: false
        }
    }

    /// What comes next of the body.
    var portion: HTTPReadBuffer.Portion {
        if case .length = request.body { .bytes(left) } else { .lines }
    }

    /// So much of the body has come.
    func received(_ count: Int) {
        left -= min(left, UInt64(count))
    }

    /// Who waits for our word has nothing to send before it.
    private var mayCome: Bool { !request.expectsContinue || hasSaidContinue }

    /// How many bytes of its bodies are here.
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

    /// Whether some of a body is on its way: what is not is judged before it leaves, and before it is answered.
    var isPassing: Bool {
        if case .streaming = input { return true }
        if case .streaming = output { return true }
        return false
    }

    /// Whether nothing of the answer has been sent.
    var hasNoOutput: Bool {
        if case .nothing = output { true } else { false }
    }

    /// Nobody is there any more, or there is nothing more to say.
    func breakOff() {
        if case .streaming(let body) = input { body.finish(.broken(Unavailability("The app has broken off"))) }
        if case .streaming(let body) = output { body.abandon() }
    }
}
