/// Sign-ins: turns, the exchange, and the write after which a grant takes effect.
extension SessionMachine {
    // MARK: Events

    /// Handles a sign-in request. The owner has already read the claims of its credential.
    package mutating func signInRequested(
        _ request: RequestID,
        _ facts: CredentialFacts,
        by uid: UInt32,
        now: Moment
    ) -> [Effect] {
        callers.add(request, .change, by: uid, waitingFor: .queued(.signIn(facts)))
        return settle(now)
    }

    /// Handles an identify call, which names the user to sign in by the app's own name for this user.
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
        callers.add(request, .identify, by: uid, waitingFor: .queued(.identify(externalUserId)))
        return settle(now)
    }

    /// Handles a transient failure of a sign-in with the bootstrap credential, which waits for its next attempt. A
    /// sign-out ends the wait.
    ///
    /// - Parameter retry: the state after earlier attempts with the same credential.
    package mutating func retryRequested(
        _ request: RequestID,
        after retry: Retry,
        retryAfter: Duration?,
        now: Moment
    ) -> [Effect] {
        var retry = retry
        retry.failed(retryAfter: retryAfter, now, using: &random)
        callers.add(request, .change, by: 0, waitingFor: .retry(retry))
        return settle(now)
    }

    package mutating func identifyAnswered(
        _ request: RequestID,
        _ answer: Result<CredentialFacts, SessionError>,
        now: Moment
    ) -> [Effect] {
        guard let externalUserId = callers.wanted(by: request) else { return [] }
        switch answer {
        case .success(let facts): callers.setWait(request, to: .queued(.identifyWith(externalUserId, facts)))
        case .failure(let refusal): callers.refuse(request, refusal)
        }
        return settle(now)
    }

    /// Refuses the sign-ins that wait for their turn.
    package mutating func signInsRefused(_ refusal: SessionError, now: Moment) -> [Effect] {
        callers.refuse(refusal, where: \.isForTurn)
        return settle(now)
    }

    /// Handles callers that have lost the right to sign in. No further request leaves, grants are revoked, and the
    /// present state is written over a sign-in that is being written. A caller that joined a device sign-in is only
    /// refused.
    package mutating func rightWithdrawn(from requests: Set<RequestID>, now: Moment) -> [Effect] {
        var isUnsent = false
        if let exchange = signIn.exchange, let request = exchange.request, requests.contains(request) {
            isUnsent = signIn.round != nil
            signIn.withdraw()
        }
        for caller in callers.list where requests.contains(caller.id) {
            switch caller.wait {
            case .queued, .credential, .codes, .approval: callers.refuse(caller.id, .withdrawn)
            case .session where isUnsent: callers.refuse(caller.id, .withdrawn)
            case .session where persistence.change?.kind == .signIn(of: caller.id):
                withdrawSignIn(.withdrawn, now)
            case .session where persistence.change?.kind == .signIn(of: nil):
                callers.refuse(caller.id, .withdrawn)
            case .name(_, _, let before):
                installation.session?.bind(to: before)
                callers.setWait(caller.id, to: .update(updateRecord(), .failure(.withdrawn)))
            case .session, .renewal, .token, .signOut, .retry, .update, .answer: break
            }
        }
        if isUnsent { signIn.end() }
        return settle(now)
    }

    /// Writes the previous state over the sign-in that is being written, and revokes its grant.
    mutating func withdrawSignIn(_ refusal: SessionError, _ now: Moment) {
        guard persistence.isSigningIn, let granted = persistence.change?.outcome else { return }
        persistence.begin(.withdrawal(refusal), installation.stateAfterWithdrawal)
        if installation.isUnreadable { persistence.leftInQuarantine() }
        if let session = granted.session, !staysSignedIn(session.identity) { revoke(session, now) }
    }

    /// Completes a withdrawal. The previous state is on disk, or the disk has refused it.
    mutating func signInWithdrawn(_ refusal: SessionError) -> [Effect] {
        installation = installation.stateAfterWithdrawal
        callers.refuse(refusal) { $0 == .session }
        return [.report(.exchangeEnded(.refused, Unavailability(refusal, cause: .other)))]
    }

    package mutating func exchangeSucceeded(_ attempt: AttemptID, _ granted: Granted, now: Moment) -> [Effect] {
        guard let exchange = signIn.exchange(awaiting: attempt) else { return revokeUnwanted(attempt, granted, now) }
        if let wanted = exchange.wanted, !wanted.isSameUser(as: granted.identity) {
            dropGrant(of: exchange.attempt)
            revokeUnlessSignedIn(granted, now)
            guard exchange.isPoll else { return exchangeFailed(attempt, .otherUser(granted.identity), now: now) }
            signIn.end()
            return (exchange.isWithdrawn ? [] : endDeviceSignIn(.approvedByAnother(than: wanted), now)) + settle(now)
        }
        signIn.granted(granted)
        return settle(now)
    }

    /// Handles an exchange without a grant. The previous state stays in force. `host` accepts or refuses the
    /// credential.
    package mutating func exchangeFailed(
        _ attempt: AttemptID,
        _ failure: ExchangeFailure,
        by host: String? = nil,
        now: Moment
    ) -> [Effect] {
        guard let exchange = signIn.exchange(awaiting: attempt) else {
            _ = revocations.arrived(attempt)
            return []
        }
        var refusal = refusal(for: failure, now)
        if case .sent(_, let round?) = exchange.stage, case .refused(let reason) = failure, !exchange.isWithdrawn {
            continueRound(round.afterRefusal(reason))
            return [failure.report(as: refusal, by: host)] + settle(now)
        }
        signIn.end()
        switch failure {
        case .refused, .terminated: revokeGrant(of: exchange.attempt, now)
        // Another attempt can use the partial grant.
        case .otherUser, .unavailable: if exchange.isWithdrawn { revokeGrant(of: exchange.attempt, now) }
        }
        if case .unavailable = failure, grants.isKept(of: exchange.attempt) {
            let isKept = !afterChange.isUnreadable && persistence.storage.durable
            refusal.remedy = isKept ? .signInAgainWithPartialGrant : .signInAgainWithGrantInMemory
        }
        // A caller without the right learns neither the provider's answer nor who is signed in.
        callers.refuse(exchange.isWithdrawn ? .withdrawn : refusal) { $0 == .session }
        return [failure.report(as: refusal, by: host)] + settle(now)
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

    // MARK: Writing

    /// Writes a granted session as soon as the persistence queue accepts a change.
    mutating func storeGranted(_ now: Moment) -> [Effect] {
        guard persistence.takesSignIn, let (exchange, granted) = signIn.takeGranted() else { return [] }
        if exchange.isWithdrawn {
            dropGrant(of: exchange.attempt)
            revokeUnlessSignedIn(granted, now)
            callers.refuse(.withdrawn) { $0 == .session }
            return []
        }
        // The next write holds the session instead of the partial grant.
        dropGrant(of: exchange.attempt)
        if exchange.isPoll {
            signIn.endDevice(because: nil)
            callers.setWait { $0.wait.isOfDeviceSignIn ? .session : nil }
        }
        let session = Session(
            granted,
            externalUserId: exchange.externalUserId ?? externalUserId(of: granted.identity),
            generation: persistence.nextGeneration,
            at: now,
            using: &random
        )
        persistence.begin(.signIn(of: exchange.request), .signedIn(session))
        return []
    }

    /// Returns the external user id that an app has given to this user, if the user is already signed in.
    private func externalUserId(of identity: Identity) -> ExternalUserId? {
        guard let session = installation.session, session.identity.isSameUser(as: identity) else { return nil }
        return session.externalUserId
    }

    /// Completes a sign-in. It is on disk, or the disk refused it and the daemon serves it from memory.
    mutating func signedIn(insteadOf departed: consuming DepartedSession?, _ now: Moment) -> [Effect] {
        if let session = installation.session { revocations.drop(session.identity) }
        let present = installation.session?.identity
        let outcome: IdentifyOutcome
        var effects = [Effect.report(.exchangeEnded(.succeeded))]
        overtakeRenewal(of: departed?.identity)
        if let renewed = renewal.granted { revokeUnlessSignedIn(renewed, now) }
        if signIn.device != nil { effects += endDeviceSignIn(.approvalOvertaken, now) }
        switch consume departed {
        case nil:
            outcome = .signedIn
        case let departed? where present.map(departed.identity.isSameUser) ?? false:
            outcome = .unchanged
            departed.dropped(because: .sameUserSignedIn)
        case let departed?:
            outcome = .switched
            departed.revoked { revoke($0, now) }
        }
        callers.setWait { caller in
            guard caller.wait == .session || caller.wait == .renewal else { return nil }
            return caller.done(outcome).map { .answer(.success($0)) }
        }
        abandonRenewal(isRevoking: outcome != .unchanged, now)
        signIn.forgetDeviceError()
        return effects
    }

    // MARK: Turns

    /// Lets the next callers sign in, one at a time. None begins while a change or an external user id is being
    /// written, or before a poll that is due.
    mutating func takeTurns(_ now: Moment) -> [Effect] {
        var effects: [Effect] = []
        while persistence.change == nil, signIn.exchange == nil, !callers.isWritingName(to: persistence),
            !isPollDue(now),
            let (caller, queued) = callers.next
        {
            effects += begin(caller, queued, now)
        }
        return effects
    }

    private mutating func begin(_ caller: Callers.Caller, _ queued: Callers.QueuedSignIn, _ now: Moment) -> [Effect] {
        switch queued {
        case .signIn(let facts): return begin(caller, facts, for: nil, now)
        case .identify(let externalUserId): return ask(caller, externalUserId)
        case .identifyWith(let externalUserId, let facts): return identify(caller, externalUserId, facts, now)
        }
    }

    private mutating func begin(
        _ caller: Callers.Caller,
        _ facts: CredentialFacts,
        for externalUserId: ExternalUserId?,
        _ now: Moment
    ) -> [Effect] {
        switch signInDecision(for: facts, now) {
        case .exchange(let expected):
            return beginExchange(caller, facts, for: externalUserId, expecting: expected, now)
        case .refuse(let refusal):
            callers.refuse(caller.id, refusal)
        case .alreadySo:
            accept(caller, .unchanged)
        case .configure where externalUserId != nil:
            callers.refuse(caller.id, .namesNoUser)
        case .configure(let environment, let region):
            callers.setWait(caller.id, to: .session)
            persistence.begin(
                .signIn(of: caller.id),
                .configured(environment: environment, region: region, key: facts.key)
            )
        }
        return []
    }

    private mutating func accept(_ caller: Callers.Caller, _ outcome: IdentifyOutcome) {
        if let answer = caller.done(outcome) { callers.answer(caller.id, answer) }
    }

    /// Asks the app of an identify call for a credential, if one is needed.
    private mutating func ask(_ caller: Callers.Caller, _ externalUserId: ExternalUserId) -> [Effect] {
        if let obstacle = persistence.obstacle {
            callers.refuse(caller.id, SessionError(.storageUnavailable, obstacle))
            return []
        }
        if let session = installation.session, session.externalUserId == externalUserId,
            !session.reauthenticationPending
        {
            accept(caller, .unchanged)
            return []
        }
        callers.setWait(caller.id, to: .credential(externalUserId))
        return [.ask(caller.id, externalUserId: externalUserId)]
    }

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
            // The credential names its user only when it is spent. The caller has declared the wanted user.
            return beginExchange(caller, facts, for: externalUserId, expecting: wanted(as: externalUserId), now)
        case .user(let identity) where identity.isSameUser(as: session.identity):
            if case .exchange(let expected) = signInDecision(for: facts, now) {
                return beginExchange(caller, facts, for: externalUserId, expecting: expected, now)
            }
            bind(externalUserId, caller)
            return []
        case .user:
            // The exchange comes first, so that a failure leaves the old user signed in.
            return beginExchange(caller, facts, for: externalUserId, expecting: nil, now)
        }
    }

    /// Returns the only user whom a credential without a user may sign in: the present one, unless an app declares
    /// another.
    func wanted(as externalUserId: ExternalUserId?) -> Identity? {
        guard let present = installation.session else { return nil }
        return externalUserId.map { $0 == present.externalUserId } ?? true ? present.identity : nil
    }

    private mutating func bind(_ externalUserId: ExternalUserId, _ caller: Callers.Caller) {
        let before = installation.session?.externalUserId
        installation.session?.bind(to: externalUserId)
        callers.setWait(caller.id, to: .name(externalUserId, updateRecord(), before: before))
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
        callers.setWait(caller.id, to: .session)
        let (attempt, id) = (nextAttempt(), caller.id)
        let round = HandlerRounds.Round(
            attempt: attempt,
            reason: .missing,
            userId: wanted?.userId,
            limit: RenewalPolicy.longestRound,
            users: rounds.users
        )
        signIn.begin(
            SignIn.Exchange(
                attempt: attempt,
                request: id,
                uid: caller.uid,
                externalUserId: externalUserId,
                wanted: wanted,
                stage: facts.needsHandler ? .asking(round) : .sent(handlerSecret: nil, round: nil)
            )
        )
        if facts.needsHandler { return [] }
        if facts.awaitsApproval { return [.requestDeviceAuthorization(attempt, credentialOf: id)] }
        return [.exchange(attempt, credentialOf: id, completedWith: nil, expecting: expected)]
    }

    mutating func sendExchange(_ round: HandlerRounds.Round, handlerSecret: SecretRef, _ now: Moment) -> [Effect] {
        guard let exchange = signIn.exchange, let id = exchange.request else { return [] }
        signIn.send(round, handlerSecret: handlerSecret)
        if let refusal = budget.spend(exchange.uid, now: now) {
            signIn.end()
            callers.refuse(refusal) { $0 == .session }
            return []
        }
        return [.exchange(round.attempt, credentialOf: id, completedWith: handlerSecret, expecting: nil)]
    }
}

extension Callers.Wait {
    /// Whether the caller waits for the device sign-in or its codes.
    fileprivate var isOfDeviceSignIn: Bool {
        switch self {
        case .approval, .codes: true
        default: false
        }
    }
}

extension ExchangeFailure {
    /// Returns the log report, with the text of this refusal and the host that accepts or refuses the credential.
    func report(as refusal: SessionError, by host: String?) -> Effect {
        let (outcome, cause, host): (SessionEvent.Outcome, Unavailability.Cause, String?) =
            switch self {
            case .refused, .otherUser: (.refused, .credential, host)
            case .terminated: (.terminated, .termination, host)
            case .unavailable(let why): (.unavailable, why.cause, why.host)
            }
        return .report(.exchangeEnded(outcome, Unavailability(refusal, cause: cause, host: host)))
    }
}
