/// Asking the local apps: one session handler at a time, the latest registered first.
extension SessionMachine {
    /// A question that a handler is being asked, and who else may be asked after it.
    struct Inquiry: Equatable, Sendable {
        var attempt: Attempt
        var purpose: AnswerUse
        var reason: RenewalReason
        var handler: HandlerID
        var round: Round
        var deadline: Uptime
    }

    /// One round of questions: who is left, and what has come of it so far.
    struct Round: Equatable, Sendable {
        /// Who has not been asked in this round, the next one last.
        var others: [HandlerID] = []
        var asked = 0
        /// Why the last answer that was of use to nobody was refused.
        var refusal: String?
    }

    // MARK: Events

    /// An app offers to be asked. It does not shorten a postponement.
    package mutating func handlerRegistered(_ handler: HandlerID, now: Moment) -> [Effect] {
        handlers.removeAll { $0 == handler }
        handlers.append(handler)
        return settle(now)
    }

    /// An app no longer wants to be asked, or is gone; if it was being asked, the next one is.
    package mutating func handlerGone(_ handler: HandlerID, now: Moment) -> [Effect] {
        handlers.removeAll { $0 == handler }
        inquiry?.round.others.removeAll { $0 == handler }
        guard let asked = inquiry, asked.handler == handler else { return settle(now) }
        return askNext(after: asked, now) + settle(now)
    }

    /// A handler answered. An answer that nobody waits for (late, twice, after a sign-out) is dropped.
    package mutating func handlerAnswered(
        _ handler: HandlerID,
        _ attempt: Attempt,
        _ answer: HandlerAnswer,
        now: Moment
    ) -> [Effect] {
        guard let asked = inquiry, asked.handler == handler, asked.attempt == attempt else { return [] }
        switch (asked.purpose, answer) {
        case (_, .unable), (.exchange, .renew):
            return askNext(after: asked, now) + settle(now)
        case (.exchange, .credential), (.exchange, .signature):
            inquiry = nil
            guard let current = exchange, current.attempt == attempt else { return [.forgetAnswer(for: .exchange)] }
            exchange?.round = asked.round
            exchange?.needsHandler = false
            return [
                .keepAnswer(attempt, for: .exchange), .exchange(attempt, credentialOf: current.request, expecting: nil),
            ]
        case (.renewal, .renew) where isReauthenticationPending:
            inquiry = nil
            return refuseRequesters(.reauthenticationRequired) + settle(now)
        case (.renewal, .renew), (.renewal, .credential), (.renewal, .signature):
            inquiry = nil
            renewal.round = asked.round
            renewal.hasAnswer = answer != .renew
            renewal.answerIsSpentByUse = answer == .signature
            return [.keepAnswer(attempt, for: .renewal)] + noteIntent(attempt, now) + settle(now)
        }
    }

    // MARK: Asking

    /// Whether a renewal of this session has to be asked for.
    func needsHandler(_ session: Session) -> Bool {
        mode == .handler && session.stored.scheme != .selfSigned && !renewal.hasAnswer
    }

    /// Whether a renewal that is due can begin: a handler is there, or none is needed.
    func canBeginRenewal(_ session: Session) -> Bool {
        !needsHandler(session) || (!handlers.isEmpty && inquiry == nil)
    }

    /// Begins a round for a renewal: the latest registered handler is asked first.
    mutating func askHandlers(_ attempt: Attempt, _ reason: RenewalReason, _ now: Moment) -> [Effect] {
        ask(Round(others: handlers), .renewal, attempt, reason, now)
    }

    /// Asks the next one of a round; when none is left, nobody could.
    private mutating func ask(
        _ round: Round,
        _ purpose: AnswerUse,
        _ attempt: Attempt,
        _ reason: RenewalReason,
        _ now: Moment
    ) -> [Effect] {
        var round = round
        // Some may have gone since the round began.
        round.others = round.others.filter(handlers.contains)
        guard let handler = round.others.popLast() else { return nobodyCould(purpose, round, now) }
        round.asked += 1
        inquiry = Inquiry(
            attempt: attempt,
            purpose: purpose,
            reason: reason,
            handler: handler,
            round: round,
            deadline: now.uptime + patienceWithHandlers
        )
        let question = RenewalQuestion(
            attempt: attempt,
            reason: reason,
            userId: subjectOfInquiry(purpose),
            expiresAt: expiryOfInquiry(purpose),
            deadline: now.wall + patienceWithHandlers
        )
        return [.askHandler(handler, question)]
    }

    /// This one could not help: the next one is asked.
    private mutating func askNext(after asked: Inquiry, _ now: Moment) -> [Effect] {
        inquiry = nil
        return ask(asked.round, asked.purpose, asked.attempt, asked.reason, now)
    }

    /// What a handler gave for the renewal was refused: the others may have better.
    mutating func renewalAnswerRefused(_ attempt: Attempt, _ reason: String, _ now: Moment) -> [Effect] {
        renewal.hasAnswer = false
        renewal.activity = .asking(attempt)
        let round = renewal.round.afterRefusal(reason)
        return [.forgetAnswer(for: .renewal)] + ask(round, .renewal, attempt, renewal.reason, now)
    }

    /// What a handler gave for the sign-in was refused: the others may have better.
    mutating func exchangeAnswerRefused(_ reason: String, _ now: Moment) -> [Effect] {
        guard let current = exchange else { return [.forgetAnswer(for: .exchange)] }
        exchange?.needsHandler = true
        exchange?.round = current.round.afterRefusal(reason)
        // A renewal's question may be open: it comes first.
        return [.forgetAnswer(for: .exchange)] + tendInquiry(now)
    }

    private mutating func nobodyCould(_ purpose: AnswerUse, _ round: Round, _ now: Moment) -> [Effect] {
        switch purpose {
        case .renewal:
            return postpone(after: round, now)
        case .exchange:
            guard let current = exchange else { return [] }
            exchange = nil
            return [.reply(current.request, .refused(.noHandlerCouldSignIn(round)))]
        }
    }

    /// Nobody is asked again for ten minutes and a little, over restarts too.
    private mutating func postpone(after round: Round, _ now: Moment) -> [Effect] {
        let delay = postponement + random.uniform(in: RenewalPolicy.postponementSpread)
        let until = now.uptime + delay
        renewal.activity = .idle
        renewal.retryAt = nil
        renewal.postponedUntil = RetryTime(uptime: until, wall: now.wall(at: until))
        renewal.round = round
        renewal.lastError = "unableToRetrieveAuthToken: " + round.words
        guard case .signedIn(var session) = standing else { return [] }
        session.stored.postponedUntil = now.wall(at: until)
        standing = .signedIn(session)
        // Whoever is told of the postponement may rely on it, over a crash too.
        let told = renewal.requesters + tokenWaiters.map(\.request)
        let refusal = Refusal.noHandlerCouldRenew(round, retryAfter: delay)
        renewal.requesters = []
        tokenWaiters = []
        return writeNote(answering: told, with: .refused(refusal), now)
    }

    /// Answers the callers of `session.renew`. Nothing reached the provider, so the next one is looked at at once.
    mutating func refuseRequesters(_ refusal: Refusal) -> [Effect] {
        defer { renewal.requesters = [] }
        if renewal.activity != .idle { renewal.activity = .idle }
        return renewal.requesters.map { .reply($0, .refused(refusal)) }
    }

    /// A handler that has not answered by its deadline is passed over; a sign-in that waits for its turn to ask, asks.
    mutating func tendInquiry(_ now: Moment) -> [Effect] {
        var effects: [Effect] = []
        if let asked = inquiry, asked.deadline <= now.uptime { effects += askNext(after: asked, now) }
        guard inquiry == nil, let current = exchange, current.needsHandler, current.result == nil else {
            return effects
        }
        let round = current.round.asked > 0 ? current.round : Round(others: handlers)
        return effects + ask(round, .exchange, current.attempt, .missing, now)
    }

    // MARK: What the question is about

    private func subjectOfInquiry(_ purpose: AnswerUse) -> String? {
        switch (purpose, standing) {
        case (.exchange, _): exchange?.subject?.spelling
        case (.renewal, .signedIn(let session)): session.stored.identity.spelling
        case (.renewal, _): nil
        }
    }

    private func expiryOfInquiry(_ purpose: AnswerUse) -> WallTime? {
        guard purpose == .renewal, case .signedIn(let session) = standing else { return nil }
        return session.stored.token?.expiresAt
    }

    var isReauthenticationPending: Bool {
        if case .signedIn(let session) = standing { session.stored.reauthenticationPending } else { false }
    }
}

/// One connection that has registered as a session handler.
package struct HandlerID: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// What a handler said, without the secret that may have come with it.
package enum HandlerAnswer: Equatable, Sendable {
    /// Renew with what you have.
    case renew
    /// Here is a token that the app's server made.
    case credential
    /// Here is a signature that the app's server made: good for one request that arrives.
    case signature
    /// It cannot now; an error, nonsense or a closed connection mean the same.
    case unable
}

/// Why a renewal is wanted, in the words of the wire.
package enum RenewalReason: String, Equatable, Sendable {
    case missing
    case expiring
    case expired
    case rejected
    case requested
}

/// What a handler is asked.
package struct RenewalQuestion: Equatable, Sendable {
    /// Names the question; the answer must name it again.
    package var attempt: Attempt
    package var reason: RenewalReason
    package var userId: String?
    package var expiresAt: WallTime?
    package var deadline: WallTime
}

/// Who decides that a renewal is made, and with what.
package enum RenewalMode: String, Equatable, Sendable {
    /// The daemon, with the session's own secrets.
    case automatic
    /// A local app, asked each time.
    case handler
}

extension SessionMachine.Round {
    /// The round as it goes on once an answer was refused.
    fileprivate func afterRefusal(_ reason: String) -> Self {
        Self(others: others, asked: asked, refusal: reason)
    }

    /// What came of it, when nobody could.
    fileprivate var words: String {
        let count =
            switch asked {
            case 0: ""
            case 1: " (1 was asked)"
            default: " (\(asked) were asked)"
            }
        return "no session handler could help\(count)" + (refusal.map { "; the last answer was refused: \($0)" } ?? "")
    }
}

extension Refusal {
    private static let howToRegister = "Register one (handler.register, or junctionctl handle-renewals --exec COMMAND)"

    /// A sign-in without a token, for which nobody had one.
    static func noHandlerCouldSignIn(_ round: SessionMachine.Round) -> Refusal {
        guard round.asked > 0 else {
            return Refusal(
                .invalidCredential,
                "The sign-in brings no token, and no session handler is registered. \(howToRegister), or hand the token in"
            )
        }
        return Refusal(
            .invalidCredential,
            "The sign-in brings no token, and \(round.words). See why the app has none, or hand the token in"
        )
    }

    /// Everybody was asked, and none is asked again before `retryAfter` has passed.
    static func noHandlerCouldRenew(_ round: SessionMachine.Round, retryAfter: Duration) -> Refusal {
        Refusal(
            .tokenExpired,
            "The session cannot be renewed now: \(round.words). It is kept, and they are asked again in "
                + "\(retryAfter.wholeSeconds) s, or sooner by session.renew (junctionctl renew). See why the app has "
                + "no token, or sign in again",
            retryAfter: retryAfter
        )
    }

    static let noHandlerIsRegistered = Refusal(
        .tokenExpired,
        "The session cannot be renewed now: no session handler is registered. \(howToRegister), and the renewal begins"
    )

    static let handlersAreBusy = Refusal(
        .tokenExpired,
        "The session cannot be renewed now: the session handlers are being asked for a sign-in's token. Ask again "
            + "when that has ended"
    )
}

extension Duration {
    /// In whole seconds, rounded up: whoever comes back then does not come too early.
    fileprivate var wholeSeconds: Int64 { (wholeMilliseconds + 999) / 1_000 }
}
