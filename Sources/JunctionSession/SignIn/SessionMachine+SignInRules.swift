/// The sign-in rules: one active user per installation.
extension SessionMachine {
    enum SignInDecision: Hashable, Sendable {
        case alreadySo
        case exchange(expecting: Identity?)
        case configure(environment: String, region: String)
        case refuse(SessionError)
    }

    func signInDecision(for facts: CredentialFacts, _ now: Moment) -> SignInDecision {
        // A one-time credential is never spent on a session that cannot be kept.
        if let obstacle = persistence.obstacle { return .refuse(SessionError(.storageUnavailable, obstacle)) }
        switch installation {
        case .signedOut, .configured, .terminated, .unreadable:
            if case .nobody(let environment, let region) = facts.subject {
                return .configure(environment: environment, region: region)
            }
            return .exchange(expecting: nil)
        case .signedIn(let session):
            return signInDecision(for: facts, beside: session, now)
        }
    }

    private func signInDecision(for facts: CredentialFacts, beside session: Session, _ now: Moment) -> SignInDecision {
        let present = session
        switch facts.subject {
        case .unnamed:
            let isWanted = present.reauthenticationPending || onlySignInHelps(session, now)
            return isWanted ? .exchange(expecting: present.identity) : .refuse(alreadySignedIn())
        case .nobody(let environment, let region):
            let isPresent =
                present.scheme == .apiKey && present.identity.environment == environment
                && present.identity.region == region && !facts.replacesKey(of: session)
            return isPresent ? .alreadySo : .refuse(alreadySignedIn())
        case .user(let identity):
            let isSameUser = identity.isSameUser(as: present.identity)
            if present.reauthenticationPending {
                return isSameUser ? .exchange(expecting: present.identity) : .refuse(alreadySignedIn(beside: identity))
            }
            if present.scheme == .apiKey, facts.scheme == .signInToken {
                return isSameUser ? .exchange(expecting: nil) : .refuse(.incompatible(with: present.identity))
            }
            guard isSameUser else { return .refuse(alreadySignedIn(beside: identity)) }
            if onlySignInHelps(session, now) { return .exchange(expecting: present.identity) }
            return present.scheme == .apiKey && facts.replacesKey(of: session) ? .exchange(expecting: nil) : .alreadySo
        }
    }

    /// Whether only a sign-in can bring a token. The token has expired, or the provider has forgotten the registration, and
    /// the daemon can ask no handler: none is registered, or the renewal is postponed. This also
    /// holds while the provider demands a pause that ends later than the postponement.
    private func onlySignInHelps(_ session: Session, _ now: Moment) -> Bool {
        let isUsable = session.isServable(now) && !renewal.isRegistrationForgotten
        guard session.token != nil, !isUsable, needsHandler(session) else { return false }
        let isStoredPostponement = session.postponement.map { $0.until > now.uptime } ?? false
        let isPostponed = renewal.isPostponed || isStoredPostponement && session.demandedUntil(now) != nil
        return renewal.isResting && (isPostponed || rounds.handlers.isEmpty)
    }

    /// Returns the error for a sign-in of `other`, if the credential names a user, beside another session.
    func alreadySignedIn(beside other: Identity? = nil) -> SessionError {
        guard let present = installation.session?.identity else {
            return SessionError(.alreadySignedIn, "Another user is signed in: sign out first")
        }
        let difference = other.flatMap { present.difference(from: $0) } ?? ""
        return SessionError(
            .alreadySignedIn,
            "User \(present.userId) is signed in on this installation\(difference): sign out first, or use identify to switch",
            userId: present.userId
        )
    }
}

extension Identity {
    /// Returns how two users with the same id differ. `nil` if the ids differ.
    fileprivate func difference(from other: Identity) -> String? {
        guard isCalled(other.userId) else { return nil }
        let parts = [
            ("environment", environment, other.environment), ("region", region, other.region),
            ("team", teamId, other.teamId), ("issuer", issuer, other.issuer),
        ]
        var (mine, theirs): ([String], [String]) = ([], [])
        for case (let name, let own?, let other?) in parts where own != other {
            mine.append("\(name) \(own)")
            theirs.append("\(name) \(other)")
        }
        guard !mine.isEmpty else { return nil }
        return " in \(mine.joined(separator: ", ")), and the credential is for \(theirs.joined(separator: ", "))"
    }
}

extension CredentialFacts {
    /// Whether the credential brings another API key than the session has. Equal keys have one name.
    fileprivate func replacesKey(of session: Session) -> Bool { key.map { $0 != session.secrets } ?? false }
}

extension SessionError {
    fileprivate static func incompatible(with present: Identity) -> SessionError {
        SessionError(
            .incompatibleCredential,
            "The Sign-In Token is not for user \(present.userId) in the same environment and region: the API key "
                + "session stays; sign out first to change the user",
            userId: present.userId
        )
    }
}
