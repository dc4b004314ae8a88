/// Asking the local apps: one question at a time, the latest registered handler first.
///
/// | a round | is over when | and then |
/// |---|---|---|
/// | waits | no other round's question is open | asks |
/// | asks one handler | it answers, goes, or its time is over | its answer is used, or the next one is asked |
/// | has nobody left | | nobody could |
///
/// A sign-in and a renewal may each have a round; the one that began first asks first.
struct HandlerRounds: Hashable, Sendable {
    /// How long one handler may take to answer.
    private let deadline: Duration
    /// The session handlers, in the order in which they registered.
    private(set) var handlers: [HandlerID] = []
    /// The question that one of them is being asked: at most one.
    private var open: Question?
    /// Rounds that wait for their turn to ask.
    private var waiting: [Round] = []

    private struct Question: Hashable, Sendable {
        var handler: HandlerID
        var round: Round
        var deadline: Uptime
    }

    /// One round of questions: what it is about, who is left, and what has come of it so far.
    struct Round: Hashable, Sendable {
        var purpose: Purpose
        var attempt: Attempt
        var reason: RenewalReason
        var userId: String?
        var expiresAt: WallTime?
        /// Who is counted for the call that comes of it; nobody, when it was due.
        var uid: UInt32?
        /// Who has not been asked in this round, the next one last.
        var others: [HandlerID]
        var asked = 0
        /// Why the last answer that was of use to nobody was refused.
        var refusal: String?
        /// How many answers the provider has refused.
        var refused = 0
        /// What the last handler said that had none to give, in its own words.
        var said: String?

        enum Purpose: Hashable, Sendable {
            case renewal
            case signIn
        }

        /// The round as it goes on once a handler has said why it cannot help.
        func afterFailure(_ words: String) -> Round {
            var next = self
            next.said = words
            return next
        }

        /// The round as it goes on once an answer was refused.
        func afterRefusal(_ reason: String) -> Round {
            var next = self
            next.refusal = reason
            next.refused += 1
            if next.refused >= RenewalPolicy.mostRefusedAnswers { next.others = [] }
            return next
        }
    }

    /// What has to be done for the rounds to go on.
    enum Step: Hashable, Sendable {
        case ask(HandlerID, RenewalQuestion)
        /// Everybody was asked, and nobody could.
        case nobody(Round)
    }

    init(deadline: Duration) {
        self.deadline = deadline
    }

    // MARK: Handlers

    mutating func register(_ handler: HandlerID) {
        handlers.removeAll { $0 == handler }
        handlers.append(handler)
    }

    /// A handler is gone; a question to it is answered by that.
    mutating func remove(_ handler: HandlerID) {
        handlers.removeAll { $0 == handler }
        guard let question = open, question.handler == handler else { return }
        open = nil
        waiting.insert(question.round, at: 0)
    }

    // MARK: Rounds

    /// Begins a round; it asks when its turn has come.
    mutating func begin(_ round: Round) {
        waiting.append(round)
    }

    /// Goes on with a round whose last answer was of no use: its turn is the next.
    mutating func resume(_ round: Round) {
        waiting.insert(round, at: 0)
    }

    /// What the round was begun for is over.
    mutating func drop(_ purpose: Round.Purpose) {
        if open?.round.purpose == purpose { open = nil }
        waiting.removeAll { $0.purpose == purpose }
    }

    /// A handler answered; the round that its answer belongs to, if that waits for it.
    mutating func answered(_ handler: HandlerID, _ attempt: Attempt) -> Round? {
        guard let question = open, question.handler == handler, question.round.attempt == attempt else { return nil }
        open = nil
        return question.round
    }

    /// Passes over whoever has not answered in time, and lets the next round ask.
    mutating func advance(_ now: Moment) -> [Step] {
        var steps: [Step] = []
        if let question = open, question.deadline <= now.uptime {
            open = nil
            waiting.insert(question.round, at: 0)
        }
        while open == nil, !waiting.isEmpty {
            var round = waiting.removeFirst()
            // Some may have gone since the round began.
            round.others = round.others.filter(handlers.contains)
            guard let handler = round.others.popLast() else {
                steps.append(.nobody(round))
                continue
            }
            round.asked += 1
            open = Question(handler: handler, round: round, deadline: now.uptime + deadline)
            let question = RenewalQuestion(
                attempt: round.attempt,
                reason: round.reason,
                userId: round.userId,
                expiresAt: round.expiresAt,
                deadline: now.wall + deadline
            )
            steps.append(.ask(handler, question))
        }
        return steps
    }

    /// When the handler that is being asked is passed over.
    var dueAt: Uptime? { open?.deadline }
}

/// One connection that has registered as a session handler.
package struct HandlerID: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
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
    /// What came of it, when nobody could.
    var words: String {
        let count =
            switch asked {
            case 0: ""
            case 1: " (1 was asked)"
            default: " (\(asked) were asked)"
            }
        return "no session handler could help\(count)" + (refusal.map { "; the last answer was refused: \($0)" } ?? "")
    }
}
