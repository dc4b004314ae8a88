extension SessionMachine {
    // MARK: Events

    /// Handles the end of a revocation request. Without a failure, the revocation is done or has become impossible.
    package mutating func revocationEnded(failure: Unavailability?, now: Moment) -> [Effect] {
        revocations.ended(failure, now, using: &random)
        return settle(now)
    }

    // MARK: Revoking

    /// Revokes the present session, the one that is being written, and grants that are not written yet.
    mutating func revokeEverything(_ now: Moment) {
        if let session = installation.session { revoke(session, now) }
        if let next = afterChange.session, next.secrets != installation.session?.secrets { revoke(next, now) }
        for granted in [signIn.granted, renewal.granted].compactMap(\.self) { revoke(granted, now) }
    }

    /// Revokes the session that an overtaken request has brought, unless its user has signed in since.
    mutating func revokeUnwanted(_ attempt: AttemptID, _ granted: Granted, _ now: Moment) -> [Effect] {
        guard let known = revocations.arrived(attempt) else { return [] }
        var granted = granted
        if let known { granted.identity = known }
        revokeUnlessSignedIn(granted, now)
        return settle(now)
    }

    /// Revokes an unused grant, unless its user stays signed in after the pending change. Some providers keep one
    /// session for each user and device, and would end the session in use.
    mutating func revokeUnlessSignedIn(_ granted: Granted, _ now: Moment) {
        if !staysSignedIn(granted.identity) { revoke(granted, now) }
    }

    func staysSignedIn(_ identity: Identity) -> Bool {
        afterChange.session.map { $0.identity.isSameUser(as: identity) } ?? false
    }

    mutating func revoke(_ session: Session, _ now: Moment) {
        let life = revocationWindow(session.scheme) ?? session.revocationWindow(now)
        revocations.add(session.identity, session.secrets, goodFor: life, now)
    }

    /// Marks a renewal of this user that is in flight as overtaken. Its session is revoked when the answer comes.
    mutating func overtakeRenewal(of identity: Identity?) {
        guard case .sending(let tried, _) = renewal.phase else { return }
        // A handler's secret may bring a session of another user.
        revocations.overtake(tried.attempt, of: tried.handlerSecret == nil ? identity : nil)
    }

    mutating func revoke(_ granted: Granted, _ now: Moment) {
        let ownLife = granted.life?.end.map { $0 - now.uptime } ?? RenewalPolicy.longestRevocation
        let life = revocationWindow(granted.scheme) ?? ownLife
        revocations.add(granted.identity, granted.secrets, goodFor: life, now)
    }

    /// Revokes a partial grant that no attempt can use any more.
    mutating func revoke(_ partialGrant: SecretRef, _ now: Moment) {
        revocations.add(nil, partialGrant, goodFor: RenewalPolicy.longestRevocation, now)
    }

    /// Returns the time for which a sign-out can be authenticated, if that does not depend on the access token.
    /// Otherwise `nil`.
    private func revocationWindow(_ scheme: Scheme) -> Duration? {
        traits(of: scheme).isRevocableAfterExpiry ? RenewalPolicy.longestRevocation : nil
    }

    mutating func advanceRevocations(_ now: Moment) -> [Effect] {
        revocations.advance(now, isHeld: isRevocationHeld, maySignIn)
    }

    /// Whether no revocation may begin, because a change is being written or a poll is in flight.
    var isRevocationHeld: Bool { persistence.change != nil || signIn.isPolling }

    /// Whether a pending sign-in may turn out to be this user's.
    func maySignIn(_ identity: Identity?) -> Bool {
        guard let identity else { return false }
        if signIn.mayBe(identity) || callers.mayBe(identity) { return true }
        guard persistence.isSigningIn, let afterChange = persistence.change?.outcome.session else { return false }
        return afterChange.identity.isSameUser(as: identity)
    }
}
