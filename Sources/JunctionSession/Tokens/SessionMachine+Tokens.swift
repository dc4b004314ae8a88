/// Answers callers that want a token, or the credential of an API call.
extension SessionMachine {
    enum TokenDecision {
        case answer(Reply.Outcome)
        case wait
        case renew
    }

    // MARK: Events

    package mutating func tokenRequested(
        _ request: RequestID,
        minimumValidity: Duration,
        by uid: UInt32,
        now: Moment
    ) -> [Effect] {
        callers.add(
            request,
            .token(minimumValidity: minimumValidity),
            by: uid,
            waitingFor: .token(hasHadRenewal: false)
        )
        return settle(now)
    }

    /// Handles an API call that needs the session's credential.
    ///
    /// - Parameter rejected: the generation of the credential that the API has rejected (401), if it has. The
    ///   credential is replaced only if this generation is still the current one.
    package mutating func authorizationRequested(
        _ request: RequestID,
        replacing rejected: UInt64? = nil,
        by uid: UInt32,
        now: Moment
    ) -> [Effect] {
        let kind = rejected.map(Callers.Caller.Kind.replacement) ?? .authorization
        callers.add(request, kind, by: uid, waitingFor: .token(hasHadRenewal: false))
        return settle(now)
    }

    package var servable: ServableToken? {
        guard !persistence.isSigningOut, let token = installation.session?.servable, token.facts.life >= .zero else {
            return nil
        }
        return token
    }

    // MARK: Serving

    mutating func renewForCallers(_ now: Moment) -> [Effect] {
        for caller in callers.list {
            guard case .token(let hasHadRenewal) = caller.wait,
                case .renew = decision(for: caller.kind, hasHadRenewal, now)
            else { continue }
            if let refusal = budget.refusal(of: caller.uid, now: now) {
                callers.refuse(caller.id, refusal)
                continue
            }
            let reason = reason(for: caller.kind, now)
            if reason == .rejected { renewal.replaceRejected(now) }
            beginRenewal(reason, by: caller.uid, now)
        }
        return []
    }

    func decision(for kind: Callers.Caller.Kind, _ hasHadRenewal: Bool, _ now: Moment) -> TokenDecision {
        if persistence.isSigningOut { return .answer(.failure(.notSignedIn)) }
        if let session = installation.session { return decision(for: kind, hasHadRenewal, session, now) }
        if isSigningIn { return .wait }
        return .answer(.failure(sessionRefusal ?? .notSignedIn))
    }

    private func decision(
        for kind: Callers.Caller.Kind,
        _ hasHadRenewal: Bool,
        _ session: Session,
        _ now: Moment
    ) -> TokenDecision {
        guard let token = session.token else { return .answer(outcomeWithApiKey(for: kind)) }
        let isAlive = session.isServable(now)
        switch kind {
        case .token(let minimumValidity):
            let maximum = token.life * RenewalPolicy.largestValidity
            if minimumValidity > maximum { return .answer(.failure(.validityTooLarge(maximum: maximum))) }
            if isAlive, session.validity(now) >= minimumValidity { return .answer(.success(.token(token))) }
        case .authorization:
            if isAlive { return .answer(.success(.authorized(generation: token.generation))) }
        case .replacement(let rejected):
            if isAlive, rejected != token.generation {
                return .answer(.success(.authorized(generation: token.generation)))
            }
        case .change, .identify:
            break
        }
        if !renewal.isResting || persistence.change != nil { return .wait }
        return needOfRenewal(of: kind, hasHadRenewal, session, now)
    }

    /// Decides whether this caller may cause a renewal, because the present token is not sufficient.
    private func needOfRenewal(
        of kind: Callers.Caller.Kind,
        _ hasHadRenewal: Bool,
        _ session: Session,
        _ now: Moment
    ) -> TokenDecision {
        if session.reauthenticationPending { return .answer(.failure(.reauthenticationRequired)) }
        if let postponement {
            let pause = postponement.until - now.uptime
            let refusal = SessionError.noHandlerCouldRenew(postponement.words, retryAfter: pause)
            return .answer(outcome(for: kind, session, refusal, now))
        }
        if !canBeginRenewal { return .answer(outcome(for: kind, session, .noHandlerIsRegistered, now)) }
        if case .replacement = kind, session.isServable(now) {
            let isBackingOff = renewal.retryAt != nil && !renewal.retry.mayTrySooner(now)
            let isBarred = hasHadRenewal || renewal.hasReplacedJustNow(now) || isBackingOff
            return isBarred ? .answer(.success(.rejectionStands)) : .renew
        }
        let age = session.obtainedAt.map { now.uptime - $0 }
        let spacing = age.map { RenewalPolicy.attemptSpacing - $0 }.flatMap { $0 > .zero ? $0 : nil }
        if hasHadRenewal { return .answer(outcome(for: kind, session, tokenExpired(retryAfter: spacing), now)) }
        if let retryAt = renewal.retryAt {
            // Only a caller with an expired token may begin an attempt before the backoff ends.
            if !session.isServable(now), renewal.retry.mayTrySooner(now) { return .renew }
            let refusal = tokenExpired(retryAfter: retryAt - now.uptime)
            return .answer(outcome(for: kind, session, refusal, now))
        }
        if session.isServable(now), let spacing {
            return .answer(outcome(for: kind, session, tokenExpired(retryAfter: spacing), now))
        }
        return .renew
    }

    /// Returns the outcome if no renewal is possible now. While the token lives, the error is not `tokenExpired`: a
    /// caller that wants a longer validity has to wait, and a requested renewal has failed for now.
    func outcome(
        for kind: Callers.Caller.Kind,
        _ session: Session,
        _ refusal: SessionError,
        _ now: Moment
    ) -> Reply.Outcome {
        guard refusal.kind == .tokenExpired, session.isServable(now) else { return .failure(refusal) }
        var refusal = refusal
        switch kind {
        case .replacement:
            return .success(.rejectionStands)
        case .change:
            refusal.kind = .providerUnavailable
        case .token, .authorization, .identify:
            refusal.kind = .busy
            refusal.retryAfter = refusal.retryAfter ?? RenewalPolicy.attemptSpacing
            refusal.remedy = refusal.remedy ?? "ask for a shorter validity: the present token lives"
        }
        return .failure(refusal)
    }

    /// Names the error of the last renewal, which is the cause while renewals fail.
    private func tokenExpired(retryAfter: Duration?) -> SessionError {
        SessionError(
            .tokenExpired,
            "The daemon has no access token that is valid long enough now: the session is kept, ask again later"
                + (renewal.lastError.map { " (last error: \($0))" } ?? ""),
            retryAfter: retryAfter
        )
    }

    private func reason(for kind: Callers.Caller.Kind, _ now: Moment) -> RenewalReason {
        if case .replacement = kind { return .rejected }
        return installation.session?.isServable(now) == true ? .expiring : .expired
    }

    private func outcomeWithApiKey(for kind: Callers.Caller.Kind) -> Reply.Outcome {
        switch kind {
        case .authorization: .success(.authorized(generation: servedGeneration))
        case .replacement: .success(.rejectionStands)
        case .token, .change, .identify:
            .failure(SessionError(.unsupported, "An API key session has no access token: use api.request instead"))
        }
    }

    var sessionRefusal: SessionError? {
        if persistence.isSigningOut { return .notSignedIn }
        return switch installation {
        case .signedOut, .configured: .notSignedIn
        case .terminated(let termination, _): .terminated(termination)
        case .unreadable(let unreadable): SessionError(.storageUnavailable, unreadable.remedy)
        case .signedIn: nil
        }
    }

    package func reconciliation(withUserId userId: String?) -> ReconcileAction {
        switch persistence.isSigningOut ? .signedOut : installation {
        case .signedIn(let session):
            guard let userId else { return .signOut }
            guard session.identity.isCalled(userId) else { return .switch }
            if session.scheme == .apiKey { return .migrate }
            return session.reauthenticationPending ? .reauthenticate : .none
        case .unreadable(let unreadable):
            guard let user = unreadable.header?.signedInUser else { return userId == nil ? .none : .signIn }
            guard let userId else { return .signOut }
            // Earlier releases wrote every id in lower case into the header.
            guard user.lowercased() == userId.lowercased() else { return .switch }
            return unreadable.header?.scheme == .apiKey ? .migrate : .none
        case .signedOut, .configured, .terminated:
            return userId == nil ? .none : .signIn
        }
    }
}

extension Restoration.Header {
    fileprivate var signedInUser: String? { state.isSignedIn ? userId : nil }
}

extension SessionState {
    package var isSignedIn: Bool {
        switch self {
        case .established, .tokenExpired: true
        case .notLoggedIn, .establishing, .terminated: false
        }
    }
}

extension SessionError {
    static func validityTooLarge(maximum: Duration) -> SessionError {
        SessionError(
            .invalidParameters,
            "minimumValidity is more than 80 % of the token's life",
            maximum: maximum
        )
    }
}
