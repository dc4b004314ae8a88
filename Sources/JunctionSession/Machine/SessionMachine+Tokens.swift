/// Handing out what the renewals brought.
extension SessionMachine {
    /// A caller who waits for an access token, or for the credential of an API call.
    struct TokenWaiter: Equatable, Sendable {
        var request: RequestID
        var need: Need
        var allowance: Allowance
        /// A renewal has been made while it waited: at most one a call.
        var hasHadRenewal = false

        enum Need: Equatable, Sendable {
            case token(minimumValidity: Duration)
            case authorization
            /// The API rejected the credential of this generation.
            case replacement(of: UInt64)
        }
    }

    private enum Verdict {
        case answer(Reply)
        case wait
        case renew
    }

    // MARK: Events

    /// A caller wants an access token that is valid for a while.
    package mutating func tokenRequested(
        _ request: RequestID,
        minimumValidity: Duration,
        allowance: Allowance,
        now: Moment
    ) -> [Effect] {
        wait(request, .token(minimumValidity: minimumValidity), allowance, now)
    }

    /// An API call needs the session's credential.
    package mutating func authorizationRequested(
        _ request: RequestID,
        allowance: Allowance,
        now: Moment
    ) -> [Effect] {
        wait(request, .authorization, allowance, now)
    }

    /// The API rejected (401) the credential of a generation: it is replaced only if it is still the current one.
    package mutating func authorizationRejected(
        _ request: RequestID,
        generation: UInt64,
        allowance: Allowance,
        now: Moment
    ) -> [Effect] {
        wait(request, .replacement(of: generation), allowance, now)
    }

    private mutating func wait(
        _ request: RequestID,
        _ need: TokenWaiter.Need,
        _ allowance: Allowance,
        _ now: Moment
    ) -> [Effect] {
        tokenWaiters.append(TokenWaiter(request: request, need: need, allowance: allowance))
        return settle(now)
    }

    /// The token that can be served at once, without asking anybody: what the hot path looks at first.
    package func servableToken(minimumValidity: Duration, now: Moment) -> TokenFacts? {
        guard leaving == nil, case .signedIn(let session) = standing, let token = session.stored.token,
            session.isAlive(now), session.validity(now) >= minimumValidity,
            minimumValidity <= token.life * RenewalPolicy.largestValidity
        else { return nil }
        return token
    }

    // MARK: Serving

    mutating func serveWaiters(_ now: Moment) -> [Effect] {
        var effects: [Effect] = []
        var stillWaiting: [TokenWaiter] = []
        for waiter in tokenWaiters {
            switch verdict(for: waiter, now) {
            case .answer(let reply):
                effects.append(.reply(waiter.request, reply))
            case .wait:
                stillWaiting.append(waiter)
            case .renew:
                if case .exhausted(let retryAfter) = waiter.allowance {
                    effects.append(.reply(waiter.request, .refused(.tooManyProviderCalls(retryAfter: retryAfter))))
                    continue
                }
                if case .replacement = waiter.need { renewal.lastReplacedRejected = now.uptime }
                let begun = beginRenewal(reason(for: waiter, now), now)
                effects.append(.charge(waiter.request))
                effects += begun
                stillWaiting.append(waiter)
            }
        }
        tokenWaiters = stillWaiting
        return effects
    }

    private func verdict(for waiter: TokenWaiter, _ now: Moment) -> Verdict {
        if case .signedIn(let session) = standing, leaving == nil {
            return verdict(for: waiter, session, now)
        }
        if exchange != nil, leaving == nil { return .wait }
        return .answer(.refused(sessionRefusal ?? .notSignedIn))
    }

    private func verdict(for waiter: TokenWaiter, _ session: Session, _ now: Moment) -> Verdict {
        guard let token = session.stored.token else { return .answer(replyWithApiKey(to: waiter.need)) }
        switch waiter.need {
        case .token(let minimumValidity):
            let maximum = token.life * RenewalPolicy.largestValidity
            if minimumValidity > maximum { return .answer(.refused(.validityTooLarge(maximum: maximum))) }
            if session.isAlive(now), session.validity(now) >= minimumValidity { return .answer(.token(token)) }
        case .authorization:
            if session.isAlive(now) { return .answer(.authorized(generation: token.generation)) }
        case .replacement(let rejected):
            if session.isAlive(now), rejected != token.generation {
                return .answer(.authorized(generation: token.generation))
            }
        }
        if renewal.activity != .idle { return .wait }
        return needOfRenewal(of: waiter, session, now)
    }

    /// The present token does not do. May this caller have it renewed now?
    private func needOfRenewal(of waiter: TokenWaiter, _ session: Session, _ now: Moment) -> Verdict {
        if session.stored.reauthenticationPending { return .answer(.refused(.reauthenticationRequired)) }
        if let postponed = renewal.postponedUntil {
            let left = postponed.uptime - now.uptime
            return answer(waiter, session, .noHandlerCouldRenew(renewal.round, retryAfter: left), now)
        }
        if !canBeginRenewal(session) { return answer(waiter, session, nobodyToAsk, now) }
        if case .replacement = waiter.need, session.isAlive(now) {
            let replacedJustNow =
                renewal.lastReplacedRejected.map { now.uptime - $0 < RenewalPolicy.patience } ?? false
            let isBackingOff = renewal.retryAt != nil && !renewal.mayTrySooner(now)
            let isBarred = waiter.hasHadRenewal || replacedJustNow || isBackingOff
            return isBarred ? .answer(.rejectionStands) : .renew
        }
        if waiter.hasHadRenewal { return .answer(.refused(.tokenExpired(retryAfter: nil))) }
        if let retryAt = renewal.retryAt {
            // Only a dead token is reason enough to pass the backoff.
            if !session.isAlive(now), renewal.mayTrySooner(now) { return .renew }
            return .answer(.refused(.tokenExpired(retryAfter: retryAt.uptime - now.uptime)))
        }
        if session.isAlive(now), let obtainedAt = session.obtainedAt {
            let age = now.uptime - obtainedAt
            if age < RenewalPolicy.patience {
                return .answer(.refused(.tokenExpired(retryAfter: RenewalPolicy.patience - age)))
            }
        }
        return .renew
    }

    /// Nothing can be renewed now: there is no handler to ask, or none may be asked yet.
    private func answer(
        _ waiter: TokenWaiter,
        _ session: Session,
        _ refusal: Refusal,
        _ now: Moment
    ) -> Verdict {
        if case .replacement = waiter.need, session.isAlive(now) { return .answer(.rejectionStands) }
        return .answer(.refused(refusal))
    }

    /// Why a renewal that has to be asked for cannot begin.
    var nobodyToAsk: Refusal { handlers.isEmpty ? .noHandlerIsRegistered : .handlersAreBusy }

    private func reason(for waiter: TokenWaiter, _ now: Moment) -> RenewalReason {
        if case .replacement = waiter.need { return .rejected }
        if case .signedIn(let session) = standing, session.isAlive(now) { return .expiring }
        return .expired
    }

    private func replyWithApiKey(to need: TokenWaiter.Need) -> Reply {
        switch need {
        case .token:
            .refused(Refusal(.unsupported, "An API key session has no access token: use api.request instead"))
        case .authorization: .authorized(generation: generation)
        case .replacement: .rejectionStands
        }
    }

    /// Why there is no session to serve from, if there is none.
    var sessionRefusal: Refusal? {
        if leaving != nil { return .notSignedIn }
        return switch standing {
        case .signedOut, .configured: .notSignedIn
        case .terminated(let termination, _): .terminated(termination)
        case .unreadable(let unreadable): Refusal(.storageUnavailable, unreadable.remedy)
        case .signedIn: nil
        }
    }

    /// Compares the session with the user an app believes to be signed in.
    package func reconciliation(withUserId userId: String?) -> ReconcileAction {
        let present: String? =
            switch standing {
            case .signedIn(let session): session.stored.identity.userId
            case .unreadable(let unreadable):
                unreadable.header.flatMap { $0.state.isSignedIn ? $0.userId?.lowercased() : nil }
            case .signedOut, .configured, .terminated: nil
            }
        return switch (present, userId?.lowercased()) {
        case (nil, nil): .none
        case (nil, _): .signIn
        case (_, nil): .signOut
        case (let present, let wanted): present == wanted ? .none : .switch
        }
    }
}

extension SessionState {
    /// Whether somebody is signed in in this state.
    package var isSignedIn: Bool {
        switch self {
        case .established, .tokenExpired: true
        case .notLoggedIn, .establishing, .terminated: false
        }
    }
}

extension Refusal {
    static func tokenExpired(retryAfter: Duration?) -> Refusal {
        Refusal(
            .tokenExpired,
            "No access token that is valid long enough can be had now: the session is kept, ask again later",
            retryAfter: retryAfter
        )
    }

    static func validityTooLarge(maximum: Duration) -> Refusal {
        Refusal(
            .invalidParameters,
            "minimumValidity is more than 80 % of the token's life",
            maximum: maximum
        )
    }
}
