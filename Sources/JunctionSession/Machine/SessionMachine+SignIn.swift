/// Signing in: whose turn it is, what a grant means, and the one durable write that makes it count.
extension SessionMachine {
    // MARK: Events

    /// A caller handed in a credential, whose own claims have been read.
    package mutating func signInRequested(
        _ request: ChangeRequest,
        _ facts: CredentialFacts,
        by uid: UInt32,
        now: Moment
    ) -> [Effect] {
        signIn.enqueue(.signIn(request, facts), by: uid)
        return settle(now)
    }

    /// A caller declared who should be signed in, by the app's own name for the user.
    package mutating func identifyRequested(
        _ request: IdentifyRequest,
        externalUserId: ExternalUserId?,
        by uid: UInt32,
        now: Moment
    ) -> [Effect] {
        guard let externalUserId else {
            let isSignedOut = standing == .signedOut && signIn.isIdle && ledger.change == nil && !approval.isRunning
            return signOut(.identify(request, isSignedOut ? .unchanged : .signedOut), now)
        }
        signIn.enqueue(.identify(request, externalUserId: externalUserId), by: uid)
        return settle(now)
    }

    /// The app answered the question for a credential, or did not.
    package mutating func identifyAnswered(
        _ request: IdentifyRequest,
        _ answer: Result<CredentialFacts, Refusal>,
        now: Moment
    ) -> [Effect] {
        guard let question = signIn.answered(request) else { return [] }
        switch answer {
        case .success(let facts):
            signIn.resume(question, with: facts)
            return settle(now)
        case .failure(let refusal):
            return [.reply(.identify(request, .failure(refusal)))] + settle(now)
        }
    }

    /// Who asked for these may do so no more: what waits for its turn, or for what a handler gives, does not leave.
    package mutating func rightWithdrawn(from requests: Set<RequestID>, now: Moment) -> [Effect] {
        let replies = signIn.withdraw(requests, .withdrawn)
        if signIn.exchange == nil { rounds.drop(.signIn) }
        return replies.map { .reply($0) } + settle(now)
    }

    /// The provider granted a session.
    package mutating func exchangeSucceeded(_ attempt: Attempt, _ granted: Granted, now: Moment) -> [Effect] {
        guard signIn.isSent(attempt) else { return revokeUnwanted(attempt, granted, now) }
        if let exchange = signIn.exchange,
            let only = exchange.subject ?? exchange.expected ?? wanted(by: exchange.origin),
            !only.isSameUser(as: granted.identity)
        {
            dropPartialGrant(of: exchange)
            return revoke(granted, now) + exchangeFailed(attempt, .otherUser(granted.identity), now: now)
        }
        signIn.granted(granted)
        return settle(now)
    }

    /// The provider granted nothing; what stood before still stands.
    package mutating func exchangeFailed(_ attempt: Attempt, _ failure: ExchangeFailure, now: Moment) -> [Effect] {
        guard signIn.isSent(attempt), let exchange = signIn.exchange else {
            _ = revocations.arrived(attempt)
            return []
        }
        let report = Effect.report(.exchangeEnded(failure.outcome))
        if case .sent(_, let round?) = exchange.stage, case .refused(let reason) = failure, !exchange.isWithdrawn {
            signIn.askAgain(attempt)
            rounds.resume(round.afterRefusal(reason))
            return [report] + settle(now)
        }
        signIn.end()
        if case .approval(_, let callers) = exchange.origin {
            return endApproval(ApprovalEnding(failure, present: standing.session), callers) + settle(now)
        }
        var effects = [report]
        switch failure {
        case .refused, .terminated:
            dropPartialGrant(of: exchange)
        case .otherUser, .unavailable:
            // What it has brought is good for another try.
            if exchange.isWithdrawn { effects += giveBackPartialGrants { $0.secrets == exchange.partialGrant } }
        }
        var refusal = refusal(for: failure, now)
        if case .unavailable = failure, exchange.partialGrant != nil { refusal.remedy = .signInAgainWithPartialGrant }
        return effects + exchange.origin.refused(refusal).map { .reply($0) } + settle(now)
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
            Refusal(
                .providerUnavailable,
                unavailability.message,
                retryAfter: unavailability.retryAfter,
                remedy: unavailability.ambiguous ? .signInAgainWithAnother : .signInAgain
            )
        }
    }

    // MARK: Making it durable

    /// What was granted takes the ledger's slot as soon as that is free and everything that was said of the session before
    /// it is written. A renewal of that one has nothing to renew any more.
    mutating func storeGranted(_ now: Moment) -> [Effect] {
        guard ledger.takesChange(now), let (exchange, granted) = signIn.takeGranted() else { return [] }
        let origin = exchange.origin
        guard !exchange.isWithdrawn else {
            dropPartialGrant(of: exchange)
            var effects = revokeUnlessSignedIn(granted, now)
            if case .approval(_, let callers) = origin {
                effects += endApproval(.withdrawn, callers)
            } else {
                effects += origin.refused(.withdrawn).map { .reply($0) }
            }
            // No switch comes: a renewal whose request was held back for it is sent.
            if case .noting(let held) = renewal.phase { effects += intentNoted(held.attempt, now) }
            return effects
        }
        let requesters = stopRenewing()
        let effects = overtakeApproval(by: origin)
        // The write that comes holds the session instead.
        _ = partialGrants.drop { $0.secrets == exchange.partialGrant }
        let externalUserId = externalUserId(after: origin, for: granted.identity)
        var random = random
        ledger.begin(.signIn(origin)) { generation in
            .signedIn(
                Session(granted, externalUserId: externalUserId, generation: generation, at: now, using: &random)
            )
        }
        self.random = random
        // Who asked for a renewal gets a session that is fresh: when it has been written.
        for request in requesters { renewal.join(request) }
        return effects
    }

    /// One user is about to be signed in: whoever was waited for on another screen is not any more.
    private mutating func overtakeApproval(by origin: SignIn.Origin) -> [Effect] {
        if case .approval = origin {
            _ = approval.end()
            return []
        }
        return approval.isRunning ? endApproval(.overtaken) : []
    }

    private mutating func stopRenewing() -> [ChangeRequest] {
        overtakeRenewal()
        rounds.drop(.renewal)
        return renewal.abandon()
    }

    private func externalUserId(after origin: SignIn.Origin, for identity: Identity) -> ExternalUserId? {
        switch origin {
        case .identify(_, let externalUserId, _), .approval(let externalUserId?, _):
            return externalUserId
        case .signIn, .approval(nil, _):
            guard let session = standing.session, session.stored.identity.isSameUser(as: identity) else { return nil }
            return session.stored.externalUserId
        }
    }

    /// It is on disk (or the disk refused it, and it is served from memory): somebody is signed in.
    mutating func signedIn(_ origin: SignIn.Origin, from before: Standing, _ now: Moment) -> [Effect] {
        if let session = standing.session { revocations.drop(session.stored.identity) }
        approval.forgetError()
        let isSame = isSameUser(before, standing)
        // A vendor may know one session a user and device: the revocation of the same user's old one could end the new one.
        let revoking = isSame ? [] : before.session.map { revoke($0, now) } ?? []
        let replies: [Reply] =
            switch origin {
            case .signIn(let request): [.change(request, nil)]
            case .identify(let request, _, let outcome): [.identify(request, .success(isSame ? .unchanged : outcome))]
            case .approval(_, let callers):
                callers.map {
                    .identify($0, .success(isSame ? .unchanged : before.session == nil ? .signedIn : .switched))
                }
            }
        let all = replies + renewal.abandon().map { .change($0, nil) }
        return [.report(.exchangeEnded(.succeeded))] + revoking + all.map { .reply($0) }
    }

    private func isSameUser(_ before: Standing, _ after: Standing) -> Bool {
        guard let old = before.session, let new = after.session else { return false }
        return old.stored.identity.isSameUser(as: new.stored.identity)
    }

    // MARK: Turns

    /// Lets everybody whose turn it is begin: one at a time, and none while the session is being changed.
    mutating func takeTurns(_ now: Moment) -> [Effect] {
        var effects: [Effect] = []
        while ledger.change == nil, let entry = signIn.nextTurn() { effects += begin(entry, now) }
        return effects
    }

    private mutating func begin(_ entry: SignIn.Entry, _ now: Moment) -> [Effect] {
        switch entry.wish {
        case .signIn(let request, let facts):
            return beginSignIn(request, facts, entry.uid, now)
        case .identify(let request, let externalUserId):
            return beginIdentify(request, externalUserId, entry.uid)
        case .identifyWith(let request, let externalUserId, let facts):
            return identify(request, facts, externalUserId, entry.uid, now)
        }
    }

    private mutating func beginSignIn(
        _ request: ChangeRequest,
        _ facts: CredentialFacts,
        _ uid: UInt32,
        _ now: Moment
    ) -> [Effect] {
        switch ruling(for: facts, now) {
        case .alreadySo:
            return [.reply(.change(request, nil))]
        case .refuse(let refusal):
            return [.reply(.change(request, refusal))]
        case .configure(let environment, let region):
            let effects = overtakeApproval(by: .signIn(request))
            ledger.begin(.signIn(.signIn(request))) { _ in
                .configured(environment: environment, region: region, key: facts.key)
            }
            return effects
        case .exchange(let expected):
            return beginExchange(.signIn(request), facts, uid, expecting: expected, now)
        }
    }

    private mutating func beginIdentify(
        _ request: IdentifyRequest,
        _ externalUserId: ExternalUserId,
        _ uid: UInt32
    ) -> [Effect] {
        if let obstacle = ledger.obstacle {
            return [.reply(.identify(request, .failure(Refusal(.storageUnavailable, obstacle))))]
        }
        if let session = standing.session, session.stored.externalUserId == externalUserId,
            !session.stored.reauthenticationPending
        {
            return [.reply(.identify(request, .success(.unchanged)))]
        }
        signIn.ask(request, externalUserId: externalUserId, by: uid)
        return [.ask(request, externalUserId: externalUserId)]
    }

    /// The credential is here; what does it make of the present session?
    private mutating func identify(
        _ request: IdentifyRequest,
        _ facts: CredentialFacts,
        _ externalUserId: ExternalUserId,
        _ uid: UInt32,
        _ now: Moment
    ) -> [Effect] {
        func origin(_ outcome: IdentifyOutcome) -> SignIn.Origin {
            .identify(request, externalUserId: externalUserId, outcome: outcome)
        }
        guard let session = standing.session else {
            switch ruling(for: facts, now) {
            case .exchange(let expected):
                return beginExchange(origin(.signedIn), facts, uid, expecting: expected, now)
            case .refuse(let refusal):
                return [.reply(.identify(request, .failure(refusal)))]
            case .configure, .alreadySo:
                return [.reply(.identify(request, .failure(.namesNoUser)))]
            }
        }
        switch facts.subject {
        case .nobody:
            return [.reply(.identify(request, .failure(.namesNoUser)))]
        case .unnamed:
            // Who it is for is known only once it is spent; the caller declared who is wanted.
            let expected = wanted(as: externalUserId)
            return beginExchange(origin(.switched), facts, uid, expecting: expected, now)
        case .user(let identity) where identity.isSameUser(as: session.stored.identity):
            if case .exchange(let expected) = ruling(for: facts, now) {
                return beginExchange(origin(.unchanged), facts, uid, expecting: expected, now)
            }
            bind(externalUserId, request)
            return []
        case .user:
            // The new user's credential is exchanged first: a failure leaves the old user signed in.
            return beginExchange(origin(.switched), facts, uid, expecting: nil, now)
        }
    }

    private mutating func bind(_ externalUserId: ExternalUserId, _ request: IdentifyRequest) {
        guard case .signedIn(var session) = standing else { return }
        session.stored.externalUserId = externalUserId
        standing = .signedIn(session)
        ledger.note([.reply(.identify(request, .success(.unchanged)))])
    }

    // MARK: The exchange

    private mutating func beginExchange(
        _ origin: SignIn.Origin,
        _ facts: CredentialFacts,
        _ uid: UInt32,
        expecting expected: Identity?,
        _ now: Moment
    ) -> [Effect] {
        guard let id = origin.id else { return [] }
        if facts.awaitsApproval, approval.isRunning { return joinApproval(origin) }
        // What has to be asked for first is counted when it leaves.
        let refusal =
            if !traits(of: facts.scheme).reachesProvider { Refusal?.none } else if facts.needsHandler {
                budget.refusal(of: uid, now: now)
            } else { budget.spend(uid, now: now) }
        if let refusal { return origin.refused(refusal).map { .reply($0) } }
        let attempt = nextAttempt()
        var subject: Identity?
        if case .user(let identity) = facts.subject { subject = identity }
        let stage: SignIn.Exchange.Stage = facts.needsHandler ? .asking : .sent(given: nil, round: nil)
        signIn.begin(
            SignIn.Exchange(
                attempt: attempt,
                origin: origin,
                uid: uid,
                subject: subject,
                expected: expected,
                stage: stage
            )
        )
        if facts.awaitsApproval { return [.authorize(attempt, credentialOf: id)] }
        guard facts.needsHandler else {
            return [.exchange(attempt, credentialOf: id, completedWith: nil, expecting: expected)]
        }
        rounds.begin(
            HandlerRounds.Round(
                purpose: .signIn,
                attempt: attempt,
                reason: .missing,
                userId: subject?.userId,
                limit: RenewalPolicy.longestRound,
                users: rounds.users
            )
        )
        return advanceRounds(now)
    }

    /// A handler gave what the sign-in was missing.
    mutating func sendExchange(_ round: HandlerRounds.Round, given: SecretRef, _ now: Moment) -> [Effect] {
        guard let exchange = signIn.send(round.attempt, given: given, by: round), let id = exchange.origin.id else {
            return []
        }
        if let refusal = budget.spend(exchange.uid, now: now) {
            signIn.end()
            return exchange.origin.refused(refusal).map { .reply($0) }
        }
        return [
            .exchange(
                round.attempt,
                credentialOf: id,
                completedWith: given,
                expecting: nil
            )
        ]
    }
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
        Refusal(
            .busy,
            "Your user has reached its limit of calls to the provider a minute (limits.providerCallsPerMinute): wait, and call again",
            retryAfter: retryAfter
        )
    }

    static let namesNoUser = Refusal(
        .invalidCredential,
        "The credential names no user to identify: add a user id"
    )
    static let withdrawn = Refusal(
        .permissionDenied,
        "The right to this was withdrawn before it counted; nothing has changed"
    )
    static let notSignedIn = Refusal(.notSignedIn, "Nobody is signed in: sign in first")
    static let overtaken = Refusal(.notSignedIn, "A sign-out came in between: nobody is signed in")
    static let reauthenticationRequired = Refusal(
        .reauthenticationRequired,
        "The provider wants the user to sign in again: sign in with a new credential for the same user"
    )

    /// The provider has refused to renew the session for long, and gives no reason.
    static func reauthenticationPresumed(_ message: String) -> Refusal {
        Refusal(
            .reauthenticationRequired,
            "The provider has refused to renew the session for ten minutes or longer without a reason (\(message)): sign in "
                + "with a new credential for the same user; until then the daemon tries once an hour"
        )
    }

    static func terminated(_ termination: Termination) -> Refusal {
        Refusal(
            .sessionTerminated,
            "The provider ended the session (\(termination.code)): sign in again once the user is active there, or with "
                + "another user",
            termination: termination,
            remedy:
                "if the account is open again, run 'junctionctl sign-in' with a new credential for it; if not, sign in "
                + "as somebody else"
        )
    }
}

extension String {
    /// A sign-in is its caller's: unlike a renewal it is not tried again by itself.
    package static let signInAgain =
        "it is not tried again by itself: sign in with the same once the provider answers; 'junctionctl doctor' says what is in "
        + "the way"
    /// What the credential has brought so far is sealed.
    package static let signInAgainWithPartialGrant =
        "the credential has been spent, and what it has brought is kept for an hour, over a restart too: sign in with the same "
        + "once the provider answers; 'junctionctl doctor' says what is in the way"
    /// The provider may have acted on what it did not answer.
    package static let signInAgainWithAnother =
        "it is not tried again by itself: sign in with the same once the provider answers, and with a new one if that is "
        + "refused; 'junctionctl doctor' says what is in the way"
}
