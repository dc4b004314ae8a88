/// Questions to the session handlers: for a renewal, or for a sign-in without a token.
extension SessionMachine {
    // MARK: Events

    package mutating func handlerRegistered(_ handler: HandlerID, now: Moment) -> [Effect] {
        rounds.register(handler)
        return settle(now)
    }

    /// Handles a handler that unregistered or disconnected. If it was being asked, the next one is asked.
    package mutating func handlerGone(_ handler: HandlerID, now: Moment) -> [Effect] {
        if let round = round(of: rounds.remove(handler)) { continueRound(round.afterFailure("the last one has gone")) }
        return settle(now)
    }

    /// Handles a handler's answer. An answer without an open question (late, repeated, after a sign-out) is dropped.
    package mutating func handlerAnswered(
        _ handler: HandlerID,
        _ attempt: AttemptID,
        _ answer: HandlerAnswer,
        now: Moment
    ) -> [Effect] {
        guard let round = round(of: attempt), rounds.answered(handler, attempt) else { return [] }
        let effects = round.isOfSignIn ? signIn(with: answer, of: round, now) : renew(with: answer, of: round, now)
        return effects + settle(now)
    }

    private mutating func signIn(
        with answer: HandlerAnswer,
        of round: HandlerRounds.Round,
        _ now: Moment
    ) -> [Effect] {
        switch answer {
        case .unable, .renew: continueRound(round.afterFailure("the last one could not get a token"))
        case .failed(let words): continueRound(round.afterFailure("the last one said: \(words)"))
        case .secret(let handlerSecret): return sendExchange(round, handlerSecret: handlerSecret.secret, now)
        }
        return []
    }

    private mutating func renew(
        with answer: HandlerAnswer,
        of round: HandlerRounds.Round,
        _ now: Moment
    ) -> [Effect] {
        switch answer {
        case .unable:
            continueRound(round.afterFailure("the last one could not get a token"))
        case .failed:
            // An app's own text would reach the snapshot and the log, and may hold a secret. Only the caller of a
            // sign-in gets it.
            continueRound(round.afterFailure("the last one answered with an error"))
        case .renew
        where installation.session.map {
            $0.reauthenticationPending && !mayRetryWhileReauthenticationRequired($0)
        } ?? false:
            renewal.rest()
            repeatForCallers(.reauthenticationRequired, now)
            callers.refuse(.reauthenticationRequired) { $0 == .renewal }
        case .renew:
            renew(round, with: nil, now)
        case .secret(let handlerSecret):
            renew(round, with: handlerSecret, now)
        }
        return []
    }

    /// The postponement in force.
    var postponement: Session.Postponement? { renewal.isPostponed ? installation.session?.postponement : nil }

    mutating func endPostponement(_ now: Moment) {
        guard let postponement, postponement.until <= now.uptime else { return }
        renewal.postponementEnded()
        installation.session?.postponementEnded()
    }

    // MARK: Asking

    /// Whether apps are asked about the renewals of this session.
    func asksApps(_ session: Session) -> Bool {
        switch traits(of: session.scheme).asksApps {
        case .inHandlerMode: rules.mode == .handler
        case .always: true
        case .never: false
        }
    }

    /// Whether a renewal of this session needs a handler. A refresh retry does not: the refresh token is the session's
    /// own.
    func needsHandler(_ session: Session) -> Bool {
        asksApps(session) && renewal.attemptToRepeat == nil && !renewal.isRetryingRefresh
    }

    /// Whether a renewal may begin during a postponement. The token must have expired, and a user must have a handler
    /// and not have been asked since the renewal began. That handler may have a token although the others could not
    /// help. A pause that the provider demands has to be over.
    func mayPassPostponement(_ session: Session, _ now: Moment) -> Bool {
        renewal.isPostponed && session.demandedUntil(now) == nil && !session.isServable(now)
            && !rounds.usersNotAsked.isEmpty
    }

    /// Returns a round for a renewal. Without `users`, it asks every user who has a handler.
    func round(
        for session: Session,
        _ attempt: AttemptID,
        _ reason: RenewalReason,
        by uid: UInt32? = nil,
        of users: [UInt32]? = nil,
        _ now: Moment
    ) -> HandlerRounds.Round {
        HandlerRounds.Round(
            attempt: attempt,
            reason: reason,
            userId: session.identity.userId,
            expiresAt: session.token?.expiresAt,
            uid: uid,
            limit: roundLimit(session, now),
            users: users ?? rounds.users
        )
    }

    /// Returns the time limit of a round for a renewal of this session.
    func roundLimit(_ session: Session, _ now: Moment) -> Duration {
        RenewalPolicy.roundLimit(left: session.validity(now), handlerTimeout: rules.handlerTimeout)
    }

    private var openRounds: [HandlerRounds.Round] { [signIn.round, renewal.round].compactMap(\.self) }

    private func round(of attempt: AttemptID?) -> HandlerRounds.Round? { openRounds.first { $0.attempt == attempt } }

    /// Goes on with a round whose last answer was of no use.
    mutating func continueRound(_ round: HandlerRounds.Round) {
        rounds.putBehindOthers(round.lastAsked)
        keep(round)
    }

    private mutating func keep(_ round: HandlerRounds.Round) {
        if round.isOfSignIn { signIn.ask(round) } else { renewal.continueRound(round) }
    }

    /// Asks the next handler if no question is open, and ends the rounds in which no handler could help.
    mutating func advanceRounds(_ now: Moment) -> [Effect] {
        rounds.closeQuestion(unlessOf: openRounds)
        if let round = round(of: rounds.timedOut(now)) {
            continueRound(round.afterFailure("the last one did not answer in time"))
        }
        var effects: [Effect] = []
        while var round = rounds.next(of: openRounds) {
            if let question = rounds.ask(&round, within: rules.handlerTimeout, now) {
                keep(round)
                effects.append(question)
            } else {
                effects += roundFailed(round, now)
            }
        }
        return effects
    }

    private mutating func roundFailed(_ round: HandlerRounds.Round, _ now: Moment) -> [Effect] {
        guard round.isOfSignIn else {
            postpone(after: round, now)
            let failure = Unavailability(round.words, remedy: "see why the app has no token", cause: .handler)
            let next = renewalDue(now).map(now.wall(at:))
            return [.report(.renewalEnded(.unavailable, failure, nextAttempt: next))]
        }
        signIn.end()
        let refusal = SessionError.noHandlerCouldSignIn(round)
        callers.refuse(refusal) { $0 == .session }
        // Each answer that the provider has refused was already reported.
        if round.refused > 0 { return [] }
        let text = round.asked > 0 ? "The sign-in brings no token, and \(round.summary)" : refusal.message
        let failure = Unavailability(text, remedy: refusal.remedy, cause: .handler)
        return [.report(.exchangeEnded(.unavailable, failure))]
    }

    /// Begins a postponement: no handler could help, the user's budget is used up, or a handler's answer was refused
    /// during a demanded pause.
    mutating func postpone(after round: HandlerRounds.Round, _ now: Moment) {
        let delay = rules.postponement + random.uniform(in: RenewalPolicy.postponementSpread)
        installation.session?.postpone(until: now.uptime + delay, after: round.words)
        guard let session = installation.session else { return }
        renewal.postpone(session, now)
        let pause = max(delay, (session.demandedUntil(now) ?? now.uptime) - now.uptime)
        let refusal = SessionError.noHandlerCouldRenew(round.words, retryAfter: pause)
        repeatForCallers(refusal, saying: round.words, now)
        // A caller must be able to rely on the postponement after a crash, so it is answered after the write.
        let update = updateRecord()
        for caller in callers.list where caller.wait.isForRenewal {
            callers.setWait(caller.id, to: .update(update, outcome(for: caller.kind, session, refusal, now)))
        }
    }
}

extension SessionError {
    private static let howToRegister = "Register one (handler.register, or junctionctl handle-renewals --exec COMMAND)"

    /// The error of a sign-in without a token when no handler had one. It is temporary, because an app or its server
    /// may be away. It is permanent if the provider refused a token.
    static func noHandlerCouldSignIn(_ round: HandlerRounds.Round) -> SessionError {
        guard round.asked > 0 else {
            return SessionError(
                .providerUnavailable,
                "The sign-in brings no token, and no session handler is registered. \(howToRegister), or hand the token in",
                remedy:
                    "start the app that gets tokens, or run 'junctionctl handle-renewals --exec COMMAND', or give the "
                    + "token with the sign-in; it is not tried again by itself"
            )
        }
        return SessionError(
            round.refused > 0 ? .invalidCredential : .providerUnavailable,
            // The log has the error of a refused credential, and a handler's own text may contain a secret.
            "The sign-in brings no token, and \(round.refused > 0 ? round.summary : round.words). See why the app has none, "
                + "or hand the token in",
            remedy:
                "find out why the app has no valid token, or give a token with the sign-in; the daemon does not repeat the sign-in"
        )
    }

    /// The error of a renewal when no handler could help and none is asked before `retryAfter`.
    static func noHandlerCouldRenew(_ words: String, retryAfter: Duration) -> SessionError {
        SessionError(
            .tokenExpired,
            "The session cannot be renewed now: \(words). It is kept, and they are asked again in "
                + "\(retryAfter.wholeSeconds) s, or sooner by session.renew (junctionctl renew), which asks at most once in ten "
                + "seconds. See why the app has no token, or sign in again",
            retryAfter: retryAfter
        )
    }

    /// The same error for a repeated `session.renew` within ten seconds.
    static func noHandlerCouldRenew(_ words: String, renewableAfter pause: Duration) -> SessionError {
        SessionError(
            .tokenExpired,
            "The session cannot be renewed now: \(words). It is kept, and session.renew (junctionctl renew) asks the "
                + "handlers again in \(pause.wholeSeconds) s at the earliest. See why the app has no token, or sign in again",
            retryAfter: pause
        )
    }

    /// The error of `session.renew` during a postponement, when no handler is registered.
    static let noHandlerIsRegisteredWhilePostponed = SessionError(
        .tokenExpired,
        "The session cannot be renewed now: no session handler is registered. \(howToRegister), and then call session.renew "
            + "(junctionctl renew)",
        remedy:
            "start the app that gets tokens, or run 'junctionctl handle-renewals --exec COMMAND', and then 'junctionctl renew'"
    )

    static let noHandlerIsRegistered = SessionError(
        .tokenExpired,
        "The session cannot be renewed now: no session handler is registered. \(howToRegister), and the renewal begins",
        remedy:
            "start the app that gets tokens, or run 'junctionctl handle-renewals --exec COMMAND': the renewal then begins "
            + "by itself"
    )
}

extension Duration {
    /// The duration in whole seconds, rounded up so that a caller does not return too early.
    fileprivate var wholeSeconds: Int64 { (wholeMilliseconds + 999) / 1_000 }
}
