/// Handing out what the renewals brought.
extension SessionMachine {
    /// A caller who waits for an access token, or for the credential of an API call.
    struct TokenWaiter: Hashable, Sendable {
        var need: Need
        /// Who is counted for the call that comes of it.
        var uid: UInt32
        /// A renewal has been made while it waited: at most one a call.
        var hasHadRenewal = false

        enum Need: Hashable, Sendable {
            case token(TokenRequest, minimumValidity: Duration)
            case authorization(AuthorizationRequest)
            /// The API rejected the credential of this generation.
            case replacement(AuthorizationRequest, of: UInt64)
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
        _ request: TokenRequest,
        minimumValidity: Duration,
        by uid: UInt32,
        now: Moment
    ) -> [Effect] {
        wait(.token(request, minimumValidity: minimumValidity), uid, now)
    }

    /// An API call needs the session's credential.
    package mutating func authorizationRequested(
        _ request: AuthorizationRequest,
        by uid: UInt32,
        now: Moment
    ) -> [Effect] {
        wait(.authorization(request), uid, now)
    }

    /// The API rejected (401) the credential of a generation: it is replaced only if it is still the current one.
    package mutating func authorizationRejected(
        _ request: AuthorizationRequest,
        generation: UInt64,
        by uid: UInt32,
        now: Moment
    ) -> [Effect] {
        wait(.replacement(request, of: generation), uid, now)
    }

    private mutating func wait(_ need: TokenWaiter.Need, _ uid: UInt32, _ now: Moment) -> [Effect] {
        tokenWaiters.append(TokenWaiter(need: need, uid: uid))
        return settle(now)
    }

    /// A call of a user to the provider's API is about to leave: why it may not, if so.
    package mutating func apiCallBegan(by uid: UInt32, now: Moment) -> Refusal? {
        spendApiCall(uid, now)
    }

    /// Another call to the provider is about to leave for a user, one that looks at it or prepares a sign-in: why it may not,
    /// if so.
    package mutating func providerCallBegan(by uid: UInt32, now: Moment) -> Refusal? {
        budget.spend(uid, now: now)
    }

    /// Why a user may cause no renewal now, if so.
    package func refusalOfRenewal(by uid: UInt32, now: Moment) -> Refusal? { budget.refusal(of: uid, now: now) }

    /// The token that is served without asking anybody, and when: that does not change until something happens.
    package var servable: ServableToken? {
        guard !ledger.isSigningOut, case .signedIn(let session) = standing, let token = session.stored.token,
            let window = session.window, token.life >= .zero
        else { return nil }
        return ServableToken(facts: token, window: window)
    }

    /// The token that can be served at once, and is good for a while.
    package func servableToken(minimumValidity: Duration, now: Moment) -> TokenFacts? {
        guard let token = servable, let session = standing.session, token.window.contains(now),
            session.validity(now) >= minimumValidity,
            minimumValidity <= token.facts.life * RenewalPolicy.largestValidity
        else { return nil }
        return token.facts
    }

    // MARK: Serving

    mutating func serveWaiters(_ now: Moment) -> [Effect] {
        var effects: [Effect] = []
        var stillWaiting: [TokenWaiter] = []
        for waiter in tokenWaiters {
            switch verdict(for: waiter, now) {
            case .answer(let reply):
                effects.append(.reply(reply))
            case .wait:
                stillWaiting.append(waiter)
            case .renew:
                if let refusal = budget.refusal(of: waiter.uid, now: now) {
                    effects.append(.reply(waiter.need.refused(refusal)))
                    continue
                }
                if case .replacement = waiter.need { renewal.replaceRejected(now) }
                effects += beginRenewal(reason(for: waiter, now), by: waiter.uid, now)
                stillWaiting.append(waiter)
            }
        }
        tokenWaiters = stillWaiting
        return effects
    }

    /// Everybody who waits gets the one failure.
    mutating func takeWaiters(refusing refusal: Refusal) -> [Reply] {
        defer { tokenWaiters = [] }
        return tokenWaiters.map { $0.need.refused(refusal) }
    }

    private func verdict(for waiter: TokenWaiter, _ now: Moment) -> Verdict {
        if ledger.isSigningOut { return .answer(waiter.need.refused(.notSignedIn)) }
        if let session = standing.session { return verdict(for: waiter, session, now) }
        if isSigningIn { return .wait }
        return .answer(waiter.need.refused(sessionRefusal ?? .notSignedIn))
    }

    private func verdict(for waiter: TokenWaiter, _ session: Session, _ now: Moment) -> Verdict {
        guard let token = session.stored.token else { return .answer(replyWithApiKey(to: waiter.need)) }
        switch waiter.need {
        case .token(let request, let minimumValidity):
            let maximum = token.life * RenewalPolicy.largestValidity
            if minimumValidity > maximum { return .answer(waiter.need.refused(.validityTooLarge(maximum: maximum))) }
            if session.isAlive(now), session.validity(now) >= minimumValidity {
                return .answer(.token(request, .success(token)))
            }
        case .authorization(let request):
            if session.isAlive(now) { return .answer(.granted(request, token)) }
        case .replacement(let request, let rejected):
            if session.isAlive(now), rejected != token.generation { return .answer(.granted(request, token)) }
        }
        if !renewal.isResting || ledger.change != nil { return .wait }
        return needOfRenewal(of: waiter, session, now)
    }

    /// The present token does not do. May this caller have it renewed now?
    private func needOfRenewal(of waiter: TokenWaiter, _ session: Session, _ now: Moment) -> Verdict {
        if session.stored.reauthenticationPending {
            return .answer(waiter.need.refused(.reauthenticationRequired))
        }
        if let (until, words) = renewal.postponement {
            let refusal = Refusal.noHandlerCouldRenew(words, retryAfter: until.uptime - now.uptime)
            return .answer(answer(waiter, session, refusal, now))
        }
        if !canBeginRenewal { return .answer(answer(waiter, session, .noHandlerIsRegistered, now)) }
        if case .replacement(let request, _) = waiter.need, session.isAlive(now) {
            let isBackingOff = renewal.retryAt != nil && !renewal.mayTrySooner(now)
            let isBarred = waiter.hasHadRenewal || renewal.hasReplacedJustNow(now) || isBackingOff
            return isBarred ? .answer(.authorization(request, .success(.rejectionStands))) : .renew
        }
        if waiter.hasHadRenewal { return .answer(waiter.need.refused(.tokenExpired(retryAfter: nil))) }
        if let retryAt = renewal.retryAt {
            // Only a dead token is reason enough to pass the backoff.
            if !session.isAlive(now), renewal.mayTrySooner(now) { return .renew }
            return .answer(waiter.need.refused(.tokenExpired(retryAfter: retryAt.uptime - now.uptime)))
        }
        if session.isAlive(now), let obtainedAt = session.obtainedAt {
            let age = now.uptime - obtainedAt
            if age < RenewalPolicy.attemptSpacing {
                return .answer(waiter.need.refused(.tokenExpired(retryAfter: RenewalPolicy.attemptSpacing - age)))
            }
        }
        return .renew
    }

    /// Nothing can be renewed now: there is no handler to ask, or none may be asked yet.
    private func answer(_ waiter: TokenWaiter, _ session: Session, _ refusal: Refusal, _ now: Moment) -> Reply {
        if case .replacement(let request, _) = waiter.need, session.isAlive(now) {
            return .authorization(request, .success(.rejectionStands))
        }
        return waiter.need.refused(refusal)
    }

    private func reason(for waiter: TokenWaiter, _ now: Moment) -> RenewalReason {
        if case .replacement = waiter.need { return .rejected }
        return standing.session?.isAlive(now) == true ? .expiring : .expired
    }

    private func replyWithApiKey(to need: TokenWaiter.Need) -> Reply {
        switch need {
        case .token(let request, _):
            let words = "An API key session has no access token: use api.request instead"
            return .token(request, .failure(Refusal(.unsupported, words)))
        case .authorization(let request):
            return .authorization(request, .success(.granted(generation: servedGeneration)))
        case .replacement(let request, _):
            return .authorization(request, .success(.rejectionStands))
        }
    }

    /// Why there is no session to serve from, if there is none.
    var sessionRefusal: Refusal? {
        if ledger.isSigningOut { return .notSignedIn }
        return switch standing {
        case .signedOut, .configured: .notSignedIn
        case .terminated(let termination, _): .terminated(termination)
        case .unreadable(let unreadable): Refusal(.storageUnavailable, unreadable.remedy)
        case .signedIn: nil
        }
    }

    /// Compares the session with the user an app believes to be signed in.
    package func reconciliation(withUserId userId: String?) -> ReconcileAction {
        let isCalled: ((String) -> Bool)? =
            switch ledger.isSigningOut ? .signedOut : standing {
            case .signedIn(let session): session.stored.identity.isCalled
            case .unreadable(let unreadable):
                // Earlier releases put every id into the header in lower case; nobody is served from one.
                unreadable.header?.signedInUser.map { user in { $0.lowercased() == user.lowercased() } }
            case .signedOut, .configured, .terminated: nil
            }
        return switch (isCalled, userId) {
        case (nil, nil): .none
        case (nil, _): .signIn
        case (_, nil): .signOut
        case (let isCalled?, let wanted?): isCalled(wanted) ? .none : .switch
        }
    }
}

extension SessionMachine.TokenWaiter.Need {
    func refused(_ refusal: Refusal) -> Reply {
        switch self {
        case .token(let request, _): .token(request, .failure(refusal))
        case .authorization(let request), .replacement(let request, _): .authorization(request, .failure(refusal))
        }
    }
}

extension Reply {
    fileprivate static func granted(_ request: AuthorizationRequest, _ token: TokenFacts) -> Reply {
        .authorization(request, .success(.granted(generation: token.generation)))
    }
}

extension Restoration.Header {
    /// Whom it names, if somebody is signed in by it.
    fileprivate var signedInUser: String? { state.isSignedIn ? userId : nil }
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
