/// Which ended sessions are revoked at the provider.
extension SessionMachine {
    // MARK: Events

    /// A request to revoke ended. Without a failure the provider knows, or will never.
    package mutating func revocationEnded(_ id: RevocationID, failure: Unavailability?, now: Moment) -> [Effect] {
        guard revocations.ended(id, failure, now, using: &random) else { return [] }
        return settle(now)
    }

    // MARK: What is revoked

    /// Revokes the session that stands, the one that is being written, and what was granted and is not written yet.
    mutating func revokeEverything(_ now: Moment) -> [Effect] {
        var effects: [Effect] = []
        for session in sessions { effects += revoke(session, now) }
        for granted in [signIn.granted, renewal.granted].compactMap(\.self) { effects += revoke(granted, now) }
        return effects
    }

    /// A request that was overtaken has brought a session: it is revoked, unless its user has signed in since.
    mutating func revokeUnwanted(_ attempt: Attempt, _ granted: Granted, _ now: Moment) -> [Effect] {
        guard let known = revocations.arrived(attempt) else { return [] }
        var granted = granted
        if let known { granted.identity = known }
        return revokeUnlessSignedIn(granted, now) + settle(now)
    }

    /// Revokes a grant that no caller uses, unless its user stays signed in after the change that is being written: some providers
    /// keep one session for each user and device, and would end that one.
    mutating func revokeUnlessSignedIn(_ granted: Granted, _ now: Moment) -> [Effect] {
        staysSignedIn(granted.identity) ? [] : revoke(granted, now)
    }

    /// The same for a session.
    mutating func revokeUnlessSignedIn(_ session: Session, _ now: Moment) -> [Effect] {
        staysSignedIn(session.stored.identity) ? [] : revoke(session, now)
    }

    private func staysSignedIn(_ identity: Identity) -> Bool {
        coming.session.map { $0.stored.identity.isSameUser(as: identity) } ?? false
    }

    /// The session that stands, and the one that is being written.
    private var sessions: [Session] {
        let coming = coming.session
        let isAnother = coming?.secrets != installation.session?.secrets
        return [installation.session, isAnother ? coming : nil].compactMap(\.self)
    }

    mutating func revoke(_ session: Session, _ now: Moment) -> [Effect] {
        let life = lifeOfProof(session.stored.scheme) ?? session.lifeOfProof(now)
        return revocations.add(session.stored.identity, session.secrets, goodFor: life, now)
    }

    /// The answer to a renewal of this user's session that has left is revoked when it comes.
    mutating func overtakeRenewal(of identity: Identity?) {
        guard case .sending(let tried, _) = renewal.phase else { return }
        revocations.overtake(tried.attempt, of: identity)
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

    /// While a change is being written and while a poll is out, no request to revoke begins.
    var isRevocationHeld: Bool { persistence.change != nil || signIn.isPolling }

    /// Whether a sign-in that was received may turn out to be this user's.
    func maySignIn(_ identity: Identity) -> Bool {
        if signIn.mayBe(identity) || callers.mayBe(identity) { return true }
        guard persistence.isSigningIn, let coming = persistence.change?.outcome.session else { return false }
        return coming.stored.identity.isSameUser(as: identity)
    }
}
