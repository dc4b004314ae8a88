/// What a sign-in has been granted before its user is known.
extension SessionMachine {
    /// The provider has granted something, and has to be asked further before it is a session: the grant is written before that,
    /// and `goOn` says when.
    package mutating func partiallyGranted(_ attempt: Attempt, _ secrets: SecretRef, now: Moment) -> [Effect] {
        guard let exchange = signIn.sent(attempt), !exchange.isWithdrawn else {
            return [.giveBack(secrets), .goOn(attempt, false)]
        }
        let dropped = signIn.keep(secrets, until: updateRecord(), now)
        return (dropped.map { [.giveBack($0)] } ?? []) + settle(now)
    }

    /// An earlier attempt has spent the credential of this sign-in, which goes on with what that brought.
    package mutating func foundPartialGrant(_ attempt: Attempt, _ secrets: SecretRef, now: Moment) {
        if signIn.isSent(attempt) { signIn.goOn(with: secrets, now) }
    }

    /// The grant is written, or the disk has refused it: the sign-in goes on.
    mutating func releasePartialGrant() -> [Effect] {
        guard let exchange = signIn.exchange, let update = exchange.heldUntil, persistence.hasEnded(update) else {
            return []
        }
        signIn.release()
        return [.goOn(exchange.attempt, true)]
    }

    /// The sign-in is decided: its grant leaves the record. Returns whether there was one.
    @discardableResult
    mutating func dropGrant(of exchange: SignIn.Exchange) -> Bool {
        guard signIn.dropGrant(exchange.grant) else { return false }
        updateRecord()
        return true
    }

    mutating func expireGrants(_ now: Moment) -> [Effect] {
        let over = signIn.expireGrants(now)
        if !over.isEmpty { updateRecord() }
        return over.map { .giveBack($0) }
    }
}
