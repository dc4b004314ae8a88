/// Which session handler is asked: one question at a time, and each local user once in a round.
///
/// | a round | until | then |
/// |---|---|---|
/// | waits | no other round's question is open | asks |
/// | asks one handler | the handler answers or goes, or its time is over | the answer is used, or the next user is asked |
/// | has no user or no time left | | no handler could help |
///
/// The user whose handler registered last is asked first. A user whose handler was silent goes last, until one of this
/// user's handlers answers. Of a user's handlers, the one that registered last is asked; a handler that could not help goes
/// behind the user's others, so that the next round asks another one.
///
/// A sign-in and a renewal may each have a round; the one that began first asks first.
struct HandlerRounds: Hashable, Sendable {
    /// How long one handler may take to answer.
    let handlerTimeout: Duration
    /// The session handlers. A user's last one is asked.
    private(set) var handlers: [HandlerID] = []
    /// The users whose handler was silent, and of whom no handler has answered since.
    private var silentUsers: Set<UInt32> = []
    /// The question that one of them is being asked: at most one.
    private var open: Question?
    /// Rounds that wait for their turn to ask.
    private var waiting: [Round] = []
    /// The users who have been asked for a renewal since the last renewal that began without a postponement in force. `nil` after
    /// a restart during a postponement: the record does not say which users were asked.
    private var askedUsers: Set<UInt32>? = []

    private struct Question: Hashable, Sendable {
        var handler: HandlerID
        var round: Round
        var deadline: Uptime
    }

    /// One round of questions.
    struct Round: Hashable, Sendable {
        var purpose: Purpose
        var attempt: Attempt
        var reason: RenewalReason
        var userId: String?
        var expiresAt: WallTime?
        /// The user whose budget pays for the call that follows; `nil` if the renewal was due.
        var uid: UInt32?
        /// How long the round may take, from its first question on.
        var limit: Duration
        /// The users who have not been asked, the next one last.
        var users: [UInt32]
        /// When the round is over; set by its first question.
        fileprivate(set) var end: Uptime?
        /// The handler that was asked last.
        fileprivate(set) var lastAsked: HandlerID?
        var asked = 0
        /// Why the handler that was asked last could not help.
        private(set) var failure: String?
        /// How many answers the provider has refused.
        private(set) var refused = 0

        enum Purpose: Hashable, Sendable {
            case renewal
            case signIn
        }

        /// The round after a handler could not help.
        ///
        /// - Parameter failure: why, such as `the last one did not answer in time`.
        func afterFailure(_ failure: String) -> Round {
            var next = self
            next.failure = failure
            return next
        }

        /// The round after an answer was refused.
        func afterRefusal(_ reason: String) -> Round {
            var next = afterFailure("the last answer was refused: \(reason)")
            next.refused += 1
            if next.refused >= RenewalPolicy.mostRefusedAnswers { next.users = [] }
            return next
        }
    }

    /// What the rounds want done.
    enum Step: Hashable, Sendable {
        case ask(HandlerID, RenewalQuestion)
        /// The round is over, and no handler could help.
        case nobody(Round)
    }

    /// - Parameter handlerTimeout: how long one handler may take to answer.
    init(handlerTimeout: Duration) {
        self.handlerTimeout = handlerTimeout
    }

    // MARK: Handlers

    mutating func register(_ handler: HandlerID) {
        handlers.removeAll { $0 == handler }
        handlers.append(handler)
    }

    /// A handler is gone: a question to it counts as answered with *unable*.
    mutating func remove(_ handler: HandlerID) {
        if let question = open, question.handler == handler {
            open = nil
            resume(question.round.afterFailure("the last one has gone"))
        }
        handlers.removeAll { $0 == handler }
    }

    /// The users that a new round asks, the first one last.
    var users: [UInt32] {
        var users: [UInt32] = []
        for handler in handlers.reversed() where !users.contains(handler.uid) { users.append(handler.uid) }
        return Array((users.filter { !silentUsers.contains($0) } + users.filter(silentUsers.contains)).reversed())
    }

    /// The users whom a round during a postponement asks: those who have a handler and have not been asked.
    var usersNotAsked: [UInt32] { askedUsers.map { asked in users.filter { !asked.contains($0) } } ?? [] }

    /// A renewal begins, and no postponement is in force.
    mutating func forgetAskedUsers() { askedUsers = [] }

    /// The stored session has a postponement: the process before this one asked handlers, of users that are not known.
    mutating func restorePostponement() { askedUsers = nil }

    /// The next round asks another handler of this user, where there is one.
    private mutating func putBehindOthers(_ handler: HandlerID) {
        let places = handlers.indices.filter { handlers[$0].uid == handler.uid }
        var own = places.map { handlers[$0] }
        guard let index = own.firstIndex(of: handler) else { return }
        own.insert(own.remove(at: index), at: 0)
        for (place, handler) in zip(places, own) { handlers[place] = handler }
    }

    // MARK: Rounds

    /// Begins a round; it asks when its turn has come.
    mutating func begin(_ round: Round) {
        waiting.append(round)
    }

    /// Goes on with a round whose last answer was of no use, before other rounds.
    mutating func resume(_ round: Round) {
        if let handler = round.lastAsked { putBehindOthers(handler) }
        waiting.insert(round, at: 0)
    }

    /// Drops the round for this purpose.
    mutating func drop(_ purpose: Round.Purpose) {
        if open?.round.purpose == purpose { open = nil }
        waiting.removeAll { $0.purpose == purpose }
    }

    /// A handler answered; returns the round that waits for this answer.
    mutating func answered(_ handler: HandlerID, _ attempt: Attempt) -> Round? {
        guard let question = open, question.handler == handler, question.round.attempt == attempt else { return nil }
        open = nil
        silentUsers.remove(handler.uid)
        return question.round
    }

    /// Ends the question whose time is over, and asks the next one.
    mutating func advance(_ now: Moment) -> [Step] {
        var steps: [Step] = []
        if let question = open, question.deadline <= now.uptime {
            open = nil
            silentUsers.insert(question.handler.uid)
            resume(question.round.afterFailure("the last one did not answer in time"))
        }
        while open == nil, !waiting.isEmpty {
            var round = waiting.removeFirst()
            guard let handler = round.nextHandler(among: handlers), let time = round.timeForQuestion(now) else {
                steps.append(.nobody(round))
                continue
            }
            let patience = min(time, handlerTimeout)
            round.asked += 1
            if round.purpose == .renewal { askedUsers?.insert(handler.uid) }
            open = Question(handler: handler, round: round, deadline: now.uptime + patience)
            let question = RenewalQuestion(
                attempt: round.attempt,
                reason: round.reason,
                userId: round.userId,
                expiresAt: round.expiresAt,
                deadline: now.wall + patience
            )
            steps.append(.ask(handler, question))
        }
        return steps
    }

    /// When the open question ends.
    var dueAt: Uptime? { open?.deadline }
}

extension HandlerRounds.Round {
    /// The last handler of the next user who still has one.
    fileprivate mutating func nextHandler(among handlers: [HandlerID]) -> HandlerID? {
        while let user = users.popLast() {
            guard let handler = handlers.last(where: { $0.uid == user }) else { continue }
            lastAsked = handler
            return handler
        }
        return nil
    }

    /// How long the next question may take: an equal share of what is left of the round; `nil` if the round is over.
    fileprivate mutating func timeForQuestion(_ now: Moment) -> Duration? {
        let end = end ?? now.uptime + limit
        self.end = end
        guard end > now.uptime else { return nil }
        return (end - now.uptime) / (users.count + 1)
    }

    /// Returns the same round for a later attempt that has kept what a handler gave: its time begins anew.
    func continued(by attempt: Attempt, within limit: Duration) -> HandlerRounds.Round {
        guard attempt != self.attempt else { return self }
        var next = self
        (next.attempt, next.limit, next.end) = (attempt, limit, nil)
        return next
    }
}

/// One connection that has registered as a session handler, and the local user who owns the connection.
package struct HandlerID: Hashable, Sendable {
    package var number: UInt64
    /// The user id that the kernel names.
    package var uid: UInt32

    package init(number: UInt64, uid: UInt32) {
        self.number = number
        self.uid = uid
    }
}

/// What a handler said; what it gave is only named.
package enum HandlerAnswer: Hashable, Sendable {
    /// Renew with what you have.
    case renew
    /// Here is a token that the app's server made.
    case authToken(SecretRef)
    /// Here is a signature that the app's server made: good for one request that arrives.
    case signature(SecretRef)
    /// It cannot now; nonsense or a closed connection mean the same.
    case unable
    /// It cannot now either, and says why.
    case failed(String)
}

/// What a handler gave, until the provider has judged it.
struct Given: Hashable, Sendable {
    var secret: SecretRef
    /// It may arrive at the provider only once: a signature, with its sequence.
    var isSpentByUse: Bool
}

/// Why a renewal is wanted, in the words of the wire.
package enum RenewalReason: String, Hashable, Sendable {
    case missing
    case expiring
    case expired
    case rejected
    case requested
}

/// What a handler is asked.
package struct RenewalQuestion: Hashable, Sendable {
    /// Names the question; the answer must name it again.
    package var attempt: Attempt
    package var reason: RenewalReason
    package var userId: String?
    package var expiresAt: WallTime?
    package var deadline: WallTime
}

/// Who decides that a renewal is made, and with what.
package enum RenewalMode: String, Hashable, Sendable {
    /// The daemon, with the session's own secrets.
    case automatic
    /// A local app, asked each time.
    case handler
}

extension HandlerRounds.Round {
    /// The outcome of a round in which no handler could help, with the reason, which may be in the words of an app.
    var words: String { summary + (failure.map { "; \($0)" } ?? "") }

    /// The same without the reason, for the log.
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
