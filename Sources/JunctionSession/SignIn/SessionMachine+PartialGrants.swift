/// Partial grants: what a sign-in or a renewal has got and cannot use yet.
extension SessionMachine {
    /// Handles a partial grant: the provider needs another request before there is a session. The machine writes the
    /// grant first and then returns `resumeProviderCall`.
    package mutating func partiallyGranted(_ attempt: AttemptID, _ secrets: SecretRef, now: Moment) -> [Effect] {
        guard isWanted(attempt) else {
            revoke(secrets, now)
            return [.resumeProviderCall(attempt, false)] + settle(now)
        }
        let purpose = purpose(of: attempt)
        if purpose == .deviceSignIn { signIn.device?.awaitUser(until: now.uptime + PartialGrants.longestWait) }
        let surplus = grants.keep(
            secrets,
            of: attempt,
            for: purpose,
            until: updateRecord(),
            inFlight: inFlight,
            now
        )
        if let surplus { revoke(surplus, now) }
        return settle(now)
    }

    /// Handles an attempt whose credential an earlier attempt has spent. It continues with the grant of that attempt.
    package mutating func foundPartialGrant(_ attempt: AttemptID, _ secrets: SecretRef, now: Moment) -> [Effect] {
        guard inFlight.contains(attempt) else { return [] }
        if grants.use(secrets, by: attempt, for: purpose(of: attempt), now) { updateRecord() }
        return settle(now)
    }

    private func purpose(of attempt: AttemptID) -> StoredPartialGrant.Purpose {
        guard let exchange = signIn.exchange, exchange.attempt == attempt else { return .renewal }
        return exchange.isPoll ? .deviceSignIn : .signIn
    }

    /// Resumes the attempts whose grant has been written, whether the disk has taken or refused it.
    mutating func releasePartialGrants() -> [Effect] {
        grants.release(where: persistence.hasEnded).map { .resumeProviderCall($0, isWanted($0)) }
    }

    /// Removes the grant of an attempt that has used it from the record.
    mutating func dropGrant(of attempt: AttemptID) {
        if grants.drop(of: attempt) != nil { updateRecord() }
    }

    /// Removes the grant of a failed attempt from the record, and revokes it.
    mutating func revokeGrant(of attempt: AttemptID, _ now: Moment) {
        guard let grant = grants.drop(of: attempt) else { return }
        updateRecord()
        revoke(grant, now)
    }

    mutating func expireGrants(_ now: Moment) {
        let over = grants.expire(inFlight: inFlight, now)
        if !over.isEmpty { updateRecord() }
        for grant in over { revoke(grant, now) }
    }

    /// The attempts that a provider's answer may still continue.
    var inFlight: [AttemptID] { [signIn.exchange?.attempt, renewal.sending?.attempt].compactMap(\.self) }

    /// Whether an attempt in flight may send another request.
    private func isWanted(_ attempt: AttemptID) -> Bool {
        signIn.exchange(awaiting: attempt).map { !$0.isWithdrawn } ?? (renewal.sending?.attempt == attempt)
    }
}
