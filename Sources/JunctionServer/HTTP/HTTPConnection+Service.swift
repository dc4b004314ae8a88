import JunctionJSON
import JunctionProtocol
import JunctionSecret
import JunctionSession
import NIOCore
import NIOHTTP1

/// Serves an admitted request by the same rules as the JSON-RPC socket.
extension HTTPConnection {
    func start(_ exchange: HTTPExchange) {
        let method = exchange.method(of: exchange.request.aim)
        if let error = dispatcher.admit(method, of: caller) { return fail(exchange, error) }
        if case .page(let page, let target) = exchange.request.aim,
            let mismatch = page.method.definition.mismatch(inQuery: target.query.map(\.name))
        {
            return fail(exchange, .invalidParams(mismatch))
        }
        switch exchange.request.aim {
        case .api: if dispatcher.mayCall(caller) { startCall(exchange) } else { fail(exchange, .tooManyCalls) }
        case .page(.status, _): dispatcher.tellState(to: caller) { tell(exchange, .status, $0) }
        case .page(.token, let target): tellToken(exchange, target)
        case .page(.metrics, _): tell(exchange, .metrics, dispatcher.introspection.metricsText(dispatcher.tally).utf8)
        case .page(.events, let target): listen(exchange, target)
        case .page(.openapi, _):
            dispatcher.prepared.withOpenAPIDocument(of: dispatcher.introspection) { tell(exchange, .openapi, $0) }
        }
    }

    // MARK: Pages

    private func tell(_ exchange: HTTPExchange, _ page: HTTPPage, _ bytes: some Sequence<UInt8>) {
        let body = ByteBuffer(bytes: bytes)
        answer(exchange, AnswerFrame(page: page, count: body.readableBytes), body)
    }

    private func tellToken(_ exchange: HTTPExchange, _ target: RequestTarget) {
        let validity: Duration
        do throws(WireMismatch) {
            validity = try target.value("minimumValidity").map(TokenGet.Params.init(query:))?.validity ?? .zero
        } catch {
            return fail(exchange, .invalidParams(error))
        }
        if !dispatcher.handOutToken(to: caller, validFor: validity, { tell(exchange, .token, $0) }) {
            waitForToken(exchange, validity)
        }
    }

    private func waitForToken(_ exchange: HTTPExchange, _ validity: Duration) {
        charge(exchange, 0)
        dispatcher.waitForToken(for: caller, validFor: validity) { [self] outcome in
            discharge(exchange)
            guard isServing(exchange) else { return }
            switch outcome {
            case .success(let token):
                var writer = JSONWriter(capacity: token.secret.count + 256)
                AccessToken(token).write(to: &writer)
                writer.withUnsafeBytes { tell(exchange, .token, $0) }
                dispatcher.handedOutToken(to: caller, token.facts.generation)
            case .failure(let error): fail(exchange, error)
            }
        }
    }

    // MARK: The API

    private func startCall(_ exchange: HTTPExchange) {
        switch exchange.input {
        case .complete: call(exchange)
        // The body, of at most `mostKept` bytes, is gathered before the call.
        case .gathering: sayContinue(exchange)
        case .streaming(let body): call(exchange, upload: body)
        }
    }

    /// Sends `100 Continue` if the client waits for it before it sends the body.
    private func sayContinue(_ exchange: HTTPExchange) {
        guard isServing(exchange), exchange.request.expectsContinue, !exchange.hasSaidContinue, exchange.hasNoOutput
        else { return }
        exchange.hasSaidContinue = true
        write(.head(.init(version: .http1_1, status: .continue)))
        flush()
    }

    /// Calls the API, with a complete body or with one that is streamed.
    func call(_ exchange: HTTPExchange, body: [UInt8]? = nil, upload: BodyStream? = nil) {
        guard case .api(let target) = exchange.request.aim else { return }
        let waiting = NIOLoopBound((self, exchange), eventLoop: eventLoop)
        var request = JunctionSession.ApiRequest(
            method: exchange.head.method,
            path: target.path,
            query: target.query,
            headers: exchange.head.headers,
            body: body
        )
        request.bodyTransfer = .streamed(upload)
        // Each HTTP library adds its own headers.
        request.leavesOutOtherHeaders = true
        upload?.whenTaken { _ in
            let (connection, exchange) = waiting.value
            // Not from within the call of the code that takes the body.
            connection.eventLoop.execute { waiting.value.0.sayContinue(waiting.value.1) }
            if connection.isServing(exchange) { connection.workSoon() }
        } abandoned: {
            waiting.value.0.workSoon()
        }
        charge(exchange, body?.count ?? 0)
        // Other calls may have begun while the body was gathered, so the limit may be reached now.
        dispatcher.call(request, for: caller) { [self] outcome in
            switch outcome {
            case .success(let (answer, transfer)):
                exchange.transfer = transfer
                guard isServing(exchange) else {
                    answer.stream?.abandon()
                    return discharge(exchange)
                }
                pass(answer, exchange)
            case .failure(let error):
                discharge(exchange)
                if isServing(exchange) { fail(exchange, error) }
            }
        }
    }

    private func pass(_ answer: JunctionSession.ApiAnswer, _ exchange: HTTPExchange) {
        let frame = AnswerFrame(answer, toHead: exchange.isToHead)
        guard let stream = answer.stream, frame.hasBody else {
            discharge(exchange)
            answer.stream?.abandon()
            return self.answer(exchange, frame, ByteBuffer(bytes: answer.body))
        }
        send(frame, of: exchange)
        exchange.output = .streaming(stream)
        let reader = NIOLoopBound((self, exchange), eventLoop: eventLoop)
        stream.whenMore { reader.value.0.pump(reader.value.1) }
        flush()
        pump(exchange)
    }
}

extension HTTPExchange {
    fileprivate func method(of aim: AdmittedRequest.Aim) -> JunctionProtocol.Method {
        switch aim {
        case .api: .apiRequest
        case .page(let page, _): page.method
        }
    }
}

extension HTTPConnection {
    /// Charges the caller's account with a request until the end of its answer.
    private func charge(_ exchange: HTTPExchange, _ bodyBytes: Int) {
        let bytes = exchange.head.size + bodyBytes
        exchange.charge = bytes
        caller.requestBegan(bytes)
    }

    func discharge(_ exchange: HTTPExchange) {
        guard let bytes = exchange.charge else { return }
        exchange.charge = nil
        exchange.transfer?.end()
        caller.requestEnded(bytes)
    }
}

extension ByteBuffer {
    init(json problem: Problem) {
        var writer = JSONWriter(capacity: 512)
        problem.write(to: &writer)
        self = writer.withUnsafeBytes { ByteBuffer(bytes: $0) }
    }

    init(event snapshot: WireSnapshot) {
        var writer = JSONWriter(capacity: 1_024)
        snapshot.write(to: &writer)
        self = writer.withUnsafeBytes { ByteBuffer(event: $0) }
    }

    /// Encodes a state that is already JSON as a server-sent event.
    init(event json: UnsafeRawBufferPointer) {
        self.init()
        writeString("event: snapshot\ndata: ")
        writeBytes(json)
        writeString("\n\n")
    }
}
