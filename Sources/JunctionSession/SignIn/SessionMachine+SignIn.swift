/// Signing in: turns, the exchange, and the write that makes a grant count.
extension SessionMachine {
    // MARK: Events

    /// A caller handed in a credential, whose own claims have been read.
    package mutating func signInRequested(
        _ request: RequestID,
        _ facts: CredentialFacts,
        by uid: UInt32,
        now: Moment
    ) -> [Effect] {
        callers.add(request, .change, by: uid, waitingFor: .turn(.signIn(facts)))
        return settle(now)
    }

    /// A caller declared who is to be signed in, by the app's own name for the user.
    package mutating func identifyRequested(
        _ request: RequestID,
        externalUserId: ExternalUserId?,
        by uid: UInt32,
        endsBootstrapCredential: Bool = false,
        now: Moment
    ) -> [Effect] {
        guard let externalUserId else {
            let isNobodyThere =
                installation == .signedOut && persistence.change == nil && !isSigningIn && !callers.wantSignIn
            let outcome: IdentifyOutcome = isNobodyThere ? .unchanged : .signedOut
            return signOut(request, .identify, by: uid, endsBootstrapCredential, .identified(outcome), now)
        }
        callers.add(request, .identify, by: uid, waitingFor: .turn(.identify(externalUserId)))
        return settle(now)
    }

    /// A sign-in of the bootstrap credential failed in a way that passes, and waits for its next attempt. A sign-out ends it.
    ///
    /// - Parameter retry: what earlier attempts of the same credential came to.
    package mutating func retryRequested(
        _ request: RequestID,
        after retry: Retry,
        retryAfter: Duration?,
        now: Moment
    ) -> [Effect] {
        var retry = retry
        _ = retry.failed(retryAfter: retryAfter, now, using: &random)
        callers.add(request, .change, by: 0, waitingFor: .retry(retry))
        return settle(now)
    }

    /// The app answered the question for a credential, or did not.
    package mutating func identifyAnswered(
        _ request: RequestID,
        _ answer: Result<CredentialFacts, SessionError>,
        now: Moment
    ) -> [Effect] {
        guard let externalUserId = callers.wanted(by: request) else { return [] }
        switch answer {
        case .success(let facts): callers.move(request, to: .turn(.identifyWith(externalUserId, facts)))
        case .failure(let refusal): callers.refuse(request, refusal)
        }
        return settle(now)
    }

    /// The callers of these requests have lost the right to sign in: no further request leaves, what is granted is revoked, and a
    /// sign-in that is being written is written over. A caller that joined a device sign-in is only refused.
    package mutating func rightWithdrawn(from requests: Set<RequestID>, now: Moment) -> [Effect] {
        var effects: [Effect] = []
        var isUnsent = false
        if let exchange = signIn.exchange, let request = exchange.request, requests.contains(request) {
            isUnsent = exchange.stage == .asking
            signIn.withdraw()
        }
        for caller in callers.list where requests.contains(caller.id) {
            switch caller.wait {
            case .turn, .credential, .codes, .approval: callers.refuse(caller.id, .withdrawn)
            case .session where isUnsent: callers.refuse(caller.id, .withdrawn)
            case .session where persistence.change?.kind == .signIn(of: caller.id):
                effects += withdrawSignIn(.withdrawn, now)
            case .session where persistence.change?.kind == .signIn(of: nil):
                callers.refuse(caller.id, .withdrawn)
            case .name(_, let before):
                if case .signedIn(let session) = installation { installation = .signedIn(session.bound(to: before)) }
                callers.move(caller.id, to: .update(updateRecord(), .failure(.withdrawn)))
            case .session, .renewal, .token, .signOut, .retry, .update, .answer: break
            }
        }
        if isUnsent {
            signIn.end()
            rounds.drop(.signIn)
        }
        return effects + settle(now)
    }

    /// The right to the sign-in that is being written is gone: what stood before is written over it, and its grant is revoked.
    mutating func withdrawSignIn(_ refusal: SessionError, _ now: Moment) -> [Effect] {
        guard persistence.isSigningIn, let granted = persistence.change?.outcome else { return [] }
        persistence.begin(.withdrawal(refusal)) { _ in installation.restorable }
        return granted.session.map { revokeUnlessSignedIn($0, now) } ?? []
    }

    /// What stood before has been written again, or the disk has refused it.
    mutating func signInWithdrawn(_ refusal: SessionError, _ now: Moment) -> [Effect] {
        installation = installation.restorable
        callers.refuse(refusal) { $0 == .session }
        beginRequestedRenewals(now)
        return [.report(.exchangeEnded(.refused, Unavailability(refusal, cause: .other)))]
    }

    /// The provider granted a session.
    package mutating func exchangeSucceeded(_ attempt: Attempt, _ granted: Granted, now: Moment) -> [Effect] {
        guard let exchange = signIn.sent(attempt) else { return revokeUnwanted(attempt, granted, now) }
        if let wanted = exchange.wanted, !wanted.isSameUser(as: granted.identity) {
            dropGrant(of: exchange)
            let effects = revoke(granted, now)
            guard exchange.isPoll else {
                return effects + exchangeFailed(attempt, .otherUser(granted.identity), now: now)
            }
            signIn.end()
            let ending = exchange.isWithdrawn ? [] : endDeviceSignIn(.approvedByAnother(than: wanted))
            return effects + ending + settle(now)
        }
        signIn.granted(granted)
        return settle(now)
    }

    /// The provider granted nothing: what stood before still stands.
    package mutating func exchangeFailed(_ attempt: Attempt, _ failure: ExchangeFailure, now: Moment) -> [Effect] {
        guard let exchange = signIn.sent(attempt) else {
            _ = revocations.arrived(attempt)
            return []
        }
        var refusal = refusal(for: failure, now)
        if case .sent(_, let round?) = exchange.stage, case .refused(let reason) = failure, !exchange.isWithdrawn {
            signIn.askAgain()
            rounds.resume(round.afterRefusal(reason))
            return [failure.report(as: refusal)] + settle(now)
        }
        signIn.end()
        var effects: [Effect] = []
        switch failure {
        case .refused, .terminated:
            dropGrant(of: exchange)
        case .otherUser, .unavailable:
            // What it has brought is good for another attempt.
            if exchange.isWithdrawn, let grant = exchange.grant, dropGrant(of: exchange) {
                effects.append(.giveBack(grant))
            }
        }
        if case .unavailable = failure, exchange.grant != nil {
            let isKept = coming.content != nil && persistence.storage.durable
            refusal.remedy = isKept ? .signInAgainWithPartialGrant : .signInAgainWithGrantInMemory
        }
        callers.refuse(refusal) { $0 == .session }
        return [failure.report(as: refusal)] + effects + settle(now)
    }

    private func refusal(for failure: ExchangeFailure, _ now: Moment) -> SessionError {
        switch failure {
        case .refused(let reason):
            SessionError(.invalidCredential, reason)
        case .terminated(let code, let message):
            SessionError(
                .sessionTerminated,
                message,
                termination: Termination(code: code, message: message, at: now.wall)
            )
        case .otherUser(let identity):
            alreadySignedIn(beside: identity)
        case .unavailable(let unavailability):
            SessionError(unavailability, remedy: .signInAgain(after: unavailability))
        }
    }

    // MARK: Making it durable

    /// Writes what was granted as soon as the persistence queue takes a change.
    mutating func storeGranted(_ now: Moment) -> [Effect] {
        guard persistence.takesChange, let (exchange, granted) = signIn.takeGranted() else { return [] }
        if exchange.isWithdrawn {
            dropGrant(of: exchange)
            let effects = revokeUnlessSignedIn(granted, now)
            callers.refuse(.withdrawn) { $0 == .session }
            return effects
        }
        // The write that comes holds the session instead of the grant.
        _ = signIn.dropGrant(exchange.grant)
        if exchange.isPoll {
            _ = signIn.endDevice()
            callers.move { $0.wait.isOfApproval ? .session : nil }
        }
        let externalUserId = exchange.externalUserId ?? externalUserId(of: granted.identity)
        var random = random
        persistence.begin(.signIn(of: exchange.request)) { generation in
            .signedIn(
                Session(granted, externalUserId: externalUserId, generation: generation, at: now, using: &random)
            )
        }
        self.random = random
        return []
    }

    /// The name that an app has given to this user, if the user is signed in already.
    private func externalUserId(of identity: Identity) -> ExternalUserId? {
        guard let session = installation.session, session.stored.identity.isSameUser(as: identity) else { return nil }
        return session.stored.externalUserId
    }

    /// The sign-in is on disk, or the disk refused it and it is served from memory.
    mutating func signedIn(insteadOf departed: consuming DepartedSession?, _ now: Moment) -> [Effect] {
        if let session = installation.session { revocations.drop(session.stored.identity) }
        let present = installation.session?.stored.identity
        let outcome: IdentifyOutcome
        var effects = [Effect.report(.exchangeEnded(.succeeded))]
        overtakeRenewal(of: departed?.identity)
        if let renewed = renewal.granted { effects += revokeUnlessSignedIn(renewed, now) }
        rounds.drop(.renewal)
        if signIn.device != nil { effects += endDeviceSignIn(.approvalOvertaken) }
        switch consume departed {
        case nil:
            outcome = .signedIn
        case let departed? where present.map(departed.identity.isSameUser) ?? false:
            outcome = .unchanged
            effects += departed.dropped(because: .sameUserSignedIn)
        case let departed?:
            outcome = .switched
            effects += departed.revoked { revoke($0, now) }
        }
        callers.move { caller in
            guard caller.wait == .session || caller.wait == .renewal else { return nil }
            return caller.done(outcome).map { .answer(.success($0)) }
        }
        renewal.abandon()
        signIn.forgetDeviceError()
        return effects
    }

    // MARK: Turns

    /// Lets the next caller sign in: one at a time, none while a change or a name is being written, and none before a poll that
    /// is due.
    mutating func takeTurns(_ now: Moment) -> [Effect] {
        var effects: [Effect] = []
        while persistence.change == nil, signIn.exchange == nil, !callers.isWritingName(to: persistence),
            !isPollDue(now),
            let (caller, wish) = callers.next
        {
            effects += begin(caller, wish, now)
        }
        return effects
    }

    private mutating func begin(_ caller: Callers.Caller, _ wish: Callers.Wish, _ now: Moment) -> [Effect] {
        switch wish {
        case .signIn(let facts): return begin(caller, facts, for: nil, now)
        case .identify(let externalUserId): return ask(caller, externalUserId)
        case .identifyWith(let externalUserId, let facts): return identify(caller, externalUserId, facts, now)
        }
    }

    /// Begins with a credential, as the rules say.
    private mutating func begin(
        _ caller: Callers.Caller,
        _ facts: CredentialFacts,
        for externalUserId: ExternalUserId?,
        _ now: Moment
    ) -> [Effect] {
        switch ruling(for: facts, now) {
        case .exchange(let expected):
            return beginExchange(caller, facts, for: externalUserId, expecting: expected, now)
        case .refuse(let refusal):
            callers.refuse(caller.id, refusal)
        case .alreadySo:
            accept(caller, .unchanged)
        case .configure where externalUserId != nil:
            callers.refuse(caller.id, .namesNoUser)
        case .configure(let environment, let region):
            callers.move(caller.id, to: .session)
            persistence.begin(.signIn(of: caller.id)) { _ in
                .configured(environment: environment, region: region, key: facts.key)
            }
        }
        return []
    }

    /// What the caller wants is so already.
    private mutating func accept(_ caller: Callers.Caller, _ outcome: IdentifyOutcome) {
        if let answer = caller.done(outcome) { callers.answer(caller.id, answer) }
    }

    /// Asks the app of an identify call for a credential, where one is needed.
    private mutating func ask(_ caller: Callers.Caller, _ externalUserId: ExternalUserId) -> [Effect] {
        if let obstacle = persistence.obstacle {
            callers.refuse(caller.id, SessionError(.storageUnavailable, obstacle))
            return []
        }
        if let session = installation.session, session.stored.externalUserId == externalUserId,
            !session.stored.reauthenticationPending
        {
            accept(caller, .unchanged)
            return []
        }
        callers.move(caller.id, to: .credential(externalUserId))
        return [.ask(caller.id, externalUserId: externalUserId)]
    }

    /// The app has answered with a credential, which the rules apply to.
    private mutating func identify(
        _ caller: Callers.Caller,
        _ externalUserId: ExternalUserId,
        _ facts: CredentialFacts,
        _ now: Moment
    ) -> [Effect] {
        guard let session = installation.session else { return begin(caller, facts, for: externalUserId, now) }
        switch facts.subject {
        case .nobody:
            callers.refuse(caller.id, .namesNoUser)
            return []
        case .unnamed:
            // Its user is known only when it is spent; the caller declared who is wanted.
            return beginExchange(caller, facts, for: externalUserId, expecting: wanted(as: externalUserId), now)
        case .user(let identity) where identity.isSameUser(as: session.stored.identity):
            if case .exchange(let expected) = ruling(for: facts, now) {
                return beginExchange(caller, facts, for: externalUserId, expecting: expected, now)
            }
            bind(externalUserId, caller)
            return []
        case .user:
            // The exchange comes first: a failure leaves the old user signed in.
            return beginExchange(caller, facts, for: externalUserId, expecting: nil, now)
        }
    }

    /// The only user whom a credential that names no user may sign in: the present one, unless an app declares another.
    func wanted(as externalUserId: ExternalUserId?) -> Identity? {
        guard let present = installation.session?.stored else { return nil }
        return externalUserId.map { $0 == present.externalUserId } ?? true ? present.identity : nil
    }

    private mutating func bind(_ externalUserId: ExternalUserId, _ caller: Callers.Caller) {
        guard let session = installation.session else { return }
        installation = .signedIn(session.bound(to: externalUserId))
        callers.move(caller.id, to: .name(updateRecord(), before: session.stored.externalUserId))
    }

    // MARK: The exchange

    private mutating func beginExchange(
        _ caller: Callers.Caller,
        _ facts: CredentialFacts,
        for externalUserId: ExternalUserId?,
        expecting expected: Identity?,
        _ now: Moment
    ) -> [Effect] {
        var wanted = expected
        if case .user(let identity) = facts.subject { wanted = identity }
        if facts.awaitsApproval, let device = signIn.device {
            joinDeviceSignIn(caller, device, for: externalUserId, wanting: wanted)
            return []
        }
        // A call that waits for a handler is counted when it leaves.
        let refusal =
            if !traits(of: facts.scheme).reachesProvider { SessionError?.none } else if facts.needsHandler {
                budget.refusal(of: caller.uid, now: now)
            } else { budget.spend(caller.uid, now: now) }
        if let refusal {
            callers.refuse(caller.id, refusal)
            return []
        }
        callers.move(caller.id, to: .session)
        let (attempt, id) = (nextAttempt(), caller.id)
        signIn.begin(
            SignIn.Exchange(
                attempt: attempt,
                request: id,
                uid: caller.uid,
                externalUserId: externalUserId,
                wanted: wanted,
                stage: facts.needsHandler ? .asking : .sent(given: nil, round: nil)
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
                userId: wanted?.userId,
                limit: RenewalPolicy.longestRound,
                users: rounds.users
            )
        )
        return []
    }

    /// A handler gave what the sign-in was missing.
    mutating func sendExchange(_ round: HandlerRounds.Round, given: SecretRef, _ now: Moment) -> [Effect] {
        guard let exchange = signIn.send(round.attempt, given: given, by: round), let id = exchange.request else {
            return []
        }
        if let refusal = budget.spend(exchange.uid, now: now) {
            signIn.end()
            callers.refuse(refusal) { $0 == .session }
            return []
        }
        return [.exchange(round.attempt, credentialOf: id, completedWith: given, expecting: nil)]
    }
}

extension Callers.Wait {
    /// Whether it waits for the device sign-in or its codes.
    fileprivate var isOfApproval: Bool {
        switch self {
        case .approval, .codes: true
        default: false
        }
    }
}

extension ExchangeFailure {
    var outcome: SessionEvent.Outcome {
        switch self {
        case .refused, .otherUser: .refused
        case .terminated: .terminated
        case .unavailable: .unavailable
        }
    }

    /// What the log says of it, in the words of the refusal that the caller gets.
    func report(as refusal: SessionError) -> Effect {
        let (cause, host): (Unavailability.Cause, String?) =
            switch self {
            case .refused, .otherUser: (.credential, nil)
            case .terminated: (.termination, nil)
            case .unavailable(let why): (why.cause, why.host)
            }
        return .report(.exchangeEnded(outcome, Unavailability(refusal, cause: cause, host: host)))
    }
}
