/// The partial grants that are kept: for an hour at most, until the sign-in of each is decided or somebody signs out.
struct PartialGrants: Hashable, Sendable {
    private(set) var items: [Item] = []

    struct Item: Hashable, Sendable {
        var secrets: SecretRef
        var endsAt: Uptime
        var stored: StoredPartialGrant
    }

    /// For how long one waits for the next try of its credential.
    static let longest: Duration = .seconds(3_600)
    /// More are not kept: the eldest is given back. One of an approval does not count, as there is one approval at a time.
    static let most = 2

    /// A record has them.
    mutating func resume(_ stored: [StoredPartialGrant], _ secrets: [SecretRef], writtenAt: WallTime, _ now: Moment) {
        items = zip(stored, secrets).map { stored, secrets in
            let left = stored.expiresAt.left(writtenAt: writtenAt, now)
            let endsAt = now.uptime + min(left, Self.longest)
            return Item(secrets: secrets, endsAt: endsAt, stored: stored.ending(at: now.wall(at: endsAt)))
        }
    }

    /// Keeps one, in the place of what was kept before for the same sign-in.
    ///
    /// - Returns: what is to be given back: there is no room for it any more.
    mutating func keep(
        _ secrets: SecretRef,
        insteadOf before: SecretRef?,
        ofApproval isOfApproval: Bool,
        _ now: Moment
    ) -> [SecretRef] {
        items.removeAll { $0.secrets == before }
        let endsAt = now.uptime + Self.longest
        let stored = StoredPartialGrant(expiresAt: now.wall(at: endsAt), isOfApproval: isOfApproval)
        items.append(Item(secrets: secrets, endsAt: endsAt, stored: stored))
        guard items.count(where: { !$0.stored.isOfApproval }) > Self.most,
            let eldest = items.first(where: { !$0.stored.isOfApproval })
        else { return [] }
        _ = drop { $0.secrets == eldest.secrets }
        return [eldest.secrets]
    }

    /// Lets go of some, and says which.
    mutating func drop(where isOver: (Item) -> Bool) -> [SecretRef] {
        defer { items.removeAll(where: isOver) }
        return items.filter(isOver).map(\.secrets)
    }

    /// The wall clock was set.
    mutating func clockJumped(_ now: Moment) {
        items = items.map {
            Item(secrets: $0.secrets, endsAt: $0.endsAt, stored: $0.stored.ending(at: now.wall(at: $0.endsAt)))
        }
    }

    /// The one of the sign-in that awaits approval, if that has been granted.
    var ofApproval: Item? { items.first(where: \.stored.isOfApproval) }
}

extension StoredPartialGrant {
    fileprivate func ending(at time: WallTime) -> StoredPartialGrant {
        StoredPartialGrant(expiresAt: time, isOfApproval: isOfApproval)
    }
}

extension WallTime {
    /// What is left until this time, which a record holds. By a clock that is wrong that is not more than when it was written,
    /// and it is not over either: where the clock says so, as much is left as there was then.
    func left(writtenAt: WallTime, _ now: Moment) -> Duration {
        let (byClock, whenWritten) = (self - now.wall, self - writtenAt)
        return byClock > .zero ? min(byClock, whenWritten) : max(whenWritten, .zero)
    }
}

/// Partial grants of sign-ins.
extension SessionMachine {
    // MARK: Events

    /// The provider has granted something for this sign-in, and has to be asked further before it is a session: it is written
    /// before that, and `goOn` says when.
    package mutating func partiallyGranted(_ attempt: Attempt, _ secrets: SecretRef, now: Moment) -> [Effect] {
        guard let exchange = signIn.sent(attempt), !exchange.isWithdrawn else {
            return [.giveBack(secrets), .goOn(attempt, false)]
        }
        let unwanted = partialGrants.keep(secrets, insteadOf: exchange.partialGrant, ofApproval: exchange.isPoll, now)
        if exchange.isPoll, let kept = partialGrants.ofApproval { approval.isGranted(until: kept.endsAt, now) }
        signIn.goesOn(with: secrets, after: note())
        return unwanted.map { .giveBack($0) } + settle(now)
    }

    /// The credential of this sign-in is one that an earlier try has spent: it goes on with what that brought.
    package mutating func foundPartialGrant(_ attempt: Attempt, _ secrets: SecretRef) {
        guard signIn.isSent(attempt) else { return }
        signIn.goesOn(with: secrets)
    }

    // MARK: What follows

    /// What was granted is written, or the disk has refused it: the sign-in goes on.
    mutating func releasePartialGrant() -> [Effect] {
        guard let exchange = signIn.exchange, let note = exchange.heldUntil, ledger.hasEnded(note) else { return [] }
        signIn.release()
        return [.goOn(exchange.attempt, true)]
    }

    /// The sign-in is decided: what was kept for it is of no use any more.
    mutating func dropPartialGrant(of exchange: SignIn.Exchange) {
        guard let kept = exchange.partialGrant, !partialGrants.drop(where: { $0.secrets == kept }).isEmpty else {
            return
        }
        note()
    }

    /// Nobody wants what was kept any more: the provider is told.
    mutating func giveBackPartialGrants(where isOver: (PartialGrants.Item) -> Bool) -> [Effect] {
        let unwanted = partialGrants.drop(where: isOver)
        if !unwanted.isEmpty { note() }
        return unwanted.map { .giveBack($0) }
    }

    /// Lets go of those that have waited for too long.
    mutating func expirePartialGrants(_ now: Moment) -> [Effect] {
        let waiting = Set(waitingPartialGrants.map(\.secrets))
        return giveBackPartialGrants { $0.endsAt <= now.uptime && waiting.contains($0.secrets) }
    }

    /// When the next one has waited for too long.
    var partialGrantDue: Uptime? { waitingPartialGrants.map(\.endsAt).min() }

    /// Those that end by themselves. One that is in use, and one of an approval, end with that.
    private var waitingPartialGrants: [PartialGrants.Item] {
        let inUse = signIn.exchange?.partialGrant
        return partialGrants.items.filter {
            $0.secrets != inUse && !($0.stored.isOfApproval && approval.isRunning)
        }
    }
}
