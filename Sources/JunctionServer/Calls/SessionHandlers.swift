import JunctionProtocol
import JunctionSession
import NIOCore

/// The connections that are session handlers: the daemon asks them how to renew the session.
final class SessionHandlers {
    private let eventLoop: any EventLoop
    private var registrations: [ObjectIdentifier: HandlerRegistration] = [:]
    private var isStopping = false

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    var count: Int { registrations.count }

    /// Makes the connection a session handler. A connection that already is one keeps its place in the order.
    func add(_ connection: Connection, of owner: SessionOwner) {
        guard !isStopping, connection.isOpen, registrations[ObjectIdentifier(connection)] == nil else { return }
        let registration = HandlerRegistration(of: connection, owner)
        registrations[ObjectIdentifier(connection)] = registration
        let asked = NIOLoopBound(registration, eventLoop: eventLoop)
        // The handler may be asked before `register` returns. Its answer always comes later.
        let uid = connection.caller.user
        registration.handler = owner.assumeIsolated { owner in
            owner.register(handlerOf: uid) { question in asked.value.ask(question) }
        }
    }

    /// Removes a handler that no longer wants to be asked.
    func remove(_ connection: Connection) {
        end(connection)?.unregister()
    }

    /// Removes a connection that is closed or can no longer answer.
    func lose(_ connection: Connection) {
        guard let registration = end(connection) else { return }
        let lost = NIOLoopBound(registration, eventLoop: eventLoop)
        // A connection may break while the owner calls it. The owner must finish that call first.
        eventLoop.execute { lost.value.unregister() }
    }

    func contains(_ connection: Connection) -> Bool { registrations[ObjectIdentifier(connection)] != nil }

    /// Stops asking handlers, because the daemon is about to end.
    ///
    /// The owner still regards the handlers as registered, so it does not count them as unable. Otherwise it would
    /// postpone the renewal for ten minutes, also over the restart, although no app has said that it is unable.
    func stop() {
        isStopping = true
        for registration in registrations.values { registration.end() }
        registrations = [:]
    }

    private func end(_ connection: Connection) -> HandlerRegistration? {
        let registration = registrations.removeValue(forKey: ObjectIdentifier(connection))
        registration?.end()
        return registration
    }
}

/// The handler registration of one connection, from registration to end. At most one question is open at a time.
private final class HandlerRegistration {
    private let connection: Connection
    private let owner: SessionOwner
    var handler: HandlerID?
    private var question: Int64?
    private var isOver = false

    init(of connection: Connection, _ owner: SessionOwner) {
        self.connection = connection
        self.owner = owner
    }

    /// Sends a question to the connection. The owner has its own deadline: it continues without the answer, and ignores
    /// a late one.
    func ask(_ renewal: RenewalQuestion) {
        // If the registration is over, the owner will soon be notified of that.
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

    /// Unregisters the handler at the owner, which then asks the next one.
    func unregister() {
        guard let handler else { return }
        owner.assumeIsolated { $0.unregister(handler) }
    }

    /// Withdraws the open question: the owner has moved on, or no answer can come.
    private func withdrawQuestion() {
        guard let question else { return }
        connection.questions?.withdraw(question)
        self.question = nil
    }

    private func answered(_ attempt: AttemptID, _ result: Result<WireRenewalAnswer, QuestionFailure>) {
        guard let handler else { preconditionFailure("A session handler answered before it was registered") }
        // An invalid answer, or an answer of a caller without the right, counts as "unable". An error counts as a failure
        // if it has a message.
        let isAllowed = connection.caller.may(.handle)
        let answer = isAllowed ? (try? result.get()).flatMap(JunctionSession.RenewalAnswer.init) : nil
        var words: String?
        if isAllowed, case .failure(.refused(let error)) = result { words = error.message }
        owner.assumeIsolated { [words] in $0.answered(handler, attempt, answer, saying: words) }
    }
}
