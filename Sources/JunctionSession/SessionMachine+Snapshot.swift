/// The public view of the session.
extension SessionMachine {
    package func facts(now: Moment) -> Snapshot.Facts {
        var facts = Snapshot.Facts(state: state(now), provider: provider, storage: persistence.storage)
        switch installation {
        case .signedOut:
            break
        case .configured(let environment, let region, _):
            facts.flags = [.configured]
            facts.environment = environment
            facts.region = region
        case .signedIn(let session):
            facts.flags = Self.flags(of: session.scheme, pending: session.reauthenticationPending)
            facts.scheme = session.scheme
            facts.show(session.identity)
            facts.externalUserId = session.externalUserId
            facts.accessToken = session.token
            facts.renewal = renewalFacts(of: session, now)
        case .terminated(let termination, let identity):
            identity.map { facts.show($0) }
            facts.termination = termination
        case .unreadable(let unreadable):
            facts.storage.isReadable = false
            show(unreadable.header, in: &facts)
        }
        if let device = signIn.device {
            // Nothing is written beside a record that cannot be read, so the codes are only in memory.
            if afterChange.isUnreadable { facts.storage.durable = false }
            facts.authorization = Snapshot.Authorization(expiresAt: clockReading.wall(at: device.endsAt))
        }
        // The snapshot of a session that needs no new credential shows only renewal errors, unless a device sign-in is
        // pending.
        let isInOrder = installation.session.map { !$0.reauthenticationPending } ?? false
        if let error = signIn.device?.lastError ?? signIn.deviceError, !isInOrder || signIn.device != nil {
            facts.renewal.lastError = error
        }
        return facts
    }

    func state(_ now: Moment) -> SessionState {
        switch installation {
        case .signedIn(let session):
            return session.token == nil || session.isServable(now) ? .established : .tokenExpired
        case _ where isSigningIn: return .establishing
        case .signedOut, .configured: return .notLoggedIn
        case .terminated: return .terminated
        case .unreadable(let unreadable): return unreadable.header?.state ?? .notLoggedIn
        }
    }

    var isSigningIn: Bool { signIn.exchange != nil || persistence.isSigningIn || signIn.device != nil }

    private func renewalFacts(of session: Session, _ now: Moment) -> Snapshot.Renewal {
        var facts = Snapshot.Renewal()
        facts.failures = renewal.retry.failures
        facts.lastError = renewal.lastError
        guard renewal.isOpen(to: session) else { return facts }
        facts.needsHandler = !canBeginRenewal
        switch renewal.phase {
        case .asking, .writingIntent, .sending, .answered, .storing, .storingSuccessor:
            facts.phase = .inFlight
        case .resting(.postponed):
            (facts.phase, facts.notBefore) = (.postponed, session.postponement.map { clockReading.wall(at: $0.until) })
        case .resting(.refreshRetry), .resting(.backoff):
            (facts.phase, facts.notBefore) = (.backingOff, renewal.retryAt.map(clockReading.wall(at:)))
        case .resting(.scheduled) where !session.hasEnd:
            // A token without an end is renewed on request, or when the provider has forgotten the session.
            break
        case .resting(.scheduled), .resting(.due):
            (facts.phase, facts.notBefore) = (.scheduled, session.renewAt(clockReading))
        }
        if case .resting(.scheduled) = renewal.phase, session.hasEnd, !session.isServable(now) {
            facts.notBefore = renewal.due(session, now).map(now.wall(at:))
        }
        // A renewal that is due waits for a handler or a write, and not for a time.
        if let due = renewal.due(session, now), due <= now.uptime {
            (facts.phase, facts.notBefore) = (canBeginRenewal ? .inFlight : .waitingForHandler, nil)
        }
        return facts
    }

    private func show(_ header: Restoration.Header?, in facts: inout Snapshot.Facts) {
        guard let header else { return }
        if header.state.isSignedIn, let scheme = header.scheme {
            facts.flags = Self.flags(of: scheme, pending: false)
            facts.scheme = scheme
        }
        facts.userId = header.userId
    }

    private static func flags(of scheme: Scheme, pending: Bool) -> [Snapshot.Flag] {
        var flags: [Snapshot.Flag] = [.configured, .signedIn]
        switch scheme {
        case .apiKey: flags.append(.useApiKey)
        case .signInToken, .linkCode: flags.append(.useSignInToken)
        case .userLogin, .registration, .registrationSignature, .selfSigned: break
        case .device, .authorizationCode, .refreshToken, .tokenExchange: break
        }
        if pending { flags.append(.pendingReauthentication) }
        return flags
    }
}

extension Snapshot.Facts {
    fileprivate mutating func show(_ identity: Identity) {
        userId = identity.userId
        teamId = identity.teamId
        environment = identity.environment
        region = identity.region
    }
}
