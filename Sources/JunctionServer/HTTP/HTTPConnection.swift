import Glibc
import JunctionProtocol
import JunctionSession
import NIOCore
import NIOHTTP1

/// One local program that speaks HTTP: reads one request after the other, and not more than it can pass on.
///
/// Everything happens on the event loop. Nothing is read that there is no use for: what was read together waits in the read buffer until
/// its turn, and one piece of it is here at most.
final class HTTPConnection {
    let caller: Caller
    let dispatcher: Dispatcher
    let eventLoop: any EventLoop
    let registry: ConnectionRegistry
    private(set) lazy var readBuffer = HTTPReadBuffer(dispatcher.turns) { [unowned self] in charge() }

    private(set) var context: ChannelHandlerContext?
    private var inbox: [Arrival] = []
    private var stage = Stage.waiting
    private var isWorking = false
    private var isWorkDue = false
    private var isReading = false
    private var isDraining = false
    private var isPumping = false
    private var hasMore = false

    /// The other side sends nothing more.
    private var otherHasEnded = false
    /// Some of a request is here, and the rest is waited for.
    private var hasBegun = false
    private var budget: WaitingBudget
    private var waitBegan = NIODeadline.now()
    private var received = 0
    private var waiting: Scheduled<Void>?
    private var farewellTimer: Scheduled<Void>?

    private lazy var reader = ReaderWatch(of: self)
    /// Whether new states are told, and how far that has come.
    var watch = Watch.off

    private enum Arrival {
        case part(HTTPServerRequestPart)
        /// What came after it is no HTTP.
        case nonsense(RefusedRequest)
        case end
    }

    private enum Stage {
        case waiting
        case serving(HTTPExchange)
        /// The last word is being said: what still comes is dropped until the other side has heard it.
        case leaving
        /// It has been said, and handed to the kernel.
        case parted
        case closed
    }

    init(_ caller: Caller, registry: ConnectionRegistry, eventLoop: any EventLoop) {
        self.caller = caller
        dispatcher = registry.dispatcher
        self.registry = registry
        self.eventLoop = eventLoop
        budget = WaitingBudget(dispatcher.patience.line)
    }

    var exchange: HTTPExchange? {
        if case .serving(let exchange) = stage { exchange } else { nil }
    }

    /// Whether what was asked here still counts.
    func isServing(_ exchange: HTTPExchange) -> Bool { self.exchange === exchange }

    // MARK: Rights

    /// Whether its caller is served with what it has no right to any more.
    var usesWithdrawnRight: Bool {
        if watch != .off, !caller.may(.status) { return true }
        guard let exchange, exchange.isPassing else { return false }
        return !caller.may(.api) || !dispatcher.exposesApi
    }

    // MARK: What arrived

    /// Does what can be done now, and reads on if there is a use for more.
    private func work() {
        guard !isWorking else { return }
        isWorking = true
        var done = 0
        while done < inbox.count, take(inbox[done]) { done += 1 }
        // Whatever was at work may have ended the connection, and then nothing waits any more.
        inbox.removeFirst(min(done, inbox.count))
        isWorking = false
        if inbox.isEmpty { readOn() }
        charge()
    }

    /// The same, when whoever is at work now has finished.
    func workSoon() {
        guard !isWorkDue else { return }
        isWorkDue = true
        onLoop { connection in
            connection.isWorkDue = false
            connection.work()
        }
    }

    /// Whether it is done with; if not, it waits.
    private func take(_ arrival: Arrival) -> Bool {
        switch stage {
        case .waiting:
            switch arrival {
            case .part(.head(let head)): return begin(head)
            case .part(.body), .part(.end): return true
            case .nonsense(let refused): refuse(refused)
            case .end: leave()
            }
            return true
        case .serving(let exchange):
            guard !exchange.hasAllInput else {
                // A request without a body has an end, too.
                if case .part(.end) = arrival { return true }
                return false
            }
            switch arrival {
            case .part(.head): return false
            case .part(.body(let bytes)): return take(bytes, of: exchange)
            case .part(.end): inputEnded(of: exchange)
            case .nonsense(let refused): breakOff(exchange, refused)
            // The daemon ends: a client whose request it has cut short gets no answer, and may repeat it.
            case .end where isDraining: close()
            case .end: breakOff(exchange, RefusedRequest(400, .invalidRequest, "The request ended before its body did"))
            }
            return true
        case .leaving: return true
        case .parted:
            if case .end = arrival { close() }
            return true
        case .closed: return true
        }
    }

    private func begin(_ parsed: HTTPRequestHead) -> Bool {
        // Answers that nobody reads do not become more.
        guard let context, context.channel.isWritable else { return false }
        restartBudget(hasBegun: true)
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
            kept += bytes.readableBytesView
            exchange.input = .gathering(kept)
            if kept.count > HTTPExchange.mostKept { streamInput(of: exchange, kept) }
        case .streaming(let body):
            guard body.isAbandoned || body.count < HTTPExchange.mostKept else { return false }
            bytes.withUnsafeReadableBytes { body.put($0) }
        case .complete: break
        }
        exchange.received(bytes.readableBytes)
        received += bytes.readableBytes
        return true
    }

    /// The request goes on while the rest of it comes.
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

    /// There will be no more of the request, and it is not all of it.
    private func breakOff(_ exchange: HTTPExchange, _ refused: RefusedRequest) {
        exchange.keepsAlive = false
        exchange.breakOff()
        guard exchange.hasNoOutput else { return close() }
        refuse(refused, toHead: exchange.isToHead)
    }

    // MARK: Reading

    /// What there is a use for now.
    private var wanted: HTTPReadBuffer.Portion? {
        switch stage {
        case .waiting: .lines
        case .serving(let exchange): exchange.wantsInput ? exchange.portion : nil
        case .leaving, .parted, .closed: nil
        }
    }

    private func readOn() {
        guard !isReading, let wanted else { return }
        isReading = true
        // Who is being answered already need not send the rest.
        if hasBegun, exchange?.hasNoOutput ?? true { wait() }
        readBuffer.ask(for: wanted)
    }

    /// A connection that keeps at most this many bytes is never closed for its user's total.
    private static let blameless = 1 << 15

    /// What is kept for it here, and in the network library.
    private var held: Int {
        if case .closed = stage { return 0 }
        let unparsed = inbox.isEmpty ? 0 : HTTPReadBuffer.longestPiece + inbox.count * MemoryLayout<Arrival>.stride
        return readBuffer.held + unparsed + (exchange?.held ?? 0) + queued
    }

    /// Puts what is kept here on the account of the user.
    func charge() {
        let held = held
        if held != caller.held { caller.charge(held, for: self, isToBlame: held > Self.blameless) }
    }

    func burden(at now: NIODeadline) -> CallerAccount.Burden {
        // The kernel may have taken bytes since the last charge.
        charge()
        return CallerAccount.Burden(bytes: caller.held, rest: now - caller.restsSince)
    }

    /// No error is sent: a peer that does not read would not read it.
    func overBudget() { close() }

    /// Whoever has begun a request is waited for as long as the budget lasts.
    private func wait() {
        waitBegan = .now()
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        waiting = eventLoop.scheduleTask(in: TimeAmount(max(budget.left, .zero))) {
            connection.value.waitedLongEnough()
        }
    }

    private func settleWaiting() {
        guard let waiting else { return }
        waiting.cancel()
        self.waiting = nil
        budget.waited(.nanoseconds((NIODeadline.now() - waitBegan).nanoseconds), for: received)
        received = 0
    }

    private func waitedLongEnough() {
        waiting = nil
        let late = RefusedRequest(408, .invalidRequest, "The request did not come on for too long, or not fast enough")
        switch stage {
        case .waiting: refuse(late)
        case .serving(let exchange): breakOff(exchange, late)
        case .leaving, .parted, .closed: break
        }
    }

    /// A request begins, or is over.
    private func restartBudget(hasBegun: Bool) {
        waiting?.cancel()
        waiting = nil
        (self.hasBegun, received, budget) = (hasBegun, 0, WaitingBudget(dispatcher.patience.line))
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

    /// Begins an answer.
    func send(_ frame: AnswerFrame, of exchange: HTTPExchange) {
        settleWaiting()
        // A request that is not all there leaves no place where the next one would begin.
        if !exchange.hasAllInput || readBuffer.isSpent { exchange.keepsAlive = false }
        var head = frame.head
        if !exchange.keepsAlive { head.headers.add(name: "connection", value: "close") }
        write(.head(head))
    }

    /// A whole answer.
    func answer(_ exchange: HTTPExchange, _ frame: AnswerFrame, _ body: ByteBuffer) {
        send(frame, of: exchange)
        if frame.hasBody, body.readableBytes > 0 { write(.body(.byteBuffer(body))) }
        answered(exchange)
    }

    /// An error of our own.
    func fail(_ exchange: HTTPExchange, _ error: WireError) {
        dispatcher.counters.count(error)
        let (frame, body) = AnswerFrame.telling(Problem(error), toHead: exchange.isToHead)
        answer(exchange, frame, body)
    }

    /// Says why a request goes no further, and goes: where the next one would begin may not be known.
    private func refuse(_ refused: RefusedRequest, toHead: Bool = false) {
        dispatcher.counters.count(refused.error)
        let problem = Problem(refused.error, status: refused.status)
        var (frame, body) = AnswerFrame.telling(problem, allow: refused.allow, toHead: toHead)
        frame.saysClose()
        write(.head(frame.head))
        if frame.hasBody { write(.body(.byteBuffer(body))) }
        write(.end(nil))
        leave()
    }

    /// The answer is complete.
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
        guard exchange.keepsAlive, exchange.hasAllInput else { return leave() }
        stage = .waiting
        restartBudget(hasBegun: false)
        flush()
        workSoon()
    }

    /// There is nothing more to say: the other side hears what was said before the connection goes, even while it still sends.
    private func leave() {
        guard let context else { return }
        stage = .leaving
        restartBudget(hasBegun: false)
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        // Nothing at all, which is written when everything before it is.
        let nothing = Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer())))
        context.writeAndFlush(nothing).whenComplete { _ in connection.value.farewell() }
        reader.look()
        readBuffer.ask(for: .nothing)
        workSoon()
    }

    private func farewell() {
        guard case .leaving = stage, let context else { return }
        stage = .parted
        guard !otherHasEnded else { return close() }
        context.close(mode: .output, promise: nil)
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        let patience = TimeAmount(dispatcher.patience.farewell)
        farewellTimer = eventLoop.scheduleTask(in: patience) { connection.value.close() }
    }

    /// Hands the answer on for as long as somebody reads it.
    func pump(_ exchange: HTTPExchange) {
        hasMore = true
        guard !isPumping, isServing(exchange), case .streaming(let body) = exchange.output, let context else { return }
        isPumping = true
        var wrote = false
        // Whoever brings it may bring more as soon as some is taken, or asked for.
        while hasMore, context.channel.isWritable {
            hasMore = false
            while context.channel.isWritable,
                let piece = body.take(atMost: 1 << 15, { ByteBuffer(bytes: $0) })
            {
                write(.body(.byteBuffer(piece)))
                wrote = true
                // What the kernel takes at once is not waited for.
                context.flush()
            }
        }
        isPumping = false
        if wrote { reader.look() }
        charge()
        switch body.end {
        case .complete: answered(exchange)
        // Whoever reads it sees by the missing end that this is not all.
        case .broken: close()
        case nil: break
        }
    }

    // MARK: States

    /// Begins to tell states; the present one first.
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

    /// Ends the peer's sending when the daemon ends: what has arrived by now is answered. A body that has begun may still come.
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
        for timer in [waiting, farewellTimer] { timer?.cancel() }
        (waiting, farewellTimer) = (nil, nil)
        reader.end()
        dispatcher.httpWatchers.remove(self)
        if let exchange {
            exchange.breakOff()
            // What is still waited for is carried out all the same, and counts until then.
            if case .streaming = exchange.output { discharge(exchange) }
        }
        stage = .closed
        inbox = []
        charge()
    }
}

extension HTTPConnection: Watcher {
    static func line(telling snapshot: JunctionProtocol.Snapshot) -> ByteBuffer { ByteBuffer(event: snapshot) }

    func post(_ event: ByteBuffer) -> Bool {
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
        settleWaiting()
        // A request has begun whose head is not there yet.
        if case .waiting = stage, inbox.isEmpty { hasBegun = true }
        work()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The daemon has ended the sending in the middle of a request.
        if isDraining, error as? HTTPParserError == .invalidEOFState {
            if case .waiting = stage { return }
            return close()
        }
        guard let refused = RefusedRequest(parsing: error, hadBareLineFeed: readBuffer.hasBareLineFeed) else {
            return close()
        }
        inbox.append(.nonsense(refused))
        work()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return }
        otherHasEnded = true
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

    // The last that happens, also to a connection that was never active.
    func handlerRemoved(context: ChannelHandlerContext) {
        ended()
        self.context = nil
        registry.closed(self)
    }
}
