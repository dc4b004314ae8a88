import Glibc
import JunctionProtocol
import JunctionSession
import NIOCore
import NIOHTTP1

/// The HTTP connection of one local program. It reads one request after the other, and only as much as it can pass on.
///
/// Everything happens on the event loop. Input that cannot be used yet waits in the read buffer; the connection itself
/// keeps at most one piece of it.
final class HTTPConnection {
    let caller: Caller
    let dispatcher: Dispatcher
    let eventLoop: any EventLoop
    let registry: ConnectionRegistry
    private(set) lazy var readBuffer = HTTPReadBuffer(dispatcher.scheduler) { [unowned self] in charge() }

    private(set) var context: ChannelHandlerContext?
    private var inbox: [Input] = []
    private var stage = Stage.waiting
    private var isWorking = false
    private var isWorkDue = false
    private var isReading = false
    private var isDraining = false
    private var isPumping = false
    private var hasMore = false

    /// Whether the peer has ended its output.
    private var peerHasEnded = false
    private var lingerTimer: Scheduled<Void>?

    private lazy var requestTimer = RequestTimer(of: self)
    private lazy var reader = ReaderWatch(of: self)
    /// Whether the connection receives new states, and the last one that it received.
    var watch = Watch.off

    private enum Input {
        case part(HTTPServerRequestPart)
        /// Input that is not valid HTTP.
        case malformed(RefusedRequest)
        case end
    }

    private enum Stage {
        case waiting
        case serving(HTTPExchange)
        /// The last answer is being written. Input is dropped until the peer has received the answer.
        case finishing
        /// The last answer was passed to the kernel.
        case lingering
        case closed
    }

    init(_ caller: Caller, registry: ConnectionRegistry, eventLoop: any EventLoop) {
        self.caller = caller
        dispatcher = registry.dispatcher
        self.registry = registry
        self.eventLoop = eventLoop
    }

    var exchange: HTTPExchange? {
        if case .serving(let exchange) = stage { exchange } else { nil }
    }

    func isServing(_ exchange: HTTPExchange) -> Bool { self.exchange === exchange }

    // MARK: Rights

    /// Whether the caller receives data that it has lost the right to.
    var usesWithdrawnRight: Bool {
        if watch != .off, !caller.may(.status) { return true }
        guard let exchange, exchange.isPassing else { return false }
        return !caller.may(.api) || !dispatcher.exposesApi
    }

    // MARK: Input

    /// Handles the input that can be handled now, and reads more if the connection can use it.
    private func work() {
        guard !isWorking else { return }
        isWorking = true
        var done = 0
        while done < inbox.count, take(inbox[done]) { done += 1 }
        // The handled input may have ended the connection, which empties the inbox.
        inbox.removeFirst(min(done, inbox.count))
        isWorking = false
        if inbox.isEmpty { readOn() }
        charge()
    }

    /// Calls `work` after the present work has finished.
    func workSoon() {
        guard !isWorkDue else { return }
        isWorkDue = true
        onLoop { connection in
            connection.isWorkDue = false
            connection.work()
        }
    }

    /// Returns whether the input was handled. If not, it waits.
    private func take(_ input: Input) -> Bool {
        switch stage {
        case .waiting:
            switch input {
            case .part(.head(let head)): return begin(head)
            case .part(.body), .part(.end): return true
            case .malformed(let refused): refuse(refused)
            case .end: end()
            }
            return true
        case .serving(let exchange):
            guard !exchange.hasAllInput else {
                // A request without a body also has an end part.
                if case .part(.end) = input { return true }
                return false
            }
            switch input {
            case .part(.head): return false
            case .part(.body(let bytes)): return take(bytes, of: exchange)
            case .part(.end): inputEnded(of: exchange)
            case .malformed(let refused): breakOff(exchange, refused)
            // The daemon ends. A client whose request was cut short gets no answer, and may repeat it.
            case .end where isDraining: close()
            case .end: breakOff(exchange, RefusedRequest(400, .invalidRequest, "The request ended before its body did"))
            }
            return true
        case .finishing: return true
        case .lingering:
            if case .end = input { close() }
            return true
        case .closed: return true
        }
    }

    private func begin(_ parsed: HTTPRequestHead) -> Bool {
        // While the client does not read, no further answer is begun.
        guard let context, context.channel.isWritable else { return false }
        requestTimer.restart(hasBegun: true)
        let head = RequestHead(
            method: parsed.method.rawValue,
            target: parsed.uri,
            headers: parsed.headers.map { (name: $0.name, value: $0.value) },
            isHTTP11: parsed.version == .http1_1
        )
        do throws(RefusedRequest) {
            if let error = dispatcher.startError { throw RefusedRequest(error) }
            let exchange = HTTPExchange(try RequestRules.admit(head), head)
            stage = .serving(exchange)
            start(exchange)
        } catch {
            refuse(error, toHead: head.method == "HEAD")
        }
        return true
    }

    private func take(_ bytes: ByteBuffer, of exchange: HTTPExchange) -> Bool {
        switch exchange.input {
        case .gathering(var kept):
            // The exchange gives up its array, so that the append does not copy it.
            exchange.input = .gathering([])
            kept += bytes.readableBytesView
            exchange.input = .gathering(kept)
            if kept.count > HTTPExchange.mostKept { streamInput(of: exchange, kept) }
        case .streaming(let body):
            guard body.isAbandoned || body.count < HTTPExchange.mostKept else { return false }
            bytes.withUnsafeReadableBytes { body.put($0) }
        case .complete: break
        }
        exchange.received(bytes.readableBytes)
        requestTimer.received(bytes.readableBytes)
        return true
    }

    /// Starts the call while the rest of the body arrives.
    private func streamInput(of exchange: HTTPExchange, _ kept: [UInt8]) {
        var length: UInt64?
        if case .length(let known) = exchange.request.body { length = known }
        let body = BodyStream(length: length)
        exchange.input = .streaming(body)
        kept.withUnsafeBytes { body.put($0) }
        call(exchange, upload: body)
    }

    private func inputEnded(of exchange: HTTPExchange) {
        let input = exchange.input
        exchange.input = .complete
        switch input {
        case .gathering(let kept): call(exchange, body: kept)
        case .streaming(let body): body.finish(.complete)
        case .complete: break
        }
        if case .complete = exchange.output { finish(exchange) }
        endInput()
    }

    /// Ends an exchange whose request is incomplete and will stay so.
    private func breakOff(_ exchange: HTTPExchange, _ refused: RefusedRequest) {
        exchange.keepsAlive = false
        exchange.breakOff()
        guard exchange.hasNoOutput else { return close() }
        refuse(refused, toHead: exchange.isToHead)
    }

    // MARK: Reading

    /// The input that the connection can use now.
    private var wanted: HTTPReadBuffer.Portion? {
        switch stage {
        case .waiting: .lines
        case .serving(let exchange): exchange.wantsInput ? exchange.portion : nil
        case .finishing, .lingering, .closed: nil
        }
    }

    private func readOn() {
        guard !isReading, let wanted else { return }
        isReading = true
        // A client that already receives an answer has no time limit for the rest of its request.
        if exchange?.hasNoOutput ?? true { requestTimer.wait() }
        readBuffer.ask(for: wanted)
    }

    /// A connection that keeps at most this many bytes is never closed because of its user's total.
    private static let exemptBytes = 1 << 15

    /// The bytes that are kept for the peer, here and in SwiftNIO.
    private var held: Int {
        if case .closed = stage { return 0 }
        let unparsed = inbox.isEmpty ? 0 : HTTPReadBuffer.longestPiece + inbox.count * MemoryLayout<Input>.stride
        return readBuffer.held + unparsed + (exchange?.held ?? 0) + queued
    }

    /// Charges the bytes that are kept here to the user's account.
    func charge() {
        let held = held
        if held != caller.held { caller.charge(held, for: self, mayBeClosed: held > Self.exemptBytes) }
    }

    func bufferedData(at now: NIODeadline) -> CallerAccount.BufferedData {
        // The kernel may have taken bytes since the last charge.
        charge()
        return CallerAccount.BufferedData(bytes: caller.held, rest: now - caller.restsSince)
    }

    /// Sends no error: a peer that does not read would not read it.
    func overBudget() { close() }

    /// Ends a request that the client takes too long to send.
    func waitedLongEnough() {
        let late = RefusedRequest(408, .invalidRequest, "The request timed out")
        switch stage {
        case .waiting: refuse(late)
        case .serving(let exchange): breakOff(exchange, late)
        case .finishing, .lingering, .closed: break
        }
    }

    // MARK: Writing

    func write(_ part: HTTPServerResponsePart) {
        if case .body(.byteBuffer(let bytes)) = part { reader.wrote(bytes.readableBytes) }
        context?.write(Self.wrapOutboundOut(part), promise: nil)
    }

    func flush() {
        context?.flush()
        reader.look()
        charge()
    }

    func send(_ frame: AnswerFrame, of exchange: HTTPExchange) {
        requestTimer.settle()
        // If the request is incomplete, it is unknown where the next one begins.
        if !exchange.hasAllInput || readBuffer.isSpent { exchange.keepsAlive = false }
        var head = frame.head
        if !exchange.keepsAlive { head.headers.add(name: "connection", value: "close") }
        write(.head(head))
    }

    func answer(_ exchange: HTTPExchange, _ frame: AnswerFrame, _ body: ByteBuffer) {
        send(frame, of: exchange)
        if frame.hasBody, body.readableBytes > 0 { write(.body(.byteBuffer(body))) }
        answered(exchange)
    }

    func fail(_ exchange: HTTPExchange, _ error: WireError) {
        dispatcher.counters.count(error)
        let (frame, body) = AnswerFrame.telling(Problem(error), toHead: exchange.isToHead)
        answer(exchange, frame, body)
    }

    /// Answers with an error and ends the connection: it may be unknown where the next request begins.
    private func refuse(_ refused: RefusedRequest, toHead: Bool = false) {
        dispatcher.counters.count(refused.error)
        let problem = Problem(refused.error, status: refused.status)
        var (frame, body) = AnswerFrame.telling(problem, allow: refused.allow, toHead: toHead)
        frame.saysClose()
        write(.head(frame.head))
        if frame.hasBody { write(.body(.byteBuffer(body))) }
        write(.end(nil))
        end()
    }

    /// Ends the exchange, because its answer is complete.
    func answered(_ exchange: HTTPExchange) {
        guard isServing(exchange) else { return }
        exchange.output = .complete
        if case .streaming(let body) = exchange.input { body.finish(.broken(Unavailability("It was answered before"))) }
        finish(exchange)
    }

    private func finish(_ exchange: HTTPExchange) {
        discharge(exchange)
        dispatcher.httpWatchers.remove(self)
        write(.end(nil))
        guard exchange.keepsAlive, exchange.hasAllInput else { return end() }
        stage = .waiting
        requestTimer.restart(hasBegun: false)
        flush()
        workSoon()
    }

    /// Ends the connection. The peer receives the output before that, even if it still sends.
    private func end() {
        guard let context else { return }
        stage = .finishing
        requestTimer.restart(hasBegun: false)
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        // SwiftNIO completes an empty write when all earlier writes are complete.
        let nothing = Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer())))
        context.writeAndFlush(nothing).whenComplete { _ in connection.value.linger() }
        reader.look()
        readBuffer.ask(for: .nothing)
        workSoon()
    }

    private func linger() {
        guard case .finishing = stage, let context else { return }
        stage = .lingering
        guard !peerHasEnded else { return close() }
        context.close(mode: .output, promise: nil)
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        let lingerTimeout = TimeAmount(dispatcher.timeouts.linger)
        lingerTimer = eventLoop.scheduleTask(in: lingerTimeout) { connection.value.close() }
    }

    /// Passes on the provider's answer as long as the client reads.
    func pump(_ exchange: HTTPExchange) {
        hasMore = true
        guard !isPumping, isServing(exchange), case .streaming(let body) = exchange.output, let context else { return }
        isPumping = true
        var wrote = false
        // Taking bytes may make the source provide more.
        while hasMore, context.channel.isWritable {
            hasMore = false
            while context.channel.isWritable,
                let piece = body.take(atMost: 1 << 15, { ByteBuffer(bytes: $0) })
            {
                write(.body(.byteBuffer(piece)))
                wrote = true
                // Bytes that the kernel takes at once do not count as waiting.
                context.flush()
            }
        }
        isPumping = false
        if wrote { reader.look() }
        charge()
        switch body.end {
        case .complete: answered(exchange)
        // The missing end of the chunks shows the client that the answer is incomplete.
        case .broken: close()
        case nil: break
        }
    }

    // MARK: States

    /// Starts sending states, beginning with the present one.
    func listen(_ exchange: HTTPExchange, _ target: RequestTarget) {
        let params: SessionSubscribe.Params
        do throws(WireMismatch) {
            params = try target.value("changes").map(SessionSubscribe.Params.init(query:)) ?? .init()
        } catch {
            return fail(exchange, .invalidParams(error))
        }
        send(AnswerFrame(stream: .events), of: exchange)
        exchange.output = .events
        dispatcher.watchStates(self, params, among: dispatcher.httpWatchers) { json in
            write(.body(.byteBuffer(ByteBuffer(event: json))))
        }
        flush()
        if isDraining { answered(exchange) }
    }

    // MARK: Ending

    func drain() {
        isDraining = true
        if let exchange, case .events = exchange.output { answered(exchange) }
        endInput()
    }

    /// Shuts down the input when the daemon ends. Requests that have arrived are answered. The rest of a body that has
    /// begun may still come.
    private func endInput() {
        guard isDraining, exchange?.hasAllInput ?? true, context?.channel.isActive == true else { return }
        readBuffer.dropsSurplus = true
        _ = shutdown(caller.descriptor, Int32(SHUT_RD))
    }

    func rightWithdrawn() {
        exchange?.breakOff()
        close()
    }

    private func ended() {
        lingerTimer?.cancel()
        lingerTimer = nil
        requestTimer.end()
        reader.end()
        dispatcher.httpWatchers.remove(self)
        if let exchange {
            exchange.breakOff()
            // A call that still waits for its answer is carried out anyway, and stays charged until then.
            if case .streaming = exchange.output { discharge(exchange) }
        }
        stage = .closed
        inbox = []
        charge()
    }
}

extension HTTPConnection: Watcher {
    static func line(telling snapshot: WireSnapshot) -> ByteBuffer { ByteBuffer(event: snapshot) }

    func sendNotification(_ event: ByteBuffer) -> Bool {
        guard let context, context.channel.isWritable else { return false }
        write(.body(.byteBuffer(event)))
        flush()
        return true
    }
}

extension HTTPConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelActive(context: ChannelHandlerContext) {
        if let refusal = caller.refusal {
            refuse(RefusedRequest(refusal))
        } else {
            readOn()
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        inbox.append(.part(unwrapInboundIn(data)))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        requestTimer.settle()
        // A part of a request head has arrived.
        if case .waiting = stage, inbox.isEmpty { requestTimer.hasBegun = true }
        work()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The daemon has shut down the input in the middle of a request.
        if isDraining, error as? HTTPParserError == .invalidEOFState {
            if case .waiting = stage { return }
            return close()
        }
        guard let refused = RefusedRequest(parsing: error, hadBareLineFeed: readBuffer.hasBareLineFeed) else {
            return close()
        }
        inbox.append(.malformed(refused))
        work()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return }
        peerHasEnded = true
        inbox.append(.end)
        work()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable else { return reader.look() }
        charge()
        if let exchange { pump(exchange) }
        dispatcher.httpWatchers.catchUp(self)
        workSoon()
    }

    func channelInactive(context: ChannelHandlerContext) {
        ended()
    }

    // SwiftNIO calls this last, also for a connection that was never active.
    func handlerRemoved(context: ChannelHandlerContext) {
        ended()
        self.context = nil
        registry.closed(self)
    }
}
