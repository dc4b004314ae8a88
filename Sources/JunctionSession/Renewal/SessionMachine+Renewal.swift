/// Renewing: what each outcome means for the session.
extension SessionMachine {
    // MARK: Events

    /// A caller wants a renewal now: it passes the backoff, once in ten seconds while it fails.
    package mutating func renewRequested(_ request: RequestID, by uid: UInt32, now: Moment) -> [Effect] {
        callers.add(request, .change, by: uid, waitingFor: .renewal)
        if let refusal = renewalRefusal {
            callers.refuse(request, refusal)
            return settle(now)
        }
        beginRequestedRenewal(request, by: uid, now)
        return settle(now)
    }

    private mutating func beginRequestedRenewal(_ request: RequestID, by uid: UInt32, _ now: Moment) {
        guard renewal.isResting, persistence.change == nil, let session = installation.session else { return }
        let refusal =
            renewal.refusalToRepeat(now) ?? (canBeginRenewal ? nil : .noHandlerIsRegistered)
            ?? budget.refusal(of: uid, now: now)
        if let refusal {
            callers.move(request, to: .answer(outcome(for: .change, session, refusal, now)))
        } else {
            beginRenewal(.requested, by: uid, now)
        }
    }

    /// The session stays that a sign-in was to replace: whoever asked for a renewal meanwhile gets one.
    mutating func beginRequestedRenewals(_ now: Moment) {
        for caller in callers.list where caller.wait == .renewal {
            if let refusal = renewalRefusal {
                callers.refuse(caller.id, refusal)
            } else {
                beginRequestedRenewal(caller.id, by: caller.uid, now)
            }
        }
    }

    private var renewalRefusal: SessionError? {
        if let refusal = sessionRefusal { return refusal }
        guard let session = installation.session else { return .notSignedIn }
        if session.stored.token == nil {
            return SessionError(.unsupported, "An API key is not renewed: there is nothing to do")
        }
        let isInVain = session.stored.reauthenticationPending && !asksApps(session) && !mayPass(session)
        return isInVain ? .reauthenticationRequired : nil
    }

    /// Whether the provider's demand for a new credential may have passed by itself.
    func mayPass(_ session: Session) -> Bool {
        traits(of: session.stored.scheme).demandMayPass || session.stored.isReauthenticationPresumed
    }

    /// The provider granted a new token.
    package mutating func renewalSucceeded(_ attempt: Attempt, _ granted: Granted, now: Moment) -> [Effect] {
        answered(attempt, .granted(granted), now)
    }

    /// The provider granted a new refresh token, and no access token that can be used. The refresh token is written first;
    /// then the renewal has failed, and is tried again with it.
    ///
    /// - Parameter granted: without a life; its secrets are the session's own but for the refresh token.
    package mutating func renewalFellShort(
        _ attempt: Attempt,
        _ granted: Granted,
        _ failure: Unavailability,
        now: Moment
    ) -> [Effect] {
        answered(attempt, .fellShort(granted, failure), now)
    }

    /// The provider granted nothing. Only its two explicit verdicts are more than a delay.
    package mutating func renewalFailed(_ attempt: Attempt, _ failure: RenewalFailure, now: Moment) -> [Effect] {
        answered(attempt, .failed(failure), now)
    }

    private mutating func answered(_ attempt: Attempt, _ answer: Renewal.Answer, _ now: Moment) -> [Effect] {
        if renewal.answered(attempt, answer, now) { return settle(now) }
        if let granted = answer.granted { return revokeUnwanted(attempt, granted, now) }
        _ = revocations.arrived(attempt)
        return []
    }

    /// Uses the answer to a renewal, unless a sign-in is being written, which may end the session. A new session waits for the write
    /// of a name, which may be undone.
    mutating func useRenewalAnswer(_ now: Moment) -> [Effect] {
        guard case .answered(let tried, _, let answer) = renewal.phase, persistence.change == nil,
            answer.granted == nil || !callers.isWritingName(to: persistence), let session = installation.session
        else { return [] }
        if let granted = answer.granted, !granted.identity.isSameUser(as: session.stored.identity) {
            // It is the successor of the session's own refresh token: a revocation would end the session's own login.
            return reported(tried, .unavailable(.ofAnotherUser), session, now)
        }
        switch answer {
        case .granted(let granted):
            renewal.store()
            var random = random
            persistence.begin(.rotation) { generation in
                .signedIn(session.renewed(granted, generation: generation, at: now, using: &random))
            }
            self.random = random
        case .fellShort(let granted, let failure):
            renewal.storeSuccessor(tried, failure)
            persistence.begin(.rotation) { _ in .signedIn(session.succeeded(by: granted.secrets)) }
        case .failed(let failure):
            return reported(tried, failure, session, now)
        }
        return []
    }

    private mutating func reported(
        _ tried: Renewal.Try,
        _ failure: RenewalFailure,
        _ session: Session,
        _ now: Moment
    ) -> [Effect] {
        judge(tried, failure, session, now)
        // The time of the next attempt is known by now.
        return [.report(.renewalEnded(outcome(of: failure), failure.reported, nextAttempt: renewalDue(now)))]
    }

    /// How a failed renewal is reported. Refusals without a reason may have become a demand for a new credential.
    private func outcome(of failure: RenewalFailure) -> SessionEvent.Outcome {
        if case .unavailable(let why) = failure, why.isUnexplainedRefusal, isReauthenticationPending {
            return .reauthenticationRequired
        }
        return failure.outcome
    }

    /// What the failure means for the session.
    private mutating func judge(
        _ tried: Renewal.Try,
        _ failure: RenewalFailure,
        _ session: Session,
        _ now: Moment
    ) {
        switch failure {
        case .terminated(let code, let message):
            // The renewal that has failed has brought nothing to revoke.
            _ = end(session, Verdict(code: code, message: message), now)
        case .reauthenticationRequired:
            reauthenticationDemanded(session, now)
        case .unavailable(let unavailability):
            var session = session
            let isDemanded = session.stored.isReauthenticationDemanded
            if unavailability.isUnexplainedRefusal, !tried.isRefreshRetry, session.isDead(now), !isDemanded {
                session.refusedWithoutReason(now)
                updateRecord()
            }
            putOff(tried, unavailability, session, now)
        case .answerRefused(let reason):
            guard mode == .handler else { return putOff(tried, Unavailability(reason), session, now) }
            askNext(after: tried, reason, session, now)
        case .registrationForgotten:
            registrationForgotten(tried, session, now)
        }
    }

    /// The provider refused what a handler gave: the next handler is asked.
    private mutating func askNext(after tried: Renewal.Try, _ reason: String, _ session: Session, _ now: Moment) {
        let round =
            tried.round?.continued(by: tried.attempt, within: roundLimit(session, now))
            ?? round(for: session, tried.attempt, session.isAlive(now) ? .expiring : .expired, now)
        renewal.ask(tried.attempt, now)
        rounds.resume(round.afterRefusal(reason))
    }

    /// The session is kept, and registered anew at once: with what the app gave, if that is not spent, or with what an app gives now. If
    /// the provider forgets the new registration, too, the renewal has failed.
    private mutating func registrationForgotten(
        _ tried: Renewal.Try,
        _ session: Session,
        _ now: Moment
    ) {
        if tried.given == nil, asksApps(session) {
            return askNext(after: tried, "the provider has forgotten this installation", session, now)
        }
        var tried = tried
        tried.isRefreshRetry = false
        // A signature that has arrived is never sent again: another one is asked for, which is no postponement.
        if tried.given?.isSpentByUse == true { tried.given = nil }
        let isSpent = tried.given == nil && asksApps(session)
        // First the user whose handler gave the signature, then those whom the round has not asked.
        let users = ((tried.round?.users ?? []) + [tried.round?.lastAsked?.uid].compactMap(\.self))
            .filter(rounds.users.contains)
        guard renewal.registrationForgotten(), !isSpent || !users.isEmpty else {
            let failure = Unavailability("The provider has forgotten this installation: it is registered again")
            return putOff(tried, failure, session, now)
        }
        guard isSpent else { return writeIntent(tried, now) }
        let (attempt, before) = (nextAttempt(), tried.round)
        renewal.ask(attempt, now)
        rounds.begin(
            round(
                for: session,
                attempt,
                before?.reason ?? reason(for: session, now),
                by: before?.uid,
                of: users,
                now
            )
        )
    }

    private mutating func reauthenticationDemanded(_ session: Session, _ now: Moment) {
        var session = session
        session.reauthenticationDemanded()
        installation = .signedIn(session)
        renewal.reauthenticationDemanded(.reauthenticationRequired, isAwaited: isRenewalAwaited, now)
        callers.refuse(.reauthenticationRequired, after: updateRecord()) { $0 == .renewal }
    }

    /// Keeps the session, answers the callers that wait, and fixes when to try again.
    private mutating func putOff(
        _ tried: Renewal.Try,
        _ failure: Unavailability,
        _ session: Session,
        _ now: Moment
    ) {
        var (session, failure) = (session, failure)
        if session.stored.isReauthenticationPresumed {
            failure.retryAfter = max(failure.retryAfter ?? .zero, RenewalPolicy.refusedRetry)
        }
        let isRefreshRetryable = tried.given == nil && traits(of: session.stored.scheme).renewsByRefreshToken
        var refusal = renewal.failed(
            failure,
            tried,
            isReauthenticationPresumed: session.stored.isReauthenticationPresumed,
            refreshTokenSentAt: isRefreshRetryable ? renewal.sentAt : nil,
            left: session.isAlive(now) ? session.validity(now) : nil,
            isAwaited: isRenewalAwaited,
            now,
            using: &random
        )
        if !failure.ambiguous, !renewal.isOutcomeUnknown { session.renewalAnswered() }
        if let until = renewal.demandedUntil(now) {
            session.delayed(until: until.wall)
            updateRecord()
        }
        installation = .signedIn(session)
        if asksApps(session), let until = session.stored.postponedUntil, until > now.wall {
            renewal.resume(postponedUntil: until, postponement, now)
        }
        if let (until, _) = renewal.postponement { refusal.retryAfter = until.uptime - now.uptime }
        callers.refuse(refusal, where: \.isForRenewal)
    }

    /// Whether a caller of `session.renew` waits.
    var isRenewalAwaited: Bool { callers.list.contains { $0.wait == .renewal } }

    // MARK: Beginning

    /// Whether a renewal can begin now: a handler is there, or none is needed.
    var canBeginRenewal: Bool {
        guard let session = installation.session else { return false }
        return !needsHandler(session) || !rounds.handlers.isEmpty
    }

    /// When the next renewal is due by itself; nothing while one is under way, or the session is being changed.
    func renewalDue(_ now: Moment) -> WallTime? {
        guard let session = installation.session, persistence.change == nil else { return nil }
        return renewal.due(session, now)
    }

    mutating func renewIfDue(_ now: Moment) -> [Effect] {
        guard let session = installation.session, let due = renewalDue(now), canBeginRenewal,
            due <= now.wall || mayPassPostponement(session, now)
        else { return [] }
        beginRenewal(reason(for: session, now), by: nil, now)
        return []
    }

    /// Why a renewal that is due by itself is made.
    private func reason(for session: Session, _ now: Moment) -> RenewalReason {
        guard session.isAlive(now) else { return .expired }
        return renewal.isRegistrationForgotten ? .rejected : .expiring
    }

    /// Asks a handler first where one is wanted. The caller has seen that one can begin.
    ///
    /// - Parameter uid: the user whose budget pays for the call; `nil` if it was due.
    mutating func beginRenewal(_ reason: RenewalReason, by uid: UInt32?, _ now: Moment) {
        guard let session = installation.session, renewal.isResting, persistence.change == nil else { return }
        let attempt = nextAttempt()
        guard needsHandler(session) else {
            if let uid { budget.charge(uid, now: now) }
            return writeIntent(renewal.attempt(attempt), now)
        }
        // A caller of session.renew has every user asked again.
        let users = renewal.postponement == nil || reason == .requested ? nil : rounds.usersNotAsked
        if (session.stored.postponedUntil ?? now.wall) <= now.wall { rounds.forgetAskedUsers() }
        renewal.ask(attempt, now)
        rounds.begin(round(for: session, attempt, reason, by: uid, of: users, now))
    }

    mutating func renew(_ round: HandlerRounds.Round, with given: Given?, _ now: Moment) {
        // The limit was checked when the round began. It is checked again only after refused answers, so that handlers with bad
        // answers cannot pass it.
        if let uid = round.uid, round.refused > 0, let refusal = budget.refusal(of: uid, now: now) {
            return postpone(after: round.afterRefusal(refusal.message), now)
        }
        guard renewal.phase == .asking(round.attempt) else { return }
        if let uid = round.uid { budget.charge(uid, now: now) }
        writeIntent(Renewal.Try(attempt: round.attempt, given: given, round: round), now)
    }

    /// Writes the intent; the request leaves when that has ended, well or not.
    mutating func writeIntent(_ next: Renewal.Try, _ now: Moment) {
        guard case .signedIn(var session) = installation else { return }
        let usesAnswer = next.given != nil || !traits(of: session.stored.scheme).renewsByRefreshToken
        let changesRecord = session.renewalBegan(usesAnswer: usesAnswer, isRefreshRetry: next.isRefreshRetry)
        installation = .signedIn(session)
        renewal.writeIntent(of: next, until: changesRecord ? updateRecord() : .none, now)
    }

    /// The intent is written, or the disk refused it: the request is sent either way.
    mutating func sendRenewal(_ now: Moment) -> [Effect] {
        guard case .writingIntent(let next, let update) = renewal.phase, persistence.hasEnded(update),
            let session = installation.session
        else {
            return []
        }
        // A sign-in that was granted replaces this session, whose refresh token is not spent any more. A replay is sent all the
        // same: until the switch is on disk, a crash brings this session back.
        if signIn.granted != nil || persistence.change != nil, !next.isRefreshRetry { return [] }
        renewal.send(next, now)
        return [.renew(next.attempt, session.stored.identity, with: session.secrets, using: next.given?.secret)]
    }

    // MARK: Ending

    /// The new generation is on disk (or the disk refused it, and it is served from memory).
    mutating func rotated(_ now: Moment) -> [Effect] {
        if let shortfall = renewal.shortfall, let session = installation.session {
            return reported(shortfall.tried, .unavailable(shortfall.failure), session, now)
        }
        renewal.succeeded()
        callers.move { caller in
            guard caller.wait.isForRenewal else { return nil }
            return caller.done().map { .answer(.success($0)) } ?? .token(hasHadRenewal: true)
        }
        return [.report(.renewalEnded(.succeeded))]
    }

    /// The verdict is on disk (or the disk refused it): the session is over.
    mutating func ended(_ termination: Termination) -> [Effect] {
        renewal.abandon()
        callers.refuse(.terminated(termination)) { $0 == .renewal }
        return []
    }
}

extension Callers.Wait {
    /// Whether a renewal that ends concerns it.
    var isForRenewal: Bool {
        switch self {
        case .renewal, .token: true
        default: false
        }
    }
}

extension Unavailability {
    fileprivate static let ofAnotherUser = Unavailability(
        "The provider answered the renewal with another user's session",
        ambiguous: true
    )
}

extension RenewalFailure {
    var outcome: SessionEvent.Outcome {
        switch self {
        case .terminated: .terminated
        case .reauthenticationRequired: .reauthenticationRequired
        case .answerRefused: .refused
        case .registrationForgotten: .refused
        case .unavailable: .unavailable
        }
    }
}
