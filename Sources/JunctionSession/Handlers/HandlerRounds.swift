/// Decides which session handler is asked. One question is open at a time, and a round asks each local user once.
///
/// | a round | until | then |
/// |---|---|---|
/// | waits | no other round has an open question | asks |
/// | asks one handler | it answers, disconnects or is too slow | the answer is used, or the next user is asked |
/// | has no user or no time left | | no handler could help |
///
/// The exchange of a sign-in (`SignIn.Exchange.Stage.asking`) or the renewal (`Renewal.Phase.asking`) stores its round. A
/// round ends when neither stores it any longer. So at most two rounds exist.
///
/// The round first asks the user whose handler registered last. A user whose handler was silent comes last, until one
/// of this user's handlers answers. Among a user's handlers, the round asks the one that registered last. A handler
/// that could not help moves behind the user's other handlers, so the next round asks another one.
///
/// Of two rounds, the one that has begun to ask goes first. If both have, the one that ends earlier goes first.
struct HandlerRounds: Hashable, Sendable {
    private(set) var handlers: [HandlerID] = []
    /// The users whose handler was silent and whose handlers have not answered since.
    private var silentUsers: Set<UInt32> = []
    private var open: Question?
    /// The users who were asked about a renewal. A renewal that begins while no postponement is in force forgets them.
    /// `nil` after a restart during a postponement: the record does not list them.
    private var askedUsers: Set<UInt32>? = []

    private struct Question: Hashable, Sendable {
        var handler: HandlerID
        var attempt: AttemptID
        var deadline: Uptime
    }

    struct Round: Hashable, Sendable {
        /// The exchange or the renewal that goes on with the answer.
        var attempt: AttemptID
        /// `missing`: a sign-in brings no token. Every other reason is that of a renewal.
        var reason: RenewalReason
        var userId: String?
        var expiresAt: WallTime?
        /// The user whose budget pays for the call that follows. `nil` if the renewal was due by schedule.
        var uid: UInt32?
        /// The time limit of the round, measured from its first question.
        var limit: Duration
        /// The users who have not been asked yet. The last element is asked next.
        var users: [UInt32]
        /// The end of the round, which its first question sets.
        fileprivate(set) var end: Uptime?
        fileprivate(set) var lastAsked: HandlerID?
        var asked = 0
        /// The reason why the handler that was asked last could not help.
        private(set) var failure: String?
        private(set) var refused = 0

        var isOfSignIn: Bool { reason == .missing }

        /// Returns the round after a handler that could not help, for a reason such as `the last one did not answer in
        /// time`.
        func afterFailure(_ failure: String) -> Round {
            var next = self
            next.failure = failure
            return next
        }

        /// Returns the round after an answer that the provider refused.
        func afterRefusal(_ reason: String) -> Round {
            var next = afterFailure("the last answer was refused: \(reason)")
            next.refused += 1
            if next.refused >= RenewalPolicy.mostRefusedAnswers { next.users = [] }
            return next
        }
    }

    // MARK: Handlers

    mutating func register(_ handler: HandlerID) {
        handlers.removeAll { $0 == handler }
        handlers.append(handler)
    }

    /// Removes a handler that has disconnected.
    ///
    /// - Returns: the attempt of its open question, which counts as answered with *unable*.
    mutating func remove(_ handler: HandlerID) -> AttemptID? {
        handlers.removeAll { $0 == handler }
        guard let question = open, question.handler == handler else { return nil }
        open = nil
        return question.attempt
    }

    /// The users that a new round asks. The last element is asked first.
    var users: [UInt32] {
        var users: [UInt32] = []
        for handler in handlers.reversed() where !users.contains(handler.uid) { users.append(handler.uid) }
        return Array((users.filter { !silentUsers.contains($0) } + users.filter(silentUsers.contains)).reversed())
    }

    /// The users that a round during a postponement asks: those with a handler who have not been asked.
    var usersNotAsked: [UInt32] { askedUsers.map { asked in users.filter { !asked.contains($0) } } ?? [] }

    /// Forgets the asked users, because a renewal begins and no postponement is in force.
    mutating func forgetAskedUsers() { askedUsers = [] }

    /// Handles a stored postponement: the previous process asked handlers, and their users are unknown.
    mutating func restorePostponement() { askedUsers = nil }

    /// Moves this handler behind the user's other handlers, because its answer was of no use.
    mutating func putBehindOthers(_ handler: HandlerID?) {
        guard let handler else { return }
        let places = handlers.indices.filter { handlers[$0].uid == handler.uid }
        var own = places.map { handlers[$0] }
        guard let index = own.firstIndex(of: handler) else { return }
        own.insert(own.remove(at: index), at: 0)
        for (place, handler) in zip(places, own) { handlers[place] = handler }
    }

    // MARK: Questions

    /// Returns the round that asks next. `nil` while a question is open.
    func next(of rounds: [Round]) -> Round? {
        guard open == nil else { return nil }
        return rounds.min { one, other in
            guard one.end != other.end else { return one.attempt.number < other.attempt.number }
            guard let otherEnd = other.end else { return true }
            return one.end.map { $0 < otherEnd } ?? false
        }
    }

    /// Asks the next handler of a round. Returns `nil` if the round has no user or no time left.
    ///
    /// - Parameter handlerTimeout: the time limit for the answer of one handler.
    mutating func ask(_ round: inout Round, within handlerTimeout: Duration, _ now: Moment) -> Effect? {
        guard let handler = round.nextHandler(among: handlers), let time = round.timeForQuestion(now) else {
            return nil
        }
        let patience = min(time, handlerTimeout)
        round.asked += 1
        if !round.isOfSignIn { askedUsers?.insert(handler.uid) }
        open = Question(handler: handler, attempt: round.attempt, deadline: now.uptime + patience)
        let question = RenewalQuestion(
            attempt: round.attempt,
            reason: round.reason,
            userId: round.userId,
            expiresAt: round.expiresAt,
            deadline: now.wall + patience
        )
        return .askHandler(handler, question)
    }

    /// Closes the open question if the handler and the attempt match. Returns whether they do.
    mutating func answered(_ handler: HandlerID, _ attempt: AttemptID) -> Bool {
        guard let question = open, question.handler == handler, question.attempt == attempt else { return false }
        open = nil
        silentUsers.remove(handler.uid)
        return true
    }

    /// Closes the open question if its round is over.
    mutating func closeQuestion(unlessOf rounds: [Round]) {
        if let question = open, !rounds.contains(where: { $0.attempt == question.attempt }) { open = nil }
    }

    /// Closes the open question if its time is over. Returns its attempt.
    mutating func timedOut(_ now: Moment) -> AttemptID? {
        guard let question = open, question.deadline <= now.uptime else { return nil }
        open = nil
        silentUsers.insert(question.handler.uid)
        return question.attempt
    }

    var dueAt: Uptime? { open?.deadline }
}

extension HandlerRounds.Round {
    /// Returns the last handler of the next user who still has one.
    fileprivate mutating func nextHandler(among handlers: [HandlerID]) -> HandlerID? {
        while let user = users.popLast() {
            guard let handler = handlers.last(where: { $0.uid == user }) else { continue }
            lastAsked = handler
            return handler
        }
        return nil
    }

    /// Returns the time limit of the next question: an equal share of the remaining time. `nil` if the round is over.
    fileprivate mutating func timeForQuestion(_ now: Moment) -> Duration? {
        let end = end ?? now.uptime + limit
        self.end = end
        guard end > now.uptime else { return nil }
        return (end - now.uptime) / (users.count + 1)
    }

    /// Returns the same round with a new time limit, for a later attempt that has kept a handler's secret.
    func continued(by attempt: AttemptID, within limit: Duration) -> HandlerRounds.Round {
        guard attempt != self.attempt else { return self }
        var next = self
        (next.attempt, next.limit, next.end) = (attempt, limit, nil)
        return next
    }
}

extension HandlerRounds.Round {
    /// The outcome of a round in which no handler could help, with the reason. The reason may be an app's own text.
    var words: String { summary + (failure.map { "; \($0)" } ?? "") }

    /// The outcome without the reason, for the log.
    var summary: String {
        let count =
            switch asked {
            case 0: ""
            case 1: " (1 was asked)"
            default: " (\(asked) were asked)"
            }
        return "no session handler could help\(count)"
    }
}
