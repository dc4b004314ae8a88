import Glibc
import JunctionJSON
import JunctionProtocol
import JunctionSecret
import Synchronization

/// One connection that any number of tasks use at the same time. A separate thread makes all blocking calls.
final class SharedConnection: Sendable {
    private enum Phase {
        case connecting
        case open
        /// No answer can come any more.
        case closed(JunctionError)
    }

    private struct State {
        var phase = Phase.connecting
        /// The descriptors. They are released at the end, so that an ended connection keeps none, even if the client
        /// still exists.
        var ends: Ends?
        var lastId: Int64 = 0
        var pending = PendingCalls()
        /// The lines that did not fit into the socket yet, in order.
        var outgoing: [Outgoing] = []
        var sentOfFirst = 0
        /// Whether the daemon no longer reads, although it may still send answers.
        var isRefused = false
        /// The calls that the daemon did not take. They are failed when the state is unlocked again.
        var refused: [PendingCalls.Waiter] = []
    }

    private struct Outgoing {
        var line: SharedSecret
        /// The call of the line; `nil` if the line answers a question.
        var call: Int64?
    }

    /// The descriptors that the thread waits for.
    private struct Ends {
        let socket: UnixSocket
        let wakeUp: WakeUpDescriptor
    }

    private let state: Mutex<State>

    /// Starts to connect. Calls may be made at once.
    init(to path: SocketPath) throws(JunctionError) {
        let ends = Ends(socket: try UnixSocket(), wakeUp: try WakeUpDescriptor())
        state = Mutex(State(ends: ends))
        try startThread { [self] in run(path, ends) }
    }

    /// Whether further calls can be made.
    var isUsable: Bool {
        state.withLock { if case .closed = $0.phase { false } else { !$0.isRefused } }
    }

    /// Ends the connection. Pending calls fail with `connectionLost`.
    func close() {
        finish(.connectionLost)?.wakeUp.ring()
    }
}

// The part that tasks call.
extension SharedConnection {
    /// Sends a call and waits for its answer. A task that is cancelled or has reached its deadline stops waiting, but
    /// the daemon still carries out the call.
    func perform<Definition: MethodDefinition>(
        _ method: Definition.Type,
        _ params: Definition.Params,
        by deadline: Deadline
    ) async throws(JunctionError) -> Definition.Answer {
        let id = nextId()
        let line = try OutgoingLine.request(method, params, id: id).sealed()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(.answer(continuation), id, line, deadline)
            }
        } onCancel: {
            giveUp(id, .cancelled)
        }
        return try Connection.Answered(reading: outcome.get()).value
    }

    /// Sends the call that makes this user the signed-in one. The daemon may ask a question about it.
    func beginIdentify(
        _ externalUserId: String,
        by deadline: Deadline
    ) throws(JunctionError) -> AsyncStream<IdentifyMessage> {
        let id = nextId()
        let params = SessionIdentify.Params(externalUserId: externalUserId)
        let line = try OutgoingLine.request(SessionIdentify.self, params, id: id).sealed()
        let (turns, continuation) = AsyncStream.makeStream(of: IdentifyMessage.self)
        continuation.onTermination = { [weak self] _ in self?.giveUp(id, .cancelled) }
        begin(.identify(externalUserId: externalUserId, continuation), id, line, deadline)
        return turns
    }

    /// Answers the daemon's question about a call, unless the call has ended meanwhile.
    func respond(_ outcome: Result<any WireValue, WireError>, toQuestionAbout call: Int64) {
        update { state in
            guard let question = state.pending.takeQuestion(about: call) else { return }
            send(outcome, to: question, &state)
        }
    }

    private func send(_ outcome: Result<any WireValue, WireError>, to id: RequestID, _ state: inout State) {
        send(Outgoing(line: OutgoingLine.response(outcome, to: id).sealed()), &state)
    }

    /// Ends a call whose task no longer waits, and refuses the daemon's open question about it. A credential that comes
    /// later must not sign a user in.
    private func giveUp(_ id: Int64, _ error: JunctionError) {
        let waiter = update { state in
            let (waiter, question) = state.pending.take(id)
            if let question {
                send(
                    .failure(WireError(.invalidCredential, "The app no longer waits for this sign-in")),
                    to: question,
                    &state
                )
            }
            return waiter
        }
        waiter?.finish(.failure(error))
    }

    private func nextId() -> Int64 {
        state.withLock { state in
            state.lastId += 1
            return state.lastId
        }
    }

    private func begin(_ waiter: PendingCalls.Waiter, _ id: Int64, _ line: SharedSecret, _ deadline: Deadline) {
        let failure: JunctionError? = update { state in
            if case .closed(let error) = state.phase { return error }
            // A cancellation before this point found no pending call to end.
            if Task.isCancelled { return .cancelled }
            let timer = deadline.timer { [weak self] in self?.giveUp(id, .timedOut) }
            state.pending.add(waiter, for: id, timer)
            send(Outgoing(line: line, call: id), &state)
            return nil
        }
        if let failure { waiter.finish(.failure(failure)) }
    }

    /// Changes the state, and then fails the calls that were refused by that.
    private func update<Result>(_ change: (inout State) -> Result) -> Result {
        let (result, refused) = state.withLock { state in
            let result = change(&state)
            defer { state.refused = [] }
            return (result, state.refused)
        }
        for waiter in refused { waiter.finish(.failure(.notTaken)) }
        return result
    }

    /// Sends what fits at once. The thread sends the rest.
    private func send(_ line: Outgoing, _ state: inout State) {
        state.outgoing.append(line)
        guard case .open = state.phase, state.outgoing.count == 1 else { return }
        flush(&state)
        if !state.outgoing.isEmpty { state.ends?.wakeUp.ring() }
    }

    private func flush(_ state: inout State) {
        while let socket = state.ends?.socket, let line = state.outgoing.first?.line {
            do throws(JunctionError) {
                let rest = line.count - state.sentOfFirst
                let sent = try line.withUnsafeBytes { bytes throws(JunctionError) in
                    try socket.sendWithoutWaiting(UnsafeRawBufferPointer(rebasing: bytes[state.sentOfFirst...]))
                }
                guard sent == rest else {
                    state.sentOfFirst += sent
                    return
                }
                state.outgoing.removeFirst()
            } catch {
                // The daemon may still answer earlier calls, and the thread notices the end of the answers. The daemon
                // never carries out an incomplete request.
                state.isRefused = true
                state.refused += state.outgoing.compactMap(\.call).compactMap { state.pending.take($0).waiter }
                state.outgoing = []
            }
            state.sentOfFirst = 0
        }
    }
}

// The part that the thread runs.
extension SharedConnection {
    private func run(_ path: SocketPath, _ ends: Ends) {
        do throws(JunctionError) {
            try ends.socket.connect(to: path)
            update { state in
                guard case .connecting = state.phase else { return }
                state.phase = .open
                flush(&state)
            }
            var messages = MessageStream()
            while let hasInput = waitForWork(at: ends) {
                guard hasInput else { continue }
                guard try messages.receive(from: ends.socket) else { throw .connectionLost }
                while let message = try messages.next() { receive(message) }
            }
        } catch {
            finish(error)
        }
    }

    /// Waits for input, or for space to send. Returns `nil` after the connection was closed.
    private func waitForWork(at ends: Ends) -> Bool? {
        let isSending = state.withLock { state -> Bool? in
            if case .closed = state.phase { nil } else { !state.outgoing.isEmpty }
        }
        guard let isSending else { return nil }
        var waited = [
            pollfd(fd: ends.socket.descriptor, events: Int16(isSending ? POLLIN | POLLOUT : POLLIN), revents: 0),
            pollfd(fd: ends.wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&waited, 2, -1) > 0 else { return false }
        if waited[1].revents != 0 { ends.wakeUp.silence() }
        let happened = Int32(waited[0].revents)
        if happened & POLLOUT != 0 { update { flush(&$0) } }
        return happened & ~POLLOUT != 0
    }

    private func receive(_ message: Message) {
        switch message {
        case .answer(let answer):
            let outcome = answer.outcome.mapError(JunctionError.init)
            if let id = answer.id.number {
                self.answer(id, outcome)
            } else if case .failure(let error) = outcome {
                finish(error)
            }
        case .request(let call, let id):
            ask(call, id.detached)
        case .notification:
            // This connection never subscribes.
            return
        case .invalid(let error, _):
            finish(.unreadable(error.message))
        }
    }

    private func ask(_ call: Call, _ id: RequestID) {
        update { state in
            guard call.name.stringEquals(SessionAuthenticate.name) else {
                return send(.failure(.methodNotFound), to: id, &state)
            }
            if state.pending.ask(id, about: call.params?["externalUserId"]?.string ?? "") { return }
            send(.failure(WireError(.invalidCredential, "No call identifies this user any more")), to: id, &state)
        }
    }

    private func answer(_ id: Int64, _ outcome: PendingCalls.Outcome) {
        state.withLock { $0.pending.take(id).waiter }?.finish(outcome)
    }

    /// Closes the connection, and fails all pending calls.
    /// - Returns: the descriptors that the thread still waits for, to wake it from another thread.
    @discardableResult
    private func finish(_ error: JunctionError) -> Ends? {
        let (abandoned, ends) = state.withLock { state in
            if case .closed = state.phase { return ([PendingCalls.Waiter](), Ends?.none) }
            state.phase = .closed(error)
            state.outgoing = []
            defer { state.ends = nil }
            return (state.pending.takeAll(), state.ends)
        }
        for waiter in abandoned { waiter.finish(.failure(error)) }
        return ends
    }
}
