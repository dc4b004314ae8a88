import CLinux
import Glibc
import JunctionProtocol
import NIOCore

/// One local program that is connected: its bytes, its rights, and what it still waits for.
///
/// Everything happens on the event loop. The answers to what was read together go out together.
final class Connection {
    let caller: Caller
    let eventLoop: any EventLoop
    let dispatcher: Dispatcher
    private let registry: ConnectionRegistry

    private(set) var context: ChannelHandlerContext?
    private var machine = ConnectionMachine()
    private var inbox = Inbox()
    private var outbox = Outbox()
    /// What is put while something is read goes out when the reading is over.
    private var isReading = false
    private var isFlushing = false
    private var isFlushDue = false
    /// The network library may have something of ours that is to go out before anything else.
    private var hasHandedOver = false
    private var deadline: Scheduled<Void>?
    /// How far the peer had read when the caller's account was last charged, or looked at.
    private var progress = ConnectionMachine.Progress()

    /// Our own requests that the other side has to answer.
    private(set) var questions: ClientQuestions?
    /// Whether new states are told, and how far that has come.
    var watch = Watch.off
    /// The batches whose answers are not complete.
    private var batches: [BatchAnswers] = []
    /// The bodies of API answers that are kept for it, gathered or not.
    private var bodies: [ObjectIdentifier: GatheredBody] = [:]
    /// Those batches that have to come before any notification.
    var heldNews = 0

    init(_ caller: Caller, registry: ConnectionRegistry, eventLoop: any EventLoop) {
        self.caller = caller
        self.registry = registry
        self.eventLoop = eventLoop
        dispatcher = registry.dispatcher
    }

    // MARK: Rights

    /// Whether it is told or asked what its caller has no right to any more.
    var usesWithdrawnRight: Bool {
        if watch != .off, !caller.may(.status) { return true }
        return dispatcher.handlers.contains(self) && !caller.may(.handle)
    }

    /// A request of so many bytes is answered later.
    func requestBegan(_ bytes: Int) {
        machine.requestBegan()
        caller.requestBegan(bytes)
    }

    func requestEnded(_ bytes: Int) {
        caller.requestEnded(bytes)
        perform(machine.requestEnded())
    }

    /// Whether the peer can be told and asked something, and answer.
    var isOpen: Bool { machine.isOpen }

    /// Nothing can be sent any more.
    var isClosed: Bool { machine.isClosed }

    /// A body is kept for the peer: it is ended with the connection.
    func bodyBegan(_ body: GatheredBody) { bodies[ObjectIdentifier(body)] = body }
    func bodyEnded(_ body: GatheredBody) { bodies[ObjectIdentifier(body)] = nil }

    func batchBegan(_ batch: BatchAnswers) { batches.append(batch) }
    func batchEnded(_ batch: BatchAnswers) { batches.removeAll { $0 === batch } }

    /// So many bytes more, or less, are kept until the other answers of their batch are known.
    func collected(_ bytes: Int) {
        machine.collected(bytes)
        charge()
    }

    // MARK: Writing

    /// Adds one message to what goes out next.
    func put(_ write: (inout [UInt8]) -> Void) {
        putLine {
            write(&$0)
            $0.endLine()
        }
    }

    /// Adds a line that may have bodies in it.
    func put(_ line: OutgoingLine) {
        for part in line.parts {
            guard !machine.isClosed else { return }
            switch part {
            case .bytes(let bytes): outbox.put(in: dispatcher.takeBuffer) { $0 += bytes }
            case .body(let body): outbox.put(body)
            }
        }
        putLine { $0.endLine() }
        perform(machine.bodyWaits(outbox.hasBody))
    }

    private func putLine(_ write: (inout [UInt8]) -> Void) {
        guard !machine.isClosed else { return }
        outbox.put(in: dispatcher.takeBuffer, write)
        if !isReading { flushSoon() }
    }

    /// Hands out a line that many connections are told at the same time; its bytes are shared.
    ///
    /// Returns whether it is on its way. If not, the peer does not read, or has not seen the answer yet with which it begins
    /// to watch, and nothing was queued for it.
    func post(_ line: ByteBuffer) -> Bool {
        guard heldNews == 0, !machine.isClosed, !machine.hasBody, let context, context.channel.isWritable else {
            return false
        }
        if isReading || outbox.count > 0 {
            // What was put before has to arrive before.
            outbox.post(line)
            if !isReading { flushSoon() }
        } else {
            outbox.gave(line.readableBytes)
            var rest = line
            rest.moveReaderIndex(forwardBy: line.withUnsafeReadableBytes { sendDirectly($0, over: context.channel) })
            if rest.readableBytes > 0 { handOver(rest, over: context) }
        }
        return true
    }

    /// Sends what the kernel takes at once, unless the network library has something queued that comes before.
    ///
    /// Its bookkeeping for a write costs as much again as the write. What goes wrong is left for it to notice.
    private func sendDirectly(_ bytes: UnsafeRawBufferPointer, over channel: any Channel) -> Int {
        // It closes the descriptor before it tells; the number may be another connection's then.
        guard channel.isActive, !isAnythingQueued(in: channel) else { return 0 }
        return max(0, send(caller.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)))
    }

    private func isAnythingQueued(in channel: any Channel) -> Bool {
        if hasHandedOver { hasHandedOver = queued > 0 }
        return hasHandedOver
    }

    /// Many answers may become known in one turn of the loop: they share one system call.
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
            // A peer that reads as fast as this is not served alone.
            guard sent < ConnectionMachine.turn else { return flushSoon() }
            let written = outbox.writeBody(in: dispatcher.takeBuffer)
            sent += outbox.count
            sendBuffer()
            guard let written else { continue }
            perform(machine.bodyWaits(outbox.hasBody))
            written.end()
            dispatcher.watchers.catchUp(self)
        }
    }

    private func sendBuffer() {
        guard !machine.isClosed, let context, let bytes = outbox.take() else { return }
        let sent = bytes.withUnsafeBytes { sendDirectly($0, over: context.channel) }
        if sent < bytes.count { handOver(ByteBuffer(bytes: bytes[sent...]), over: context) }
        dispatcher.giveBack(bytes)
    }

    private func handOver(_ bytes: ByteBuffer, over context: ChannelHandlerContext) {
        hasHandedOver = true
        isFlushing = true
        context.writeAndFlush(Self.wrapOutboundOut(bytes), promise: nil)
        isFlushing = false
        lookWhatWaits()
    }

    /// Tells the machine how much the kernel does not take, if that is more than the window, which is where the network
    /// library calls a channel unwritable.
    private func lookWhatWaits() {
        guard let channel = context?.channel else { return }
        let wasBlocked = machine.isBlocked
        guard wasBlocked || !channel.isWritable else { return }
        let queued = queued
        perform(machine.waits(channel.isWritable ? 0 : max(1, queued), owesAnswers: outbox.owesAnswers(in: queued)))
        if wasBlocked, !machine.isBlocked { dispatcher.watchers.catchUp(self) }
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
        guard machine.isOpen else {
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

    func drain() { perform(machine.drainBegan()) }

    func rightWithdrawn() {
        if machine.isOpen { perform(machine.dismissed()) }
    }

    /// Tells the peer why it is served no longer, and lets it go.
    private func dismiss(with error: WireError) {
        say(error)
        perform(machine.dismissed())
    }

    private func say(_ error: WireError) {
        dispatcher.counters.count(error)
        put { $0.appendError(error, for: .null) }
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
        if actions.contains(.sayLineTooSlow) { say(.lineTooSlow(dispatcher.patience.line)) }
        if actions.contains(.sayTooMuch) { say(.tooMuchWaits) }
        if actions.contains(.forgetInput) { inbox.clear() }
        if actions.contains(.retire) { retire() }
        if actions.contains(.pause) { setReading(false) }
        if actions.contains(.read) { setReading(true) }
        if actions.contains(.shutInput) { _ = shutdown(caller.descriptor, Int32(SHUT_RD)) }
        if actions.contains(.handleLines) { handleLines() }
        if actions.contains(.resumeSoon) { dispatcher.turns.add(self) }
    }

    private func performOutput(_ actions: ConnectionMachine.Actions) {
        guard let context else { return }
        if actions.contains(.endOutput) {
            flush()
            context.close(mode: .output, promise: nil)
        }
        if actions.contains(.closeWhenWritten) {
            flush()
            // An empty write is done when everything before it is.
            let channel = context.channel
            context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer())).whenComplete { _ in channel.close(promise: nil) }
        }
        if actions.contains(.close) { context.close(promise: nil) }
    }

    private func rearm() {
        deadline?.cancel()
        deadline = machine.deadline.map { due in
            let connection = NIOLoopBound(self, eventLoop: eventLoop)
            return eventLoop.scheduleTask(in: TimeAmount(dispatcher.patience.time(for: due))) {
                connection.value.deadlinePassed()
            }
        }
    }

    private func deadlinePassed() {
        let passed = machine.deadline
        // The answers may have gone out, with only notification behind them.
        lookWhatWaits()
        guard let due = machine.deadline, due == passed, let present else { return }
        // A copy: it computes with durations, in code that the compiler cannot see into. An access to `machine` during that would
        // have every access to it checked at run time, in each answer.
        var machine = machine
        let actions = machine.deadlinePassed(present, after: dispatcher.patience.time(for: due))
        self.machine = machine
        perform(actions)
    }

    /// How far the peer has read by now, as long as the channel is there.
    private var present: ConnectionMachine.Progress? {
        guard context != nil else { return nil }
        return .init(taken: outbox.taken(butFor: queued), kept: Int(clinux_unread_output(caller.descriptor)))
    }

    /// Puts what is kept here on the account of the user.
    private func charge() {
        let held = machine.held
        guard held != caller.held else { return }
        let isToBlame = machine.blamed > ConnectionMachine.window
        if isToBlame { progress = present ?? progress }
        caller.charge(held, for: self, isToBlame: isToBlame)
    }

    func burden(at now: NIODeadline) -> CallerAccount.Burden {
        if let present, present != progress {
            progress = present
            caller.restsSince = now
        }
        return CallerAccount.Burden(bytes: machine.blamed, rest: now - caller.restsSince)
    }

    func overBudget() { perform(machine.overBudget()) }

    /// Subscriptions, handler duty and questions end with the input: nothing could come back.
    private func retire() {
        dispatcher.watchers.remove(self)
        dispatcher.handlers.lose(self)
        questions?.failAll(.connectionClosed)
    }

    /// The connection is closed; a batch goes on until its calls have ended, but nothing is kept for it.
    private func ended() {
        perform(machine.closed())
        for batch in batches { batch.drop(self) }
        for body in bodies.values { body.end() }
    }

    private func setReading(_ isOn: Bool) {
        try? context?.channel.syncOptions?.setOption(.autoRead, value: isOn)
    }

    /// It is this connection's turn again.
    func goOn() { perform(machine.resumed()) }

    private func handleLines() {
        let (limit, isAtEnd) = (caller.longestLine, machine.isAtEnd)
        var (lines, sent, unsent) = (0, 0, outbox.unsent)
        var mayHoldLines = true
        // Nobody else uses it meanwhile, and a local variable needs no checks for that at run time.
        var inbox = Inbox()
        swap(&inbox, &self.inbox)
        while inbox.count > 0, machine.mayHandleLine(with: unsent, after: sent) {
            guard let line = inbox.nextLine(atEnd: isAtEnd, limit: limit) else {
                mayHoldLines = false
                break
            }
            lines += 1
            switch line {
            case .complete(let line): dispatcher.handle(line, from: self)
            case .tooLong:
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
        if machine.isClosed { inbox.clear() } else { inbox.settle() }
        let rest = inbox.count
        swap(&inbox, &self.inbox)
        perform(machine.handled(lines, rest: rest, mayHoldLines: mayHoldLines))
    }
}

extension Connection: TurnTaker {}

extension Connection: Watcher {
    static func line(telling snapshot: Snapshot) -> ByteBuffer {
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
        if let refusal = caller.refusal { dismiss(with: refusal) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data)
        isReading = true
        inbox.receive(bytes)
        let actions = machine.received(bytes.readableBytes)
        perform(actions)
        // What is not handled yet must not stay in memory that the network library fills again.
        if !actions.contains(.handleLines) { inbox.settle() }
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
        // Whoever writes looks when that is done.
        if !isFlushing { lookWhatWaits() }
        if machine.hasBody, context.channel.isWritable { flushSoon() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        ended()
    }

    // The last that happens, also to a connection that was never active.
    func handlerRemoved(context: ChannelHandlerContext) {
        ended()
        self.context = nil
        inbox.clear()
        if let left = outbox.take() { dispatcher.giveBack(left) }
        registry.closed(self)
    }
}
