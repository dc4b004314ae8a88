import CLinux
import Glibc
import JunctionProtocol
import NIOCore

/// The JSON-RPC connection of one local program: its bytes, its rights, and its unanswered requests.
///
/// Everything happens on the event loop. Answers to lines that were read together are sent together.
final class Connection {
    let caller: Caller
    let eventLoop: any EventLoop
    let dispatcher: Dispatcher
    private let registry: ConnectionRegistry

    private(set) var context: ChannelHandlerContext?
    private var machine = ConnectionMachine()
    private var receiveBuffer = ReceiveBuffer()
    private var outbox = SendQueue()
    /// While true, `sendLine` does not flush. The output is flushed when the reading is over.
    private var isReading = false
    private var isFlushing = false
    private var isFlushDue = false
    /// Whether SwiftNIO may still hold output of this connection, which must be sent first.
    private var hasHandedOver = false
    private var deadline: Scheduled<Void>?
    /// How far the peer had read when the caller's account was last charged or checked.
    private var progress = ConnectionMachine.Progress()

    /// The daemon's own requests that the peer has to answer.
    private(set) var questions: ClientQuestions?
    /// Whether the connection receives new states, and the last one that it received.
    var watch = Watch.off
    /// The batches whose answers are not complete.
    private var batches: [BatchAnswers] = []
    /// The bodies of API answers that are kept for the peer, gathered or not.
    private var bodies: [ObjectIdentifier: GatheredBody] = [:]
    /// The number of batches whose answers must be sent before any notification.
    var heldNews = 0

    init(_ caller: Caller, registry: ConnectionRegistry, eventLoop: any EventLoop) {
        self.caller = caller
        self.registry = registry
        self.eventLoop = eventLoop
        dispatcher = registry.dispatcher
    }

    // MARK: Rights

    /// Whether the connection receives states or questions that its caller has lost the right to.
    var usesWithdrawnRight: Bool {
        if watch != .off, !caller.may(.status) { return true }
        return dispatcher.handlers.contains(self) && !caller.may(.handle)
    }

    /// Charges a request of `bytes` bytes until it is answered.
    func requestBegan(_ bytes: Int) {
        machine.requestBegan()
        caller.requestBegan(bytes)
    }

    func requestEnded(_ bytes: Int) {
        caller.requestEnded(bytes)
        perform(machine.requestEnded())
    }

    /// Whether the peer can receive notifications and questions, and answer.
    var isOpen: Bool { machine.isOpen }

    /// Whether nothing can be sent any more.
    var isClosed: Bool { machine.isClosed }

    /// Records a body that is kept for the peer. It ends with the connection.
    func bodyBegan(_ body: GatheredBody) { bodies[ObjectIdentifier(body)] = body }
    func bodyEnded(_ body: GatheredBody) { bodies[ObjectIdentifier(body)] = nil }

    func batchBegan(_ batch: BatchAnswers) { batches.append(batch) }
    func batchEnded(_ batch: BatchAnswers) { batches.removeAll { $0 === batch } }

    /// Changes the bytes that are kept until their batch is complete.
    func collected(_ bytes: Int) {
        machine.collected(bytes)
        charge()
    }

    // MARK: Writing

    /// Sends an answer or a question.
    func sendLine(_ write: (inout [UInt8]) -> Void) {
        guard !machine.isClosed else { return }
        outbox.put(in: dispatcher.takeBuffer) { bytes in
            write(&bytes)
            bytes.endLine()
        }
        queuedLine()
    }

    func sendLine(_ line: OutgoingLine) {
        guard !machine.isClosed else { return }
        for part in line.parts {
            switch part {
            case .bytes(let bytes): outbox.put(in: dispatcher.takeBuffer) { $0 += bytes }
            case .body(let body): outbox.put(body)
            }
        }
        outbox.put(in: dispatcher.takeBuffer) { $0.endLine() }
        queuedLine()
    }

    private func queuedLine() {
        if outbox.hasBody { updateBodies() }
        if !isReading { flushSoon() }
    }

    /// Sends a line that many connections receive at the same time; its bytes are shared.
    ///
    /// Returns whether the line was sent or queued. If not, nothing was queued: the peer does not read, or the answer
    /// with which its subscription begins has not been sent yet.
    func sendNotification(_ line: ByteBuffer) -> Bool {
        guard heldNews == 0, !machine.isClosed, !machine.hasBody, let context, context.channel.isWritable else {
            return false
        }
        if isReading || outbox.count > 0 {
            // Earlier output has to be sent first.
            outbox.putNotification(line)
            if !isReading { flushSoon() }
        } else {
            outbox.wrote(line.readableBytes)
            var rest = line
            rest.moveReaderIndex(forwardBy: line.withUnsafeReadableBytes { sendDirectly($0, over: context.channel) })
            if rest.readableBytes > 0 { handOver(rest, over: context) }
        }
        return true
    }

    /// Sends as much as the kernel takes at once, unless SwiftNIO has queued output that comes first. Returns the bytes
    /// that were sent.
    ///
    /// SwiftNIO's bookkeeping for a write costs as much as the write itself. Errors are ignored here, because SwiftNIO
    /// notices them too.
    private func sendDirectly(_ bytes: UnsafeRawBufferPointer, over channel: any Channel) -> Int {
        // SwiftNIO closes the descriptor before it reports that. Another connection may have the number then.
        guard channel.isActive, !isAnythingQueued(in: channel) else { return 0 }
        return max(0, send(caller.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)))
    }

    private func isAnythingQueued(in channel: any Channel) -> Bool {
        if hasHandedOver { hasHandedOver = queued > 0 }
        return hasHandedOver
    }

    /// Schedules a flush. Many answers may become known in one turn of the loop, and they share one system call.
    private func flushSoon() {
        guard !isFlushDue else { return }
        isFlushDue = true
        onLoop { $0.flush() }
    }

    private func flush() {
        isFlushDue = false
        sendBuffer()
        var sent = 0
        while machine.hasBody, !machine.isClosed, let context, context.channel.isWritable {
            // Other connections get a turn, even if this peer reads as fast as the daemon writes.
            guard sent < ConnectionMachine.turn else { return flushSoon() }
            let written = outbox.writeBody(in: dispatcher.takeBuffer)
            sent += outbox.count
            sendBuffer()
            guard let written else { continue }
            updateBodies()
            written.end()
            dispatcher.watchers.catchUp(self)
        }
    }

    private func updateBodies() {
        perform(machine.bodyWaits(outbox.hasBody, bytesBehind: outbox.bytesBehind))
    }

    private func sendBuffer() {
        guard !machine.isClosed, let context, let bytes = outbox.take() else { return }
        let sent = bytes.withUnsafeBytes { sendDirectly($0, over: context.channel) }
        if sent < bytes.count { handOver(ByteBuffer(bytes: bytes[sent...]), over: context) }
        dispatcher.recycle(bytes)
    }

    private func handOver(_ bytes: ByteBuffer, over context: ChannelHandlerContext) {
        hasHandedOver = true
        isFlushing = true
        context.writeAndFlush(Self.wrapOutboundOut(bytes), promise: nil)
        isFlushing = false
        updateBufferedData()
    }

    /// Passes the number of unsent bytes to the machine once it is above the window, at which SwiftNIO reports the
    /// channel as unwritable.
    private func updateBufferedData() {
        guard let channel = context?.channel else { return }
        let wasBlocked = machine.isBlocked
        guard wasBlocked || !channel.isWritable else { return }
        let queued = queued
        perform(machine.waits(channel.isWritable ? 0 : max(1, queued), owesAnswers: outbox.owesAnswers(in: queued)))
        if wasBlocked, !machine.isBlocked { dispatcher.watchers.catchUp(self) }
    }

    /// Sends a question to the peer. If the connection can no longer answer, `answer` gets an error.
    ///
    /// Without a deadline, the code that asks must withdraw the question when it no longer needs the answer.
    /// - Returns: the id of the question, while it is open.
    @discardableResult
    func ask<Definition: MethodDefinition>(
        _: Definition.Type,
        _ params: Definition.Params,
        within deadline: TimeAmount? = nil,
        answer: @escaping (Result<Definition.Answer, QuestionFailure>) -> Void
    ) -> Int64? {
        guard machine.isOpen else {
            answer(.failure(.connectionClosed))
            return nil
        }
        let questions = questions ?? ClientQuestions(eventLoop)
        self.questions = questions
        let id = questions.expectAnswer(to: Definition.self, within: deadline, answer)
        sendLine { $0.appendRequest(of: Definition.self, params, id: id) }
        return id
    }

    // MARK: Ending

    func drain() { perform(machine.drainBegan()) }

    func rightWithdrawn() {
        if machine.isOpen { perform(machine.rejected()) }
    }

    /// Sends the peer an error, and lets the connection end.
    private func reject(with error: WireError) {
        say(error)
        perform(machine.rejected())
    }

    private func say(_ error: WireError) {
        dispatcher.counters.count(error)
        sendLine { $0.appendError(error, for: .null) }
    }

    // MARK: What the machine decides

    private func perform(_ actions: ConnectionMachine.Actions) {
        if !actions.isEmpty {
            performInput(actions)
            performOutput(actions)
            if actions.contains(.rearm) { rearm() }
        }
        charge()
    }

    private func performInput(_ actions: ConnectionMachine.Actions) {
        if actions.contains(.sayLineTooSlow) { say(.lineTooSlow(dispatcher.timeouts.line)) }
        if actions.contains(.sayTooMuch) { say(.tooMuchWaits) }
        if actions.contains(.forgetInput) { withReceiveBuffer { $0.clear() } }
        if actions.contains(.retire) { retire() }
        if actions.contains(.pause) { setReading(false) }
        if actions.contains(.read) { setReading(true) }
        if actions.contains(.shutInput) { _ = shutdown(caller.descriptor, Int32(SHUT_RD)) }
        if actions.contains(.handleLines) { handleLines() }
        if actions.contains(.resumeSoon) { dispatcher.scheduler.add(self) }
    }

    private func performOutput(_ actions: ConnectionMachine.Actions) {
        if actions.contains(.endOutput), let context {
            flush()
            context.close(mode: .output, promise: nil)
        }
        if actions.contains(.closeWhenWritten), let context {
            flush()
            // SwiftNIO completes the empty write when all earlier writes are complete.
            let channel = context.channel
            context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer())).whenComplete { _ in channel.close(promise: nil) }
        }
        if actions.contains(.close) { close() }
    }

    private func rearm() {
        deadline?.cancel()
        deadline = machine.deadline.map { due in
            let connection = NIOLoopBound(self, eventLoop: eventLoop)
            return eventLoop.scheduleTask(in: TimeAmount(dispatcher.timeouts.time(for: due))) {
                connection.value.deadlinePassed()
            }
        }
    }

    private func deadlinePassed() {
        let passed = machine.deadline
        // The answers may have been sent, so that only notifications are left.
        updateBufferedData()
        guard let due = machine.deadline, due == passed, let present else { return }
        // Uses a copy. The machine computes with durations in code that the compiler cannot inspect. If that code
        // accessed `machine` itself, Swift would check every access to `machine` at run time, in each answer.
        var machine = machine
        let actions = machine.deadlinePassed(present, after: dispatcher.timeouts.time(for: due))
        self.machine = machine
        perform(actions)
    }

    /// How far the peer has read by now; `nil` if the channel no longer exists.
    private var present: ConnectionMachine.Progress? {
        guard context != nil else { return nil }
        return .init(taken: outbox.taken(butFor: queued), kept: Int(clinux_unread_output(caller.descriptor)))
    }

    /// Charges the bytes that are kept here to the user's account.
    private func charge() {
        let held = machine.held
        guard held != caller.held else { return }
        let mayBeClosed = machine.chargeable > ConnectionMachine.window
        if mayBeClosed { progress = present ?? progress }
        caller.charge(held, for: self, mayBeClosed: mayBeClosed)
    }

    func bufferedData(at now: NIODeadline) -> CallerAccount.BufferedData {
        if let present, present != progress {
            progress = present
            caller.restsSince = now
        }
        return CallerAccount.BufferedData(bytes: machine.chargeable, rest: now - caller.restsSince)
    }

    func overBudget() { perform(machine.overBudget()) }

    /// Ends subscriptions, the handler registration and questions, because the input has ended and no answer can come.
    private func retire() {
        dispatcher.watchers.remove(self)
        dispatcher.handlers.lose(self)
        questions?.failAll(.connectionClosed)
    }

    /// Drops everything that is kept, because the connection is closed. A batch continues until its calls have ended.
    private func ended() {
        perform(machine.closed())
        for batch in batches { batch.drop(self) }
        for body in bodies.values { body.end() }
    }

    private func setReading(_ isOn: Bool) {
        try? context?.channel.syncOptions?.setOption(.autoRead, value: isOn)
    }

    /// Resumes when it is this connection's turn again.
    func resume() { perform(machine.resumed()) }

    /// Moves the receive buffer to a local variable for `body`, because Swift does not check accesses to a local variable
    /// at run time. No other code uses the buffer meanwhile.
    private func withReceiveBuffer(_ body: (inout ReceiveBuffer) -> Void) {
        var receiveBuffer = ReceiveBuffer()
        swap(&receiveBuffer, &self.receiveBuffer)
        body(&receiveBuffer)
        swap(&receiveBuffer, &self.receiveBuffer)
    }

    private func handleLines() {
        let (limit, isAtEnd) = (caller.longestLine, machine.isAtEnd)
        var (lines, sent, unsent) = (0, 0, outbox.unsent)
        var mayHoldLines = true
        var rest = 0
        withReceiveBuffer { receiveBuffer in
            while receiveBuffer.count > 0, machine.mayHandleLine(with: unsent, after: sent) {
                let line = receiveBuffer.nextLine(atEnd: isAtEnd, limit: limit) { dispatcher.handle($0, from: self) }
                guard let line else {
                    mayHoldLines = false
                    break
                }
                lines += 1
                if case .tooLong = line {
                    say(.lineTooLong(limit))
                    perform(machine.cutShort())
                }
                unsent = outbox.unsent
                if unsent > ConnectionMachine.window, outbox.count > ConnectionMachine.window {
                    sent += outbox.count
                    flush()
                    unsent = outbox.unsent
                }
            }
            if machine.isClosed { receiveBuffer.clear() } else { receiveBuffer.compact() }
            rest = receiveBuffer.count
        }
        perform(machine.handled(lines, rest: rest, mayHoldLines: mayHoldLines))
    }
}

extension Connection: RoundRobinClient {}

extension Connection: Watcher {
    static func line(telling snapshot: WireSnapshot) -> ByteBuffer {
        var line = ByteBuffer()
        line.appendNotification(of: SessionChanged.self, SessionChanged.Params(snapshot: snapshot))
        line.endLine()
        return line
    }
}

extension Connection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelActive(context: ChannelHandlerContext) {
        if let refusal = caller.refusal { reject(with: refusal) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data)
        isReading = true
        withReceiveBuffer { $0.receive(bytes) }
        let actions = machine.received(bytes.readableBytes)
        perform(actions)
        // Lines that are not handled yet must not stay in memory that SwiftNIO fills again.
        if !actions.contains(.handleLines) { withReceiveBuffer { $0.compact() } }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        flush()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return }
        isReading = false
        perform(machine.inputEnded())
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        // During a flush, `flush` checks this itself.
        if !isFlushing { updateBufferedData() }
        if machine.hasBody, context.channel.isWritable { flushSoon() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        ended()
    }

    // SwiftNIO calls this last, also for a connection that was never active.
    func handlerRemoved(context: ChannelHandlerContext) {
        ended()
        self.context = nil
        withReceiveBuffer { $0.clear() }
        if let left = outbox.take() { dispatcher.recycle(left) }
        registry.closed(self)
    }
}
