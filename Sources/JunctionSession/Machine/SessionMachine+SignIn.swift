/// Signing in: the rules of one active user, and the exchange.
extension SessionMachine {
    /// The exchange under way. Only its success changes the standing, in one durable write.
    struct Exchange: Equatable, Sendable {
        var attempt: Attempt
        var request: RequestID
        var purpose: Purpose
        /// Whom the credential is for, as far as it says.
        var subject: Identity?
        /// A session handler has to be asked before the exchange can be made.
        var needsHandler = false
        /// Whether a handler was asked: what it gave may be refused for the next one's.
        var askedHandlers = false
        /// The handlers' round that led to what is exchanged.
        var round = Round()
        /// What will stand once the write has ended; absent while the provider has not answered.
        var result: Standing?

        enum Purpose: Equatable, Sendable {
            case signIn
            case identify(externalUserId: String, outcome: IdentifyOutcome)
        }
    }

    // MARK: Events

    /// A caller handed in a credential, whose own claims have been read.
    package mutating func signInRequested(
        _ request: RequestID,
        _ facts: CredentialFacts,
        allowance: Allowance,
        now: Moment
    ) -> [Effect] {
        queue.append(Entry(request: request, wish: .signIn(facts), allowance: allowance))
        return settle(now)
    }

    /// A caller declared who should be signed in, by the app's own name for the user.
    package mutating func identifyRequested(
        _ request: RequestID,
        externalUserId: String?,
        allowance: Allowance,
        now: Moment
    ) -> [Effect] {
        guard let externalUserId else {
            let outcome: IdentifyOutcome = isSignedOut ? .unchanged : .signedOut
            return leave(Leaver(request: request, outcome: outcome), now)
        }
        queue.append(Entry(request: request, wish: .identify(externalUserId), allowance: allowance))
        return settle(now)
    }

    /// The app answered the question for a credential, or did not.
    package mutating func identifyAnswered(
        _ request: RequestID,
        _ answer: Result<CredentialFacts, Refusal>,
        now: Moment
    ) -> [Effect] {
        guard let asked = asking, asked.request == request else { return [] }
        asking = nil
        switch answer {
        case .success(let facts):
            let wish = Entry.Wish.identifyWith(facts, externalUserId: asked.externalUserId)
            queue.insert(Entry(request: request, wish: wish, allowance: asked.allowance), at: 0)
            return settle(now)
        case .failure(let refusal):
            return [.reply(request, .refused(refusal))] + settle(now)
        }
    }

    /// The provider granted a session.
    package mutating func exchangeSucceeded(
        _ attempt: Attempt,
        _ identity: Identity,
        _ scheme: Scheme,
        token: (issuedAt: WallTime, expiresAt: WallTime)?,
        now: Moment
    ) -> [Effect] {
        guard let current = exchange, current.attempt == attempt, current.result == nil else {
            return revokeUnwanted(attempt, of: identity, endingAt: token?.expiresAt, now)
        }
        // The new session replaces whatever there was: a renewal of the old one has nothing to renew any more.
        var effects = abandonRenewal()
        generation += 1
        edition = 0
        let facts = token.map {
            TokenFacts(issuedAt: $0.issuedAt, expiresAt: $0.expiresAt, generation: generation)
        }
        let stored = StoredSession(
            identity: identity,
            scheme: scheme,
            externalUserId: externalUserId(after: current.purpose, for: identity),
            token: facts,
            renewAt: facts.map { RenewalPolicy.renewalTime(of: $0, using: &random) }
        )
        exchange?.result = .signedIn(Session(stored: stored, obtainedNow: now))
        effects.append(.adopt(attempt, generation: generation))
        effects += write(.session(stored), for: .signIn(attempt), now)
        return effects
    }

    private func externalUserId(after purpose: Exchange.Purpose, for identity: Identity) -> String? {
        switch purpose {
        case .identify(let externalUserId, _): externalUserId
        case .signIn:
            if case .signedIn(let session) = standing, session.stored.identity.isSameUser(as: identity) {
                session.stored.externalUserId
            } else {
                nil
            }
        }
    }

    /// The provider granted nothing; what stood before still stands.
    package mutating func exchangeFailed(_ attempt: Attempt, _ failure: ExchangeFailure, now: Moment) -> [Effect] {
        guard let current = exchange, current.attempt == attempt, current.result == nil else {
            overtaken.removeValue(forKey: attempt)
            return []
        }
        let report = Effect.report(.exchangeEnded(failure.outcome))
        if current.askedHandlers, case .refused(let reason) = failure {
            return [report] + exchangeAnswerRefused(reason, now) + settle(now)
        }
        exchange = nil
        return [report, .forgetAnswer(for: .exchange), .reply(current.request, .refused(refusal(for: failure, now)))]
            + settle(now)
    }

    private func refusal(for failure: ExchangeFailure, _ now: Moment) -> Refusal {
        switch failure {
        case .refused(let reason):
            Refusal(.invalidCredential, reason)
        case .terminated(let code, let message):
            Refusal(.sessionTerminated, message, termination: Termination(code: code, message: message, at: now.wall))
        case .otherUser:
            alreadySignedIn
        case .unavailable(let unavailability):
            Refusal(.providerUnavailable, unavailability.message, retryAfter: unavailability.retryAfter)
        }
    }

    // MARK: Turns

    /// Lets everybody whose turn it is begin: one exchange at a time, one question to an app at a time.
    mutating func takeTurns(_ now: Moment) -> [Effect] {
        var effects: [Effect] = []
        var index = 0
        while index < queue.count, mayTakeTurns {
            if asking != nil, case .identify = queue[index].wish {
                index += 1
                continue
            }
            let entry = queue.remove(at: index)
            effects += begin(entry, now)
        }
        return effects
    }

    /// A turn changes the session; it waits for whoever is changing it now.
    private var mayTakeTurns: Bool {
        exchange == nil && leaving == nil && !renewal.isBeingWritten
    }

    private mutating func begin(_ entry: Entry, _ now: Moment) -> [Effect] {
        switch entry.wish {
        case .signIn(let facts):
            beginSignIn(entry, facts, now)
        case .identify(let externalUserId):
            beginIdentify(entry, externalUserId, now)
        case .identifyWith(let facts, let externalUserId):
            identify(entry, facts, externalUserId, now)
        }
    }

    private mutating func beginSignIn(_ entry: Entry, _ facts: CredentialFacts, _ now: Moment) -> [Effect] {
        switch ruling(for: facts, now) {
        case .alreadySo:
            return [.reply(entry.request, .done)]
        case .refuse(let refusal):
            return [.reply(entry.request, .refused(refusal))]
        case .configure(let environment, let region):
            generation += 1
            edition = 0
            exchange = Exchange(
                attempt: nextAttempt(),
                request: entry.request,
                purpose: .signIn,
                result: .configured(environment: environment, region: region)
            )
            let adopted = Effect.adoptKey(of: entry.request, generation: generation)
            let content = SessionRecord.Content.configured(environment: environment, region: region)
            return [adopted] + write(content, for: .signIn(Attempt(number: lastAttempt)), now)
        case .exchange(let expected):
            return beginExchange(entry, .signIn, facts, expecting: expected, now)
        }
    }

    private mutating func beginIdentify(_ entry: Entry, _ externalUserId: String, _ now: Moment) -> [Effect] {
        if case .unreadable(let unreadable) = standing, !unreadable.canSignIn {
            return [.reply(entry.request, .refused(Refusal(.storageUnavailable, unreadable.remedy)))]
        }
        if case .signedIn(let session) = standing, session.stored.externalUserId == externalUserId,
            !session.stored.reauthenticationPending
        {
            return [.reply(entry.request, .identified(.unchanged))]
        }
        asking = Asking(request: entry.request, externalUserId: externalUserId, allowance: entry.allowance)
        return [.ask(entry.request, externalUserId: externalUserId)]
    }

    /// The credential is here; what does it make of the present session?
    private mutating func identify(
        _ entry: Entry,
        _ facts: CredentialFacts,
        _ externalUserId: String,
        _ now: Moment
    ) -> [Effect] {
        guard case .signedIn(let session) = standing else {
            switch ruling(for: facts, now) {
            case .exchange(let expected):
                let purpose = Exchange.Purpose.identify(externalUserId: externalUserId, outcome: .signedIn)
                return beginExchange(entry, purpose, facts, expecting: expected, now)
            case .refuse(let refusal):
                return [.reply(entry.request, .refused(refusal))]
            case .configure, .alreadySo:
                let refusal = Refusal(.invalidCredential, "The credential names no user to identify: add a user id")
                return [.reply(entry.request, .refused(refusal))]
            }
        }
        switch facts.subject {
        case .nobody:
            let refusal = Refusal(.invalidCredential, "The credential names no user to identify: add a user id")
            return [.reply(entry.request, .refused(refusal))]
        case .unnamed:
            // Who it is for is known only once it is spent; the caller declared that this user is wanted.
            let purpose = Exchange.Purpose.identify(externalUserId: externalUserId, outcome: .switched)
            return beginExchange(entry, purpose, facts, expecting: nil, now)
        case .user(let identity) where identity.isSameUser(as: session.stored.identity):
            if case .exchange(let expected) = ruling(for: facts, now) {
                let purpose = Exchange.Purpose.identify(externalUserId: externalUserId, outcome: .unchanged)
                return beginExchange(entry, purpose, facts, expecting: expected, now)
            }
            return bind(externalUserId, entry.request, now)
        case .user:
            // The new user's credential is exchanged first: a failure leaves the old user signed in.
            let purpose = Exchange.Purpose.identify(externalUserId: externalUserId, outcome: .switched)
            return beginExchange(entry, purpose, facts, expecting: nil, now)
        }
    }

    private mutating func bind(_ externalUserId: String, _ request: RequestID, _ now: Moment) -> [Effect] {
        guard case .signedIn(var session) = standing else { return [] }
        session.stored.externalUserId = externalUserId
        standing = .signedIn(session)
        return writeNote(answering: [request], with: .identified(.unchanged), now)
    }

    private mutating func beginExchange(
        _ entry: Entry,
        _ purpose: Exchange.Purpose,
        _ facts: CredentialFacts,
        expecting expected: Identity?,
        _ now: Moment
    ) -> [Effect] {
        var effects: [Effect] = []
        if facts.scheme.reachesProvider {
            if case .exhausted(let retryAfter) = entry.allowance {
                return [.reply(entry.request, .refused(.tooManyProviderCalls(retryAfter: retryAfter)))]
            }
            effects.append(.charge(entry.request))
        }
        let attempt = nextAttempt()
        exchange = Exchange(attempt: attempt, request: entry.request, purpose: purpose)
        if case .user(let identity) = facts.subject { exchange?.subject = identity }
        if facts.needsHandler {
            exchange?.needsHandler = true
            exchange?.askedHandlers = true
            return effects + tendInquiry(now)
        }
        effects.append(.exchange(attempt, credentialOf: entry.request, expecting: expected))
        return effects
    }

    private var isSignedOut: Bool { standing == .signedOut && exchange == nil && queue.isEmpty && asking == nil }
}

extension SessionMachine.Session {
    init(stored: StoredSession, obtainedNow now: Moment) {
        self.stored = stored
        writtenAt = now.wall
        obtainedAt = now.uptime
        endsAt = stored.token.map { now.uptime + ($0.expiresAt - now.wall) }
    }
}

extension Scheme {
    /// An API key is kept without asking anybody; everything else is exchanged at the provider.
    var reachesProvider: Bool { self != .apiKey }
}

extension ExchangeFailure {
    var outcome: Happening.Outcome {
        switch self {
        case .refused, .otherUser: .refused
        case .terminated: .terminated
        case .unavailable: .unavailable
        }
    }
}

extension Refusal {
    static func tooManyProviderCalls(retryAfter: Duration) -> Refusal {
        Refusal(.busy, "This caller has reached its limit of provider calls a minute", retryAfter: retryAfter)
    }

    static let notSignedIn = Refusal(.notSignedIn, "Nobody is signed in: sign in first")
    static let overtaken = Refusal(.notSignedIn, "A sign-out came in between: nobody is signed in")
    static let reauthenticationRequired = Refusal(
        .reauthenticationRequired,
        "The provider wants the user to sign in again: sign in with a new credential for the same user"
    )

    static func terminated(_ termination: Termination) -> Refusal {
        Refusal(
            .sessionTerminated,
            "The provider ended the session (\(termination.code)): sign in with another user",
            termination: termination
        )
    }
}
