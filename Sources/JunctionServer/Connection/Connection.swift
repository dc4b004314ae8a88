import Glibc
import JunctionProtocol
import NIOCore

/// One local program that is connected: its bytes, its rights, and what it still waits for.
///
/// Everything happens on the event loop. The answers to what was read together go out together.
final class Connection {
    let peer: Peer
    let eventLoop: any EventLoop
    let dispatcher: Dispatcher
    private let reception: Reception
    private let account: CallerAccount
    private let descriptor: Int32
    /// Why the caller is not served, if so.
    private let refusal: WireError?

    private var context: ChannelHandlerContext?
    private var phase = Phase.open
    private var inbox = Inbox()
    private var outbox = ByteBuffer()
    /// What is put while something is read goes out when the reading is over.
    private var isReading = false
    private var isFlushDue = false
    /// The input was ended by us, so its last line need not be a whole one.
    private var isDraining = false
    private var unanswered = 0
    private var grant: (rights: AccessGrant, policyVersion: Int)?
    private var farewell: Scheduled<Void>?

    /// Our own requests that the other side has to answer.
    private(set) var questions: ClientQuestions?
    /// Whether new states are told, and how far that has come.
    var watch = Watch.off

    private enum Phase {
        case open
        /// The peer will send no more. What it asked is answered, then the connection is closed.
        case ending
        /// What comes is dropped. What was asked is answered; then the peer sees the end, and is given a moment to go.
        case dropping
        case closed
    }

    init(
        _ peer: Peer,
        descriptor: Int32,
        account: CallerAccount,
        refusal: WireError?,
        reception: Reception,
        eventLoop: any EventLoop
    ) {
        self.peer = peer
        self.descriptor = descriptor
        self.account = account
        self.refusal = refusal
        self.reception = reception
        self.eventLoop = eventLoop
        dispatcher = reception.dispatcher
    }

    // MARK: Rights

    /// Whether the caller may do this now.
    func may(_ capability: Capability) -> Bool {
        let rights = rights
        return rights.allows(capability) && (!rights.dependsOnUnit || peer.isUnitCurrent)
    }

    /// Whether it is told or asked what its caller has no right to any more.
    var usesWithdrawnRight: Bool {
        (watch != .off && !may(.status)) || (dispatcher.handlers.contains(self) && !may(.handle))
    }

    private var rights: AccessGrant {
        if let grant, grant.policyVersion == reception.policyVersion { return grant.rights }
        let rights = reception.rights(of: peer)
        grant = (rights, reception.policyVersion)
        return rights
    }

    /// Whether the caller waits for as many answers as it may.
    var isBusy: Bool { account.inFlight >= reception.limits.inFlight }

    func requestBegan() {
        unanswered += 1
        account.inFlight += 1
    }

    func requestEnded() {
        unanswered -= 1
        account.inFlight -= 1
        if phase == .closed { reception.settle(account) } else { closeIfAnswered() }
    }

    // MARK: Writing

    /// Adds one message to what goes out next.
    func put(_ write: (inout ByteBuffer) -> Void) {
        guard phase != .closed else { return }
        if outbox.capacity == 0 { outbox = dispatcher.takeBuffer() }
        write(&outbox)
        outbox.endLine()
        if !isReading { flushSoon() }
    }

    /// Hands out a line that many connections are told at the same time; its bytes are shared.
    ///
    /// Returns whether it is on its way. If not, the peer does not read, and nothing was queued for it.
    func post(_ line: ByteBuffer) -> Bool {
        guard let context, phase != .closed, context.channel.isWritable else { return false }
        if isReading || outbox.readableBytes > 0 {
            // What was put before has to arrive before.
            outbox.writeImmutableBuffer(line)
            if !isReading { flushSoon() }
        } else {
            var rest = line
            rest.moveReaderIndex(forwardBy: sendDirectly(line, over: context.channel))
            if rest.readableBytes > 0 { context.writeAndFlush(Self.wrapOutboundOut(rest), promise: nil) }
        }
        return true
    }

    /// Sends what the kernel takes at once, unless the network library has something queued that comes before.
    ///
    /// With ten thousand watchers, its bookkeeping for a write costs as much again as the write.
    private func sendDirectly(_ line: ByteBuffer, over channel: any Channel) -> Int {
        guard let queued = try? channel.syncOptions?.getOption(.bufferedWritableBytes), queued == 0 else { return 0 }
        return max(
            0,
            line.withUnsafeReadableBytes { bytes in
                send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
        )
    }

    /// Many answers may become known in one turn of the loop: they share one system call.
    private func flushSoon() {
        guard !isFlushDue else { return }
        isFlushDue = true
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { connection.value.flush() }
    }

    private func flush() {
        isFlushDue = false
        guard outbox.readableBytes > 0, phase != .closed, let context else { return }
        context.writeAndFlush(Self.wrapOutboundOut(outbox), promise: nil)
        // Usually the kernel has taken it all by now, and the memory is ours alone again.
        dispatcher.giveBack(&outbox)
    }

    /// Asks the other side something; a connection that can no longer answer is as good as an error.
    ///
    /// Without a deadline, whoever asks withdraws the question when the answer is of no use any more.
    /// - Returns: the id of the question, while it is open.
    @discardableResult
    func ask<Definition: MethodDefinition>(
        _: Definition.Type,
        _ params: Definition.Params,
        within deadline: TimeAmount? = nil,
        answer: @escaping (Result<Definition.Answer, QuestionFailure>) -> Void
    ) -> Int64? {
        guard phase == .open else {
            answer(.failure(.connectionClosed))
            return nil
        }
        let questions = questions ?? ClientQuestions(eventLoop)
        self.questions = questions
        let id = questions.expectAnswer(to: Definition.self, within: deadline, answer)
        put { $0.appendRequest(of: Definition.self, params, id: id) }
        return id
    }

    // MARK: Ending

    /// Takes no more from the peer than what has arrived; that is still answered.
    func drain() {
        isDraining = true
        if phase == .open { _ = shutdown(descriptor, Int32(SHUT_RD)) }
    }

    func close() {
        context?.close(promise: nil)
    }

    /// The caller lost the right to what it is told or asked: the connection ends, so that its owner notices, connects
    /// again, and learns why. Silence would look like a session in which nothing happens.
    func rightWithdrawn() {
        if phase == .open { dismiss(with: nil) }
    }

    /// Tells the peer why it is served no longer, if there is more to say than the end, and lets it go.
    ///
    /// A connection with unread input cannot simply be closed: the peer would get a reset in place of the reason. So
    /// input is read and dropped until the peer has seen the end and gone, but for a moment only.
    private func dismiss(with error: WireError?) {
        if let error {
            dispatcher.counters.count(error)
            put { $0.appendError(error, for: .null) }
        }
        phase = .dropping
        retire()
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        farewell = eventLoop.scheduleTask(in: TimeAmount(reception.patience.farewell)) { connection.value.close() }
        setReading(true)
        closeIfAnswered()
    }

    /// Subscriptions, handler duty and questions end with the input: nothing could come back.
    private func retire() {
        dispatcher.watchers.remove(self)
        dispatcher.handlers.lose(self)
        questions?.failAll(.connectionClosed)
    }

    private func closeIfAnswered() {
        guard unanswered == 0, let context else { return }
        switch phase {
        case .open, .closed:
            break
        case .dropping:
            flush()
            context.close(mode: .output, promise: nil)
        case .ending:
            flush()
            // An empty write is done when everything before it is.
            let channel = context.channel
            context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer())).whenComplete { _ in channel.close(promise: nil) }
        }
    }

    private func setReading(_ isOn: Bool) {
        try? context?.channel.syncOptions?.setOption(.autoRead, value: isOn)
    }
}

extension Connection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelActive(context: ChannelHandlerContext) {
        if let refusal { dismiss(with: refusal) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase == .open else { return }
        isReading = true
        inbox.receive(Self.unwrapInboundIn(data))
        readLines(atEnd: false)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        flush()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return }
        isReading = true
        if phase == .open, !isDraining { readLines(atEnd: true) }
        isReading = false
        phase = .ending
        retire()
        closeIfAnswered()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        // Who does not read its answers may not ask on.
        if phase == .open { setReading(context.channel.isWritable) }
        if context.channel.isWritable { dispatcher.watchers.catchUp(self) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        phase = .closed
        farewell?.cancel()
        retire()
    }

    // The last that happens, also to a connection that was never active.
    func handlerRemoved(context: ChannelHandlerContext) {
        phase = .closed
        self.context = nil
        inbox.clear()
        dispatcher.giveBack(&outbox)
        reception.closed(self, account, wasRefused: refusal != nil)
    }

    private func readLines(atEnd: Bool) {
        while phase == .open, let line = inbox.nextLine(atEnd: atEnd) {
            switch line {
            case .complete(let line): dispatcher.handle(line, from: self)
            case .tooLong: dismiss(with: .lineTooLong)
            }
        }
        inbox.settle()
    }
}
