/// Telling the provider of sign-outs: behind their back, one at a time, and not for ever.
///
/// It is remembered in memory only: a sign-out leaves no secret on disk, and a revocation needs one. Nobody waits for
/// it: not the sign-out, not the next sign-in, and the end of the process only for a request that is under way.
extension SessionMachine {
    /// A sign-out that the provider has not heard of.
    struct Revocation: Equatable, Sendable {
        var id: RevocationID
        var identity: Identity
        /// No attempt before this.
        var dueAt: Uptime
        /// When the token that proves it has ended, and telling is of no use any more.
        var endsAt: Uptime
        var failures = 0
        var lastError: String?
    }

    /// The request by which the provider is being told.
    struct Telling: Equatable, Sendable {
        var id: RevocationID
        var isInterrupted = false
    }

    // MARK: Events

    /// The provider was told, or had an answer that no other attempt would change; or `failure` says why not yet.
    package mutating func revocationEnded(_ id: RevocationID, failure: Unavailability?, now: Moment) -> [Effect] {
        guard telling?.id == id else { return [] }
        telling = nil
        // It may have been dropped since: its user signed in again.
        guard let index = revocations.firstIndex(where: { $0.id == id }) else { return settle(now) }
        guard let failure else {
            revocations.remove(at: index)
            return [.forgetSecrets(of: id)] + settle(now)
        }
        let failures = revocations[index].failures + 1
        let delay =
            if let asked = failure.retryAfter {
                RenewalPolicy.delay(afterBeingAsked: asked, using: &random)
            } else {
                RenewalPolicy.backoff(afterFailures: failures, using: &random)
            }
        revocations[index].failures = failures
        revocations[index].lastError = failure.message
        revocations[index].dueAt = min(now.uptime + delay, revocations[index].endsAt)
        return settle(now)
    }

    // MARK: Keeping the list

    /// Notes that the provider is to hear of the present session's end, where that can still be proved; and of one that
    /// was granted and is not written yet.
    mutating func queueRevocations(_ now: Moment) -> [Effect] {
        var effects: [Effect] = []
        if case .signedIn(let session) = standing {
            effects += queueRevocation(of: session.stored.identity, .present, goodFor: session.lifeOfProof(now), now)
        }
        if let session = unwritten {
            let secrets = SecretSource.generation(generation)
            effects += queueRevocation(of: session.stored.identity, secrets, goodFor: session.lifeOfProof(now), now)
        }
        return effects
    }

    /// A session that the provider has granted, and that is being written.
    private var unwritten: Session? {
        if case .signedIn(let session)? = exchange?.result { return session }
        if case .rotating(_, let session) = renewal.activity { return session }
        return nil
    }

    /// A request that was overtaken by a sign-out has brought a session, which ends at the provider, too: unless its user
    /// has signed in since.
    mutating func revokeUnwanted(
        _ attempt: Attempt,
        of identity: Identity?,
        endingAt end: WallTime?,
        _ now: Moment
    ) -> [Effect] {
        guard let known = overtaken.removeValue(forKey: attempt), let identity = identity ?? known,
            !isSignedIn(identity)
        else { return [.abandon(attempt)] }
        let life = end.flatMap { $0 < .never ? $0 - now.wall : nil } ?? RenewalPolicy.longestRevocation
        return queueRevocation(of: identity, .attempt(attempt), goodFor: life, now) + [.abandon(attempt)] + settle(now)
    }

    private func isSignedIn(_ identity: Identity) -> Bool {
        [standing, exchange?.result].contains { standing in
            guard case .signedIn(let session)? = standing else { return false }
            return session.stored.identity.isSameUser(as: identity)
        }
    }

    private mutating func queueRevocation(
        of identity: Identity,
        _ secrets: SecretSource,
        goodFor life: Duration,
        _ now: Moment
    ) -> [Effect] {
        guard life > .zero else { return [] }
        var effects: [Effect] = []
        let eldest = revocations.first { $0.id != telling?.id }
        if revocations.count >= RenewalPolicy.mostRevocations, let eldest {
            effects += giveUp(eldest, because: "more than \(RenewalPolicy.mostRevocations) wait to be told")
        }
        lastRevocation += 1
        let id = RevocationID(number: lastRevocation)
        revocations.append(Revocation(id: id, identity: identity, dueAt: now.uptime, endsAt: now.uptime + life))
        return effects + [.keepSecrets(secrets, for: id)]
    }

    /// A vendor may know one session a user and device: revoking the old one could end the new one.
    mutating func dropRevocations(ofWhoSignedIn standing: Standing) -> [Effect] {
        guard case .signedIn(let session) = standing else { return [] }
        let dropped = revocations.filter { $0.identity.isSameUser(as: session.stored.identity) }
        revocations.removeAll { dropped.contains($0) }
        return dropped.map { .forgetSecrets(of: $0.id) }
    }

    private mutating func giveUp(_ revocation: Revocation, because reason: String) -> [Effect] {
        revocations.removeAll { $0.id == revocation.id }
        let last = revocation.lastError.map { "; the last attempt: \($0)" } ?? ""
        let text = "The provider was not told that user \(revocation.identity.userId) signed out: \(reason)\(last)"
        return [.forgetSecrets(of: revocation.id), .report(.revocationGivenUp(text))]
    }

    // MARK: Telling

    /// Tells of the next sign-out that is due, gives up what has become pointless, and makes way for a sign-in.
    mutating func tendRevocations(_ now: Moment) -> [Effect] {
        var effects: [Effect] = []
        for revocation in revocations where revocation.id != telling?.id {
            if revocation.endsAt <= now.uptime {
                effects += giveUp(revocation, because: "its session has ended by itself")
            } else if revocation.failures >= RenewalPolicy.mostRevocationAttempts {
                effects += giveUp(revocation, because: "\(revocation.failures) attempts have failed")
            }
        }
        if let telling {
            guard !telling.isInterrupted, let told = revocations.first(where: { $0.id == telling.id }),
                maySignIn(told.identity)
            else { return effects }
            self.telling?.isInterrupted = true
            return effects + [.interrupt(telling.id)]
        }
        guard leaving == nil, let next = waitingRevocations.first(where: { $0.dueAt <= now.uptime }) else {
            return effects
        }
        telling = Telling(id: next.id)
        return effects + [.revoke(next.id, next.identity)]
    }

    /// When the provider is told of a sign-out next, if time is all that it waits for.
    var revocationDue: Uptime? {
        guard telling == nil, leaving == nil else { return nil }
        return waitingRevocations.map(\.dueAt).min()
    }

    /// Those that only wait for their time: nobody who may be their user is signing in.
    private var waitingRevocations: [Revocation] {
        revocations.filter { !maySignIn($0.identity) }
    }

    /// Whether a sign-in that was received may turn out to be this user's.
    private func maySignIn(_ identity: Identity) -> Bool {
        if let exchange, exchange.subject.map(identity.isSameUser) ?? true { return true }
        return queue.contains { entry in
            switch entry.wish {
            case .signIn(let facts), .identifyWith(let facts, _): facts.subject.mayBe(identity)
            case .identify: false
            }
        }
    }
}

extension SessionMachine.Session {
    /// For how long the session's token can prove to the provider that it is its own user who signs out.
    fileprivate func lifeOfProof(_ now: Moment) -> Duration {
        guard hasEnd else { return RenewalPolicy.longestRevocation }
        if isTrustworthy(now) { return validity(now) }
        // By a wall clock that is wrong, and after a restart, nobody knows; what the provider makes of the token decides.
        return endsAt.map { $0 - now.uptime } ?? RenewalPolicy.longestRevocation
    }
}

extension CredentialFacts.Subject {
    fileprivate func mayBe(_ identity: Identity) -> Bool {
        switch self {
        case .user(let user): user.isSameUser(as: identity)
        case .unnamed: true
        case .nobody: false
        }
    }
}
