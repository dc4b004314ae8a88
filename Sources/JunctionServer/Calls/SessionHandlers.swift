import JunctionProtocol
import JunctionSession
import NIOCore

/// The connections that are session handlers: they are asked how the session shall be renewed.
final class SessionHandlers {
    private let eventLoop: any EventLoop
    private var duties: [ObjectIdentifier: HandlerDuty] = [:]
    private var isStopping = false

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    var count: Int { duties.count }

    /// Makes the connection a session handler; one that is, stays it, and keeps its place in the order.
    func add(_ connection: Connection, of owner: SessionOwner) {
        guard !isStopping, connection.isOpen, duties[ObjectIdentifier(connection)] == nil else { return }
        let duty = HandlerDuty(of: connection, owner)
        duties[ObjectIdentifier(connection)] = duty
        let asked = NIOLoopBound(duty, eventLoop: eventLoop)
        // It may be asked before this returns. Its answer comes later in any case.
        let uid = connection.caller.user
        duty.handler = owner.assumeIsolated { owner in
            owner.register(handlerOf: uid) { question in asked.value.ask(question) }
        }
    }

    /// The connection no longer wants to be asked.
    func remove(_ connection: Connection) {
        end(connection)?.unregister()
    }

    /// The connection is gone, or can no longer answer.
    func lose(_ connection: Connection) {
        guard let duty = end(connection) else { return }
        let lost = NIOLoopBound(duty, eventLoop: eventLoop)
        // Connections may break while the owner tells them something: it has to finish that before it hears of this.
        eventLoop.execute { lost.value.unregister() }
    }

    /// Whether the connection is a session handler.
    func contains(_ connection: Connection) -> Bool { duties[ObjectIdentifier(connection)] != nil }

    /// The daemon is about to end: nobody is asked any more, and nobody is taken for unable.
    ///
    /// What counts as unable is postponed for ten minutes, over the restart too; no app has said so.
    func stop() {
        isStopping = true
        for duty in duties.values { duty.end() }
        duties = [:]
    }

    private func end(_ connection: Connection) -> HandlerDuty? {
        let duty = duties.removeValue(forKey: ObjectIdentifier(connection))
        duty?.end()
        return duty
    }
}

/// The duty of one connection, from its registration to its end: at most one question is open at a time.
private final class HandlerDuty {
    private let connection: Connection
    private let owner: SessionOwner
    var handler: HandlerID?
    private var question: Int64?
    private var isOver = false

    init(of connection: Connection, _ owner: SessionOwner) {
        self.connection = connection
        self.owner = owner
    }

    /// Asks the connection. How long to wait is the owner's business: it moves on, and drops what comes later.
    func ask(_ renewal: RenewalQuestion) {
        // Whoever asks will hear in a moment that this duty is over.
        guard !isOver else { return }
        withdrawQuestion()
        guard connection.caller.may(.handle) else { return connection.rightWithdrawnSoon() }
        question = connection.ask(SessionWillRenewAccessToken.self, RenewalRequest(renewal)) { [self] result in
            question = nil
            answered(renewal.attempt, result)
        }
    }

    func end() {
        isOver = true
        withdrawQuestion()
    }

    /// Tells the owner, which asks the next handler then.
    func unregister() {
        guard let handler else { return }
        owner.assumeIsolated { $0.unregister(handler) }
    }

    /// The owner has moved on, or nobody will answer.
    private func withdrawQuestion() {
        guard let question else { return }
        connection.questions?.withdraw(question)
        self.question = nil
    }

    private func answered(_ attempt: Attempt, _ result: Result<JunctionProtocol.RenewalAnswer, QuestionFailure>) {
        guard let handler else { preconditionFailure("A session handler answered before it was registered") }
        // An error, nonsense, or the answer of a caller without the right counts as "unable".
        let isAllowed = connection.caller.may(.handle)
        let answer = isAllowed ? (try? result.get()).flatMap(JunctionSession.RenewalAnswer.init) : nil
        var words: String?
        if case .failure(.refused(let error)) = result { words = error.message }
        owner.assumeIsolated { [words] in $0.answered(handler, attempt, answer, saying: words) }
    }
}
