import NIOCore

/// What one connection keeps on the account of its user, and since when nothing of that has moved.
struct Holding {
    var bytes = 0
    var since = NIODeadline.now()
}

extension DoorConnection: AccountHolder {
    /// Who keeps no more than this is not to blame for what a user keeps altogether.
    private static let blameless = 1 << 15

    /// Puts what is kept here on the account of the user; one that has too much on it has the worst of it closed.
    func charge() {
        let (account, held) = (caller.account, held)
        guard held != holding.bytes else { return }
        account.held += held - holding.bytes
        holding = Holding(bytes: held)
        account.holders[ObjectIdentifier(self)] = held > Self.blameless ? self : nil
        if account.held > reception.limits.held { reception.relieveSoon(account) }
    }

    func burden(at now: NIODeadline) -> CallerAccount.Burden {
        // What the kernel has taken by itself was not told.
        charge()
        return CallerAccount.Burden(bytes: holding.bytes, rest: now - holding.since)
    }

    /// Who does not read would not read the reason either.
    func overBudget() { close() }
}
