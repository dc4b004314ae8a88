/// Grants of sign-ins whose user is not known yet.
extension SessionMachine {
    /// Handles a partial grant: the provider needs another request before there is a session. The machine writes the
    /// grant first and then returns `resumeExchange`.
    package mutating func partiallyGranted(_ attempt: AttemptID, _ secrets: SecretRef, now: Moment) -> [Effect] {
        guard let exchange = signIn.sent(attempt), !exchange.isWithdrawn else {
            return [.revokePartialGrant(secrets), .resumeExchange(attempt, false)]
        }
        let dropped = signIn.keep(secrets, until: updateRecord(), now)
        return (dropped.map { [.revokePartialGrant($0)] } ?? []) + settle(now)
    }

    /// Handles a sign-in whose credential an earlier attempt has spent. The sign-in continues with the grant of that
    /// attempt.
    package mutating func foundPartialGrant(_ attempt: AttemptID, _ secrets: SecretRef, now: Moment) {
        if signIn.sent(attempt) != nil { signIn.continueExchange(with: secrets, now) }
    }

    /// Resumes the sign-in when the write of its grant has ended, whether the disk has taken or refused it.
    mutating func releasePartialGrant() -> [Effect] {
        guard let exchange = signIn.exchange, let update = exchange.heldUntil, persistence.hasEnded(update) else {
            return []
        }
        signIn.release()
        return [.resumeExchange(exchange.attempt, !exchange.isWithdrawn)]
    }

    /// Removes the grant of a decided sign-in from the record. Returns whether there was one.
    @discardableResult
    mutating func dropGrant(of exchange: SignIn.Exchange) -> Bool {
        guard signIn.dropGrant(exchange.grant) else { return false }
        updateRecord()
        return true
    }

    mutating func expireGrants(_ now: Moment) -> [Effect] {
        let over = signIn.expireGrants(now)
        if !over.isEmpty { updateRecord() }
        return over.map { .revokePartialGrant($0) }
    }
}
