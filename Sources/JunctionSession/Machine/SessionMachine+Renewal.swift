/// Renewing: when, in which order, and what each outcome means.
extension SessionMachine {
    struct Renewal: Equatable, Sendable {
        var activity = Activity.idle
        /// An intent was found at start: the refresh token may be spent, so it is sent again inside the grace.
        var replayAtOnce = false
        var failures = 0
        var lastError: String?
        /// Why the renewal under way was begun.
        var reason = RenewalReason.expiring
        /// A handler gave something to renew with, and the provider has not judged it yet.
        var hasAnswer = false
        /// What it gave may arrive at the provider only once: a signature, with its sequence.
        var answerIsSpentByUse = false
        /// The handlers' round that led to the answer, or to the postponement.
        var round = Round()
        /// No handler could help: none is asked before this, except by `session.renew` and a sign-in.
        var postponedUntil: RetryTime?
        /// No attempt before this, except by who may pass the backoff.
        var retryAt: RetryTime?
        /// What the provider itself asked for; nobody but `session.renew` passes it.
        var retryAfterEnds: Uptime?
        /// Since when a request's outcome is unknown.
        var ambiguousSince: Uptime?
        var lastBegan: Uptime?
        /// When a token that the API had rejected was last replaced.
        var lastReplacedRejected: Uptime?
        /// Callers of `session.renew` who wait for the outcome.
        var requesters: [RequestID] = []
        /// The last failure that was answered to a caller of `session.renew`, and when.
        var answeredFailure: AnsweredFailure?
    }

    /// The fixed order of a rotation: note the intent, send, write the new generation, and only then swap.
    enum Activity: Equatable, Sendable {
        case idle
        /// A handler is being asked.
        case asking(Attempt)
        case noting(Attempt)
        case inFlight(Attempt)
        case rotating(Attempt, Session)
        case ending(Attempt, Termination)
    }

    /// A time by the clock that never steps, and how it read on the wall clock when it was fixed.
    struct RetryTime: Equatable, Sendable {
        var uptime: Uptime
        var wall: WallTime
    }

    struct AnsweredFailure: Equatable, Sendable {
        var refusal: Refusal
        var at: Uptime
    }

    // MARK: Events

    /// A caller wants a renewal now: it passes the backoff, once in ten seconds while it fails.
    package mutating func renewRequested(_ request: RequestID, allowance: Allowance, now: Moment) -> [Effect] {
        if let refusal = renewalRefusal(now) { return [.reply(request, .refused(refusal))] }
        guard renewal.activity == .idle else {
            renewal.requesters.append(request)
            return []
        }
        if let failure = renewal.answeredFailure, now.uptime - failure.at < RenewalPolicy.patience {
            var refusal = failure.refusal
            refusal.retryAfter = RenewalPolicy.patience - (now.uptime - failure.at)
            return [.reply(request, .refused(refusal))]
        }
        if case .exhausted(let retryAfter) = allowance {
            return [.reply(request, .refused(.tooManyProviderCalls(retryAfter: retryAfter)))]
        }
        renewal.requesters.append(request)
        let effects = beginRenewal(.requested, now)
        if renewal.activity != .idle { return [.charge(request)] + effects }
        renewal.requesters = []
        return effects + [.reply(request, .refused(nobodyToAsk))]
    }

    private func renewalRefusal(_ now: Moment) -> Refusal? {
        if let refusal = sessionRefusal { return refusal }
        guard case .signedIn(let session) = standing else { return .notSignedIn }
        if session.stored.token == nil {
            return Refusal(.unsupported, "An API key is not renewed: there is nothing to do")
        }
        let asksForCredential = mode == .handler && session.stored.scheme != .selfSigned
        return session.stored.reauthenticationPending && !asksForCredential ? .reauthenticationRequired : nil
    }

    /// The provider granted a new token.
    package mutating func renewalSucceeded(
        _ attempt: Attempt,
        issuedAt: WallTime,
        expiresAt: WallTime,
        now: Moment
    ) -> [Effect] {
        guard renewal.activity == .inFlight(attempt), case .signedIn(let session) = standing else {
            return revokeUnwanted(attempt, of: nil, endingAt: expiresAt, now)
        }
        generation += 1
        edition = 0
        let token = TokenFacts(issuedAt: issuedAt, expiresAt: expiresAt, generation: generation)
        var stored = session.stored
        stored.token = token
        stored.renewAt = RenewalPolicy.renewalTime(of: token, using: &random)
        stored.postponedUntil = nil
        stored.reauthenticationPending = false
        stored.renewalUnderWay = false
        stored.renewalUsesAnswer = false
        renewal.activity = .rotating(attempt, Session(stored: stored, obtainedNow: now))
        return [.adopt(attempt, generation: generation)] + write(.session(stored), for: .rotation(attempt), now)
    }

    /// The provider granted nothing. Only its two explicit verdicts are more than a delay.
    package mutating func renewalFailed(_ attempt: Attempt, _ failure: RenewalFailure, now: Moment) -> [Effect] {
        guard renewal.activity == .inFlight(attempt), case .signedIn(let session) = standing else {
            overtaken.removeValue(forKey: attempt)
            return []
        }
        let report = Effect.report(.renewalEnded(failure.outcome))
        switch failure {
        case .terminated(let code, let message):
            let termination = Termination(code: code, message: message, at: now.wall)
            renewal.activity = .ending(attempt, termination)
            generation += 1
            edition = 0
            let content = SessionRecord.Content.terminated(termination, session.stored.identity)
            return [report] + write(content, for: .termination(attempt), now)
        case .reauthenticationRequired:
            return [report] + reauthenticationDemanded(session, now)
        case .unavailable(let unavailability):
            let spent = unavailability.ambiguous ? forgetSpentAnswer() : []
            return [report] + spent + putOff(unavailability, now) + settle(now)
        case .answerRefused(let reason):
            guard mode == .handler else { return [report] + putOff(Unavailability(reason), now) + settle(now) }
            return [report] + renewalAnswerRefused(attempt, reason, now) + settle(now)
        case .registrationForgotten:
            return [report] + registrationForgotten(attempt, now) + settle(now)
        }
    }

    /// The session is kept, and registered anew: with what the app gave, which is not spent, or with what it gives now.
    private mutating func registrationForgotten(_ attempt: Attempt, _ now: Moment) -> [Effect] {
        if mode == .handler, !renewal.hasAnswer, case .signedIn(let session) = standing, needsHandler(session) {
            return renewalAnswerRefused(attempt, "the provider has forgotten this installation", now)
        }
        return forgetSpentAnswer()
            + putOff(Unavailability("The provider has forgotten this installation: it is registered again"), now)
    }

    /// A signature that may have arrived is never sent again: the retry asks for another one, which is no postponement.
    private mutating func forgetSpentAnswer() -> [Effect] {
        guard renewal.hasAnswer, renewal.answerIsSpentByUse else { return [] }
        renewal.hasAnswer = false
        return [.forgetAnswer(for: .renewal)]
    }

    private mutating func reauthenticationDemanded(_ session: Session, _ now: Moment) -> [Effect] {
        var session = session
        session.stored.reauthenticationPending = true
        session.stored.renewalUnderWay = false
        session.stored.renewalUsesAnswer = false
        standing = .signedIn(session)
        let requesters = renewal.requesters
        renewal = Renewal()
        renewal.lastError = "reauthenticationRequired: " + Refusal.reauthenticationRequired.message
        return [.forgetAnswer(for: .renewal)]
            + writeNote(answering: requesters, with: .refused(.reauthenticationRequired), now)
            + settle(now)
    }

    /// Keeps the session, tells everybody who waited, and fixes when to try again.
    private mutating func putOff(_ unavailability: Unavailability, _ now: Moment) -> [Effect] {
        renewal.activity = .idle
        renewal.failures += 1
        renewal.lastError = "providerUnavailable: " + unavailability.message
        if unavailability.ambiguous, renewal.ambiguousSince == nil { renewal.ambiguousSince = now.uptime }

        let delay = retryDelay(after: unavailability, now)
        let retryAt = now.uptime + delay
        renewal.retryAt = RetryTime(uptime: retryAt, wall: now.wall(at: retryAt))
        renewal.retryAfterEnds = unavailability.retryAfter == nil ? nil : retryAt

        let refusal = Refusal(.providerUnavailable, unavailability.message, retryAfter: delay)
        let waiting = renewal.requesters + tokenWaiters.map(\.request)
        if !renewal.requesters.isEmpty {
            renewal.answeredFailure = AnsweredFailure(refusal: refusal, at: now.uptime)
        }
        renewal.requesters = []
        tokenWaiters = []
        return waiting.map { .reply($0, .refused(refusal)) }
    }

    private mutating func retryDelay(after unavailability: Unavailability, _ now: Moment) -> Duration {
        if let asked = unavailability.retryAfter {
            return RenewalPolicy.delay(afterBeingAsked: asked, using: &random)
        }
        if let since = renewal.ambiguousSince {
            // The provider may have rotated the token and lost the answer: the old one is good inside its grace only.
            if renewal.failures == 1 || since == now.uptime {
                return random.uniform(in: RenewalPolicy.firstReplay)
            }
            let untilSecond = RenewalPolicy.secondReplay - (now.uptime - since)
            if untilSecond > .zero { return max(untilSecond, RenewalPolicy.shortestBackoff) }
        }
        return RenewalPolicy.backoff(afterFailures: renewal.failures, using: &random)
    }

    // MARK: Beginning

    /// When the next renewal is due by itself; `nil` while one is under way or there is nothing to renew.
    func renewalDue(_ now: Moment) -> WallTime? {
        guard case .signedIn(let session) = standing, session.isRenewable, renewal.activity == .idle,
            leaving == nil, exchange?.result == nil
        else { return nil }
        if let postponed = renewal.postponedUntil { return now.wall(at: postponed.uptime) }
        if let retryAt = renewal.retryAt { return now.wall(at: retryAt.uptime) }
        if renewal.replayAtOnce || !session.isAlive(now) { return now.wall }
        return session.hasEnd ? session.stored.renewAt ?? session.stored.token?.expiresAt : nil
    }

    mutating func renewIfDue(_ now: Moment) -> [Effect] {
        guard let due = renewalDue(now), due <= now.wall, case .signedIn(let session) = standing else { return [] }
        return beginRenewal(session.isAlive(now) ? .expiring : .expired, now)
    }

    /// Asks a handler first where one is wanted; does nothing while there is none to ask.
    mutating func beginRenewal(_ reason: RenewalReason, _ now: Moment) -> [Effect] {
        guard case .signedIn(let session) = standing, renewal.replayAtOnce || canBeginRenewal(session) else {
            return []
        }
        let isReplay = renewal.replayAtOnce
        let attempt = nextAttempt()
        renewal.lastBegan = now.uptime
        renewal.replayAtOnce = false
        renewal.retryAt = nil
        renewal.postponedUntil = nil
        renewal.reason = reason
        guard needsHandler(session), !isReplay else { return noteIntent(attempt, now) }
        renewal.activity = .asking(attempt)
        return askHandlers(attempt, reason, now)
    }

    /// Notes the intent durably; the request leaves when that has ended, well or not.
    mutating func noteIntent(_ attempt: Attempt, _ now: Moment) -> [Effect] {
        guard case .signedIn(var session) = standing else { return [] }
        let usesAnswer = renewal.hasAnswer || session.stored.scheme != .signInToken
        guard !session.stored.renewalUnderWay || session.stored.renewalUsesAnswer != usesAnswer else {
            // The intent of an earlier try still stands on disk.
            renewal.activity = .inFlight(attempt)
            return [.renew(attempt)]
        }
        session.stored.renewalUnderWay = true
        session.stored.renewalUsesAnswer = usesAnswer
        session.stored.postponedUntil = nil
        standing = .signedIn(session)
        renewal.activity = .noting(attempt)
        edition += 1
        return write(.session(session.stored), for: .intent(attempt), now)
    }

    /// The intent is noted, or the disk refused it: the request is sent either way.
    mutating func intentNoted(_ attempt: Attempt) -> [Effect] {
        guard renewal.activity == .noting(attempt) else { return [] }
        renewal.activity = .inFlight(attempt)
        return [.renew(attempt)]
    }

    // MARK: Ending

    /// The new generation is on disk (or the disk refused it, and it is served from memory): now it counts.
    mutating func rotationWritten(_ attempt: Attempt, generation written: UInt64) -> [Effect] {
        guard case .rotating(attempt, let session) = renewal.activity else { return [] }
        standing = .signedIn(session)
        let requesters = renewal.requesters
        renewal = Renewal(lastBegan: renewal.lastBegan, lastReplacedRejected: renewal.lastReplacedRejected)
        for index in tokenWaiters.indices { tokenWaiters[index].hasHadRenewal = true }
        return [.activate(generation: written), .forgetAnswer(for: .renewal), .report(.renewalEnded(.succeeded))]
            + requesters.map { .reply($0, .done) }
    }

    /// The verdict is on disk (or the disk refused it): the session is over.
    mutating func terminationWritten(_ attempt: Attempt) -> [Effect] {
        guard case .ending(attempt, let termination) = renewal.activity, case .signedIn(let session) = standing
        else { return [] }
        standing = .terminated(termination, session.stored.identity)
        let requesters = renewal.requesters
        renewal = Renewal()
        return [.erase, .forgetAnswer(for: .renewal)]
            + requesters.map { .reply($0, .refused(.terminated(termination))) }
    }

    /// Lets go of an attempt whose session is being replaced or signed out.
    mutating func abandonRenewal() -> [Effect] {
        defer { renewal.activity = .idle }
        if inquiry?.purpose == .renewal { inquiry = nil }
        switch renewal.activity {
        case .idle: return []
        case .asking(let attempt), .noting(let attempt), .inFlight(let attempt): return [.abandon(attempt)]
        case .rotating(let attempt, _), .ending(let attempt, _): return [.abandon(attempt)]
        }
    }
}

extension SessionMachine.Renewal {
    /// Whether the outcome is being made durable, so that nothing else may change the session meanwhile.
    var isBeingWritten: Bool {
        switch activity {
        case .rotating, .ending: true
        case .idle, .asking, .noting, .inFlight: false
        }
    }

    /// Whether somebody with a good reason may pass the backoff: once in ten seconds, and never a `Retry-After`.
    func mayTrySooner(_ now: Moment) -> Bool {
        if let retryAfterEnds, now.uptime < retryAfterEnds { return false }
        guard let lastBegan else { return true }
        return now.uptime - lastBegan >= RenewalPolicy.patience
    }

    /// The machine resumed, or the clock was set: what the backoff waits for may have come back.
    mutating func hurry(_ now: Moment) {
        guard let retry = retryAt else { return }
        let uptime = mayTrySooner(now) ? now.uptime : retry.uptime
        retryAt = SessionMachine.RetryTime(uptime: uptime, wall: now.wall(at: uptime))
    }
}

extension RenewalFailure {
    var outcome: Happening.Outcome {
        switch self {
        case .terminated: .terminated
        case .reauthenticationRequired: .reauthenticationRequired
        case .answerRefused: .refused
        case .registrationForgotten: .refused
        case .unavailable: .unavailable
        }
    }
}
