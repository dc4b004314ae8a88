/// Renewals: what each outcome means for the session.
extension SessionMachine {
    // MARK: Events

    /// Handles `session.renew`.
    package mutating func renewRequested(_ request: RequestID, by uid: UInt32, now: Moment) -> [Effect] {
        callers.add(request, .change, by: uid, waitingFor: .renewal)
        return settle(now)
    }

    mutating func beginRequestedRenewals(_ now: Moment) -> [Effect] {
        for caller in callers.list where caller.wait == .renewal { beginRequestedRenewal(caller, now) }
        return []
    }

    private mutating func beginRequestedRenewal(_ caller: Callers.Caller, _ now: Moment) {
        if let refusal = renewalRefusal { return callers.refuse(caller.id, refusal) }
        guard renewal.isResting, persistence.change == nil, let session = installation.session else { return }
        let refusal =
            renewal.refusalToRepeat(now) ?? refusalWithoutHandler ?? budget.refusal(of: caller.uid, now: now)
        if let refusal {
            callers.setWait(caller.id, to: .answer(outcome(for: .change, session, refusal, now)))
        } else {
            beginRenewal(.requested, by: caller.uid, now)
        }
    }

    private var refusalWithoutHandler: SessionError? {
        canBeginRenewal
            ? nil : renewal.isPostponed ? .noHandlerIsRegisteredWhilePostponed : .noHandlerIsRegistered
    }

    private var renewalRefusal: SessionError? {
        if let refusal = sessionRefusal { return refusal }
        guard let session = installation.session else { return .notSignedIn }
        if session.token == nil {
            return SessionError(.unsupported, "An API key is not renewed: there is nothing to do")
        }
        let isInVain =
            session.reauthenticationPending && !asksApps(session)
            && !mayRetryWhileReauthenticationRequired(session)
        return isInVain ? .reauthenticationRequired : nil
    }

    /// Whether the provider's demand for a new credential may have become obsolete.
    func mayRetryWhileReauthenticationRequired(_ session: Session) -> Bool {
        traits(of: session.scheme).mayRetryAfterDemand || session.isReauthenticationPresumed
    }

    /// Handles a new token, or a new refresh token without a usable access token. The machine writes such a refresh
    /// token first. Then the renewal has failed, and the next attempt uses it.
    package mutating func renewalSucceeded(_ attempt: AttemptID, _ granted: Granted, now: Moment) -> [Effect] {
        if renewal.answered(attempt, .success(granted), now) { return settle(now) }
        dropGrant(of: attempt)
        return revokeUnwanted(attempt, granted, now)
    }

    package mutating func renewalFailed(_ attempt: AttemptID, _ failure: RenewalFailure, now: Moment) -> [Effect] {
        if renewal.answered(attempt, .failure(failure), now) { return settle(now) }
        _ = revocations.arrived(attempt)
        revokeGrant(of: attempt, now)
        return settle(now)
    }

    /// Uses the answer to a renewal, unless a change is being written, which may end the session. A granted answer also
    /// waits for the write of an external user id by `session.identify`, which a withdrawn right may undo.
    mutating func useRenewalAnswer(_ now: Moment) -> [Effect] {
        guard case .answered(let tried, _, let answer) = renewal.phase, persistence.change == nil,
            let session = installation.session
        else { return [] }
        switch answer {
        case .failure(let failure):
            return reported(tried, failure, session, now)
        case .success where callers.isWritingName(to: persistence):
            return []
        case .success(let granted) where !granted.identity.isSameUser(as: session.identity):
            // Without a handler's secret, the grant is the successor of the session's own refresh token. Revoking it
            // would end the session's own login.
            guard tried.handlerSecret != nil else {
                return reported(tried, .unavailable(.ofAnotherUser), session, now)
            }
            dropGrant(of: tried.attempt)
            revoke(granted, now)
            return reported(tried, .answerRefused("The session handler's token is for another user"), session, now)
        case .success(let granted):
            dropGrant(of: tried.attempt)
            if let failure = granted.missingAccessToken {
                renewal.storeSuccessor(tried, failure)
                persistence.begin(.rotation, .signedIn(session.replacingRefreshToken(with: granted.secrets)))
            } else {
                renewal.store()
                let next = session.renewed(
                    granted,
                    as: scheme(of: session, after: granted),
                    generation: persistence.nextGeneration,
                    at: now,
                    using: &random
                )
                persistence.begin(.rotation, .signedIn(next))
            }
            return []
        }
    }

    /// Returns the scheme after a renewal. With its first refresh token, a session no longer needs the app's server.
    private func scheme(of session: Session, after granted: Granted) -> Scheme {
        let present = session.scheme
        if traits(of: present).renewsByRefreshToken { return present }
        return traits(of: granted.scheme).renewsByRefreshToken ? granted.scheme : present
    }

    private mutating func reported(
        _ tried: Renewal.Attempt,
        _ failure: RenewalFailure,
        _ session: Session,
        _ now: Moment
    ) -> [Effect] {
        var failure = failure
        // Without a refresh token there was nothing to send, so the provider has demanded nothing. Another handler may have
        // a token.
        if case .reauthenticationRequired = failure, tried.round != nil, tried.handlerSecret == nil,
            !traits(of: session.scheme).renewsByRefreshToken
        {
            failure = .answerRefused("It answered renew, and the session has no refresh token: it has to give a token")
        }
        judge(tried, failure, session, now)
        // The time of the next attempt is known only after `judge`.
        let next = renewalDue(now).map(now.wall(at:))
        var (outcome, reason) = failure.report
        if case .answerRefused = failure, !asksApps(session) { reason.remedy = Self.howToAskApps }
        // Refusals without a reason may have become a demand for a new credential.
        if reason.isUnexplainedRefusal, installation.session?.reauthenticationPending == true {
            outcome = .reauthenticationRequired
        }
        return [.report(.renewalEnded(outcome, reason, nextAttempt: next))]
    }

    private mutating func judge(
        _ tried: Renewal.Attempt,
        _ failure: RenewalFailure,
        _ session: Session,
        _ now: Moment
    ) {
        switch failure {
        case .terminated(let code, let message):
            // The failed renewal has brought nothing to revoke.
            end(session, Verdict(code: code, message: message), now)
        case .reauthenticationRequired:
            reauthenticationDemanded(now)
        case .unavailable(let unavailability):
            var session = session
            let isDemanded = session.isReauthenticationDemanded
            if unavailability.isUnexplainedRefusal, !tried.isRefreshRetry, session.hasCertainlyExpired(now), !isDemanded
            {
                session.refusedWithoutReason(now)
                updateRecord()
            }
            retryLater(tried, unavailability, session, now)
        case .answerRefused(let reason):
            revokeGrant(of: tried.attempt, now)
            guard asksApps(session) else {
                let failure = Unavailability(reason, remedy: Self.howToAskApps, cause: .handler)
                return retryLater(tried, failure, session, now)
            }
            askNext(after: tried, reason, session, now)
        case .registrationForgotten:
            registrationForgotten(tried, session, now)
        }
    }

    private static let howToAskApps =
        "set renewal.mode = \"handler\" and restart junctiond, so that the daemon asks an app for the token"

    /// Asks the next handler, because the provider refused a handler's answer.
    private mutating func askNext(after tried: Renewal.Attempt, _ reason: String, _ session: Session, _ now: Moment) {
        let round =
            tried.round?.continued(by: tried.attempt, within: roundLimit(session, now))
            ?? round(for: session, tried.attempt, session.isServable(now) ? .expiring : .expired, now)
        rounds.putBehindOthers(round.lastAsked)
        // During a demanded pause, `session.renew` has sent its one request.
        guard session.demandedUntil(now) == nil else { return postpone(after: round.afterRefusal(reason), now) }
        renewal.ask(round.afterRefusal(reason), now)
    }

    /// Keeps the session and registers it again at once: with the same app secret if it is not spent, otherwise with a
    /// new one. If the provider forgets the new registration, too, the renewal has failed.
    private mutating func registrationForgotten(
        _ tried: Renewal.Attempt,
        _ session: Session,
        _ now: Moment
    ) {
        if tried.handlerSecret == nil, asksApps(session) {
            return askNext(after: tried, "the provider has forgotten this installation", session, now)
        }
        var tried = tried
        tried.isRefreshRetry = false
        // The provider accepts a signature once, so a spent one is dropped. The handlers are asked for a new one at once,
        // also during a postponement.
        if tried.handlerSecret?.isSpentByUse == true { tried.handlerSecret = nil }
        let isSpent = tried.handlerSecret == nil && asksApps(session)
        // The round asks the user whose handler gave the signature first, then those whom it has not asked.
        let users = ((tried.round?.users ?? []) + [tried.round?.lastAsked?.uid].compactMap(\.self))
            .filter(rounds.users.contains)
        guard renewal.markRegistrationForgotten(), session.demandedUntil(now) == nil, !isSpent || !users.isEmpty else {
            let failure = Unavailability("The provider has forgotten this installation: it has to be registered again")
            return retryLater(tried, failure, session, now)
        }
        guard isSpent else { return writeIntent(tried, now) }
        let reason = tried.round?.reason ?? reason(for: session, now)
        renewal.ask(round(for: session, nextAttempt(), reason, by: tried.round?.uid, of: users, now), now)
    }

    private mutating func reauthenticationDemanded(_ now: Moment) {
        signIn.forgetDeviceError()
        installation.session?.reauthenticationDemanded()
        renewal.reauthenticationDemanded()
        repeatForCallers(.reauthenticationRequired, now)
        callers.refuse(.reauthenticationRequired, after: updateRecord()) { $0 == .renewal }
    }

    /// Keeps the session, answers the callers that wait, and sets the time of the next attempt.
    private mutating func retryLater(
        _ tried: Renewal.Attempt,
        _ failure: Unavailability,
        _ session: Session,
        _ now: Moment
    ) {
        var (session, failure) = (session, failure)
        if session.isReauthenticationPresumed {
            failure.retryAfter = max(failure.retryAfter ?? .zero, RenewalPolicy.refusedRetry)
        }
        if let demanded = failure.retryAfter {
            session.pause(until: now.uptime + RenewalPolicy.delay(afterBeingAsked: demanded, using: &random))
        }
        let isRefreshRetryable = tried.handlerSecret == nil && traits(of: session.scheme).renewsByRefreshToken
        var refusal = renewal.failed(
            failure,
            tried,
            session,
            refreshTokenSentAt: isRefreshRetryable ? renewal.sentAt : nil,
            now,
            using: &random
        )
        repeatForCallers(refusal, now)
        if !failure.ambiguous, !renewal.isOutcomeUnknown { session.clearIntent() }
        if session.demandedUntil(now) != nil { updateRecord() }
        installation = .signedIn(session)
        if asksApps(session) { renewal.resumePostponement(session, now) }
        if let postponement { refusal.retryAfter = postponement.until - now.uptime }
        callers.refuse(refusal, where: \.isForRenewal)
    }

    /// Repeats this failure to callers of `session.renew` for ten seconds, if such a caller waits now.
    mutating func repeatForCallers(_ refusal: SessionError, saying words: String? = nil, _ now: Moment) {
        if callers.list.contains(where: { $0.wait == .renewal }) {
            renewal.rememberRefusal(refusal, saying: words, now)
        }
    }

    // MARK: Beginning

    /// Whether a renewal can begin now: a handler is registered, or none is needed.
    var canBeginRenewal: Bool {
        guard let session = installation.session else { return false }
        return !needsHandler(session) || !rounds.handlers.isEmpty
    }

    /// Returns the time at which a renewal is due without a caller. `nil` while one is under way or the session is
    /// being changed.
    func renewalDue(_ now: Moment) -> Uptime? {
        guard let session = installation.session, persistence.change == nil else { return nil }
        return renewal.due(session, now)
    }

    mutating func renewIfDue(_ now: Moment) -> [Effect] {
        guard let session = installation.session, let due = renewalDue(now), canBeginRenewal,
            due <= now.uptime || mayPassPostponement(session, now)
        else { return [] }
        beginRenewal(reason(for: session, now), by: nil, now)
        return []
    }

    /// Returns the reason of a renewal that is due without a caller.
    private func reason(for session: Session, _ now: Moment) -> RenewalReason {
        guard session.isServable(now) else { return .expired }
        return renewal.isRegistrationForgotten ? .rejected : .expiring
    }

    /// Begins a renewal, with a question to a handler if one is needed. The caller has checked `canBeginRenewal`.
    ///
    /// - Parameter uid: the user whose budget pays for the call. `nil` if the renewal was due.
    mutating func beginRenewal(_ reason: RenewalReason, by uid: UInt32?, _ now: Moment) {
        guard let session = installation.session, renewal.isResting, persistence.change == nil else { return }
        let attempt = nextAttempt()
        guard needsHandler(session) else {
            if let uid { budget.charge(uid, now: now) }
            return writeIntent(renewal.attempt(attempt), now)
        }
        // For `session.renew`, the round asks every user again.
        let users = !renewal.isPostponed || reason == .requested ? nil : rounds.usersNotAsked
        if session.postponement?.until ?? now.uptime <= now.uptime { rounds.forgetAskedUsers() }
        renewal.ask(round(for: session, attempt, reason, by: uid, of: users, now), now)
    }

    mutating func renew(_ round: HandlerRounds.Round, with handlerSecret: HandlerSecret?, _ now: Moment) {
        // The limit was checked when the round began. After refused answers it is checked again, so that handlers with
        // bad answers cannot exceed it.
        if let uid = round.uid, round.refused > 0, let refusal = budget.refusal(of: uid, now: now) {
            return postpone(after: round.afterRefusal(refusal.message), now)
        }
        if let uid = round.uid { budget.charge(uid, now: now) }
        writeIntent(Renewal.Attempt(attempt: round.attempt, handlerSecret: handlerSecret, round: round), now)
    }

    /// Writes the intent. The request leaves when that write has ended, whether the disk has taken or refused it.
    mutating func writeIntent(_ next: Renewal.Attempt, _ now: Moment) {
        guard let session = installation.session else { return }
        let usesAnswer = next.handlerSecret != nil || !traits(of: session.scheme).renewsByRefreshToken
        let isKnown = next.isRefreshRetry && session.renewalUnderWay && !session.intentCannotBeResent
        installation.session?.renewalBegan(usesAnswer: usesAnswer)
        renewal.writeIntent(of: next, until: isKnown ? .none : updateRecord(), now)
    }

    /// Sends the request when the write of the intent has ended, whether the disk has taken or refused it.
    mutating func sendRenewal(_ now: Moment) -> [Effect] {
        guard case .writingIntent(let next, let update) = renewal.phase, persistence.hasEnded(update),
            let session = installation.session
        else {
            return []
        }
        // A granted sign-in replaces this session, so a renewal no longer spends its refresh token. A refresh retry is
        // sent nevertheless: until the switch is on disk, a crash brings this session back.
        if signIn.granted != nil || persistence.change != nil, !next.isRefreshRetry { return [] }
        renewal.send(next, now)
        return [.renew(next.attempt, session.identity, with: session.secrets, using: next.handlerSecret?.secret)]
    }

    // MARK: Ending

    /// Completes a rotation. The new generation is on disk, or the disk refused it and the daemon serves it from
    /// memory.
    mutating func rotated(_ now: Moment) -> [Effect] {
        if case .storingSuccessor(let tried, let failure) = renewal.phase, let session = installation.session {
            return reported(tried, .unavailable(failure), session, now)
        }
        renewal.succeeded()
        callers.setWait { caller in
            guard caller.wait.isForRenewal else { return nil }
            return caller.done().map { .answer(.success($0)) } ?? .token(hasHadRenewal: true)
        }
        return [.report(.renewalEnded(.succeeded))]
    }

    /// Completes a verdict. It is on disk, or the disk refused it. The session is over.
    mutating func ended(_ termination: Termination, _ now: Moment) {
        callers.refuse(.terminated(termination)) { $0 == .renewal }
        abandonRenewal(isRevoking: true, now)
    }

    /// Ends a renewal that another event has made pointless, and drops its partial grants.
    ///
    /// - Parameter isRevoking: false if the user stays signed in. Some providers would end all logins of the user.
    mutating func abandonRenewal(isRevoking: Bool, _ now: Moment) {
        renewal.abandon()
        let dropped = grants.drop(for: .renewal)
        if !dropped.isEmpty { updateRecord() }
        if isRevoking { for grant in dropped { revoke(grant, now) } }
    }
}

extension Callers.Wait {
    /// Whether the end of a renewal concerns this caller.
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
    /// The failure for the log and the metrics.
    var report: (outcome: SessionEvent.Outcome, reason: Unavailability) {
        switch self {
        case .terminated(let code, let message):
            (.terminated, Unavailability("\(message) (\(code))", cause: .termination))
        case .reauthenticationRequired:
            (
                .reauthenticationRequired,
                Unavailability(SessionError.reauthenticationRequired.message, cause: .reauthentication)
            )
        case .answerRefused(let reason):
            (.refused, Unavailability(reason, cause: .handler))
        case .registrationForgotten:
            (.refused, Unavailability("The provider has forgotten this installation", cause: .registration))
        case .unavailable(let failure):
            (.unavailable, failure)
        }
    }
}
