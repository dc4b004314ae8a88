/// Asking the local apps: one session handler at a time, the latest registered first.
extension SessionMachine {
    /// A question that a handler is being asked, and who else may be asked after it.
    struct Inquiry: Equatable, Sendable {
        var attempt: Attempt
        var purpose: Purpose
        var reason: RenewalReason
        var handler: HandlerID
        /// Who has not been asked in this round, the next one last.
        var others: [HandlerID]
        var deadline: Uptime

        enum Purpose: Equatable, Sendable {
            case renewal
            case exchange
        }
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
        inquiry?.others.removeAll { $0 == handler }
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
        case (.exchange, .credential):
            inquiry = nil
            roundsLeft = asked.others
            guard let current = exchange, current.attempt == attempt else { return [.forgetAnswer] }
            exchange?.needsHandler = false
            return [.keepAnswer(attempt), .exchange(attempt, credentialOf: current.request, expecting: nil)]
        case (.renewal, .renew) where isReauthenticationPending:
            inquiry = nil
            return refuseRequesters(.reauthenticationRequired) + settle(now)
        case (.renewal, .renew), (.renewal, .credential):
            inquiry = nil
            roundsLeft = asked.others
            renewal.hasAnswer = answer == .credential
            return [.keepAnswer(attempt)] + noteIntent(attempt, now) + settle(now)
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

    /// Begins a round: the latest registered handler is asked first.
    mutating func ask(_ purpose: Inquiry.Purpose, _ attempt: Attempt, _ reason: RenewalReason, _ now: Moment)
        -> [Effect]
    {
        var others = handlers
        guard let first = others.popLast() else { return [] }
        return ask(first, others, purpose, attempt, reason, now)
    }

    private mutating func ask(
        _ handler: HandlerID,
        _ others: [HandlerID],
        _ purpose: Inquiry.Purpose,
        _ attempt: Attempt,
        _ reason: RenewalReason,
        _ now: Moment
    ) -> [Effect] {
        inquiry = Inquiry(
            attempt: attempt,
            purpose: purpose,
            reason: reason,
            handler: handler,
            others: others,
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

    /// This one could not help: the next one is asked, and when none is left, nobody could.
    private mutating func askNext(after asked: Inquiry, _ now: Moment) -> [Effect] {
        var others = asked.others
        inquiry = nil
        guard let next = others.popLast() else { return nobodyCould(asked.purpose, now) }
        return ask(next, others, asked.purpose, asked.attempt, asked.reason, now)
    }

    /// What a handler gave was refused by the provider: the others may have better.
    mutating func answerRefused(_ attempt: Attempt, _ purpose: Inquiry.Purpose, _ now: Moment) -> [Effect] {
        var others = roundsLeft
        roundsLeft = []
        renewal.hasAnswer = false
        guard let next = others.popLast() else { return [.forgetAnswer] + nobodyCould(purpose, now) }
        if purpose == .renewal { renewal.activity = .asking(attempt) }
        if purpose == .exchange { exchange?.needsHandler = true }
        return [.forgetAnswer] + ask(next, others, purpose, attempt, renewal.reason, now)
    }

    private mutating func nobodyCould(_ purpose: Inquiry.Purpose, _ now: Moment) -> [Effect] {
        switch purpose {
        case .renewal:
            return postpone(now)
        case .exchange:
            guard let current = exchange else { return [] }
            exchange = nil
            return [.reply(current.request, .refused(.noHandlerCould))]
        }
    }

    /// Nobody is asked again for ten minutes and a little, over restarts too.
    private mutating func postpone(_ now: Moment) -> [Effect] {
        let delay = postponement + random.uniform(in: RenewalPolicy.postponementSpread)
        let until = now.uptime + delay
        renewal.activity = .idle
        renewal.retryAt = nil
        renewal.postponedUntil = RetryTime(uptime: until, wall: now.wall(at: until))
        renewal.lastError = "unableToRetrieveAuthToken: no session handler had a token"
        guard case .signedIn(var session) = standing else { return [] }
        session.stored.postponedUntil = now.wall(at: until)
        standing = .signedIn(session)
        // Whoever is told of the postponement may rely on it, over a crash too.
        let told = renewal.requesters + tokenWaiters.map(\.request)
        renewal.requesters = []
        tokenWaiters = []
        return writeNote(answering: told, with: .refused(.tokenExpired(retryAfter: delay)), now)
    }

    /// Answers the callers of `session.renew`, and remembers the answer for those who ask again at once.
    mutating func refuseRequesters(_ refusal: Refusal) -> [Effect] {
        defer { renewal.requesters = [] }
        if renewal.activity != .idle { renewal.activity = .idle }
        return renewal.requesters.map { .reply($0, .refused(refusal)) }
    }

    /// A handler that has not answered by its deadline is passed over; a sign-in that waits for its turn to ask, asks.
    mutating func tendInquiry(_ now: Moment) -> [Effect] {
        if let asked = inquiry, asked.deadline <= now.uptime { return askNext(after: asked, now) }
        guard inquiry == nil, let current = exchange, current.needsHandler, current.result == nil else { return [] }
        return handlers.isEmpty
            ? nobodyCould(.exchange, now) : ask(.exchange, current.attempt, .missing, now)
    }

    // MARK: What the question is about

    private func subjectOfInquiry(_ purpose: Inquiry.Purpose) -> String? {
        switch (purpose, standing) {
        case (.exchange, _): exchange?.subject?.spelling
        case (.renewal, .signedIn(let session)): session.stored.identity.spelling
        case (.renewal, _): nil
        }
    }

    private func expiryOfInquiry(_ purpose: Inquiry.Purpose) -> WallTime? {
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
    /// Here is a token, or a signature, that the app's server made.
    case credential
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

extension Refusal {
    static let noHandlerCould = Refusal(
        .invalidCredential,
        "No session handler provided a credential: register one (junctionctl handle-renewals), or hand the token in"
    )
}
