/// Which ends of sessions the provider is to hear of.
extension SessionMachine {
    // MARK: Events

    /// The provider was told, or had an answer that no other attempt would change; or `failure` says why not yet.
    package mutating func revocationEnded(_ id: RevocationID, failure: Unavailability?, now: Moment) -> [Effect] {
        guard revocations.ended(id, failure, now, using: &random) else { return [] }
        return settle(now)
    }

    // MARK: What is to be told

    /// Notes that the provider is to hear of the present session's end, where that can still be proved; and of one that
    /// was granted and is not written yet.
    mutating func revokeEverything(_ now: Moment) -> [Effect] {
        var effects: [Effect] = []
        for session in sessions { effects += revoke(session, now) }
        if let granted = signIn.granted { effects += revoke(granted, now) }
        return effects
    }

    /// A request that was overtaken by a sign-out or by another user's sign-in has brought a session, which ends at the
    /// provider, too: unless its user has signed in since.
    mutating func revokeUnwanted(_ attempt: Attempt, _ granted: Granted, _ now: Moment) -> [Effect] {
        guard let known = revocations.arrived(attempt) else { return [] }
        var granted = granted
        if let known { granted.identity = known }
        return revokeUnlessSignedIn(granted, now) + settle(now)
    }

    mutating func revokeUnlessSignedIn(_ granted: Granted, _ now: Moment) -> [Effect] {
        let isHere = sessions.contains { $0.stored.identity.isSameUser(as: granted.identity) }
        return isHere ? [] : revoke(granted, now)
    }

    /// The session that stands, and the one that is being written.
    private var sessions: [Session] { [standing.session, ledger.change?.outcome.session].compactMap(\.self) }

    mutating func revoke(_ session: Session, _ now: Moment) -> [Effect] {
        let life = lifeOfProof(session.stored.scheme) ?? session.lifeOfProof(now)
        return revocations.add(session.stored.identity, session.secrets, goodFor: life, now)
    }

    /// A request to renew that has left may still bring a session: nobody here wants it any more.
    mutating func overtakeRenewal() {
        guard case .sending(let tried, _) = renewal.phase else { return }
        revocations.overtake(tried.attempt, of: standing.session?.stored.identity)
    }

    mutating func revoke(_ granted: Granted, _ now: Moment) -> [Effect] {
        let ownLife = granted.life?.end.map { $0 - now.uptime } ?? RenewalPolicy.longestRevocation
        let life = lifeOfProof(granted.scheme) ?? ownLife
        return revocations.add(granted.identity, granted.secrets, goodFor: life, now)
    }

    /// For how long a sign-out can be proved, where that does not hang on the access token.
    private func lifeOfProof(_ scheme: Scheme) -> Duration? {
        traits(of: scheme).proofOutlivesToken ? RenewalPolicy.longestRevocation : nil
    }

    mutating func advanceRevocations(_ now: Moment) -> [Effect] {
        revocations.advance(now, isHeld: isRevocationHeld, maySignIn)
    }

    /// While a sign-out is being written, and while an approval is asked for, no sign-out is told of.
    var isRevocationHeld: Bool { ledger.isSigningOut || signIn.isPolling }

    /// Whether a sign-in that was received may turn out to be this user's.
    func maySignIn(_ identity: Identity) -> Bool {
        if signIn.mayBe(identity) || callers.mayBe(identity) { return true }
        guard ledger.isSigningIn, let coming = ledger.change?.outcome.session else { return false }
        return coming.stored.identity.isSameUser(as: identity)
    }
}
