/// What the disk has, what is on its way there, and what it owes us: the one way to write.
///
/// | the slot | at the store | what is written next |
/// |---|---|---|
/// | free | nothing | the note that is wanted; else what a full disk owes, when that is due |
/// | free | a note | the next note, folded from all that are wanted meanwhile |
/// | a change | nothing | the change, and with it whatever note was wanted |
/// | a change | an older write | the change, when that has ended |
///
/// A write that has not ended after ten seconds counts as refused for whoever waits: the change counts, the followers are
/// told, and what the store has not got is wanted. Its own end is used when it comes; until then nothing else is written.
///
/// A *change* is a new generation: the standing follows it when it has been written, or the disk has refused it. A *note*
/// is another edition of the generation that stands: a detail of the standing has changed already. While the slot is
/// taken nothing else may change the standing, but a sign-out, which takes the slot over.
struct Ledger: Hashable, Sendable {
    /// The highest generation ever assigned, and the edition of it that was written last.
    private(set) var generation: UInt64 = 0
    private(set) var edition: UInt32 = 0
    private(set) var storage: StorageReport
    /// Why no session could be kept here: it can neither be sealed nor written for as long as this process lives.
    private(set) var obstacle: String?
    /// What is being made durable: at most one change of the standing.
    private(set) var change: Change?
    private var atStore: Write?
    /// Who waits for the note that is wanted and not at the store.
    private var wanted: [Follower]?
    private var debt: Debt?
    /// A sign-in or a sign-out settles what was locked or damaged, as soon as the disk has it.
    private var settlesDamage = false
    private var lastTicket: UInt64 = 0

    /// One change of the standing, from the moment it is decided until it is durable.
    struct Change: Hashable, Sendable {
        let generation: UInt64
        /// What stands once it has been written.
        let outcome: Standing
        var kind: Kind

        enum Kind: Hashable, Sendable {
            /// A sign-in, or a switch of users.
            case signIn(SignIn.Origin)
            case rotation
            /// The provider's verdict.
            case ending(Termination)
            case signOut([SignOutCaller])
        }
    }

    /// What happens once a note has been written, or refused.
    enum Follower: Hashable, Sendable {
        case reply(Reply)
        /// The intent is noted: the request leaves.
        case send(Attempt)
        /// Codes that somebody has to approve are noted: who asked for them is told, if they still can be approved then.
        case awaited(ChangeRequest, codes: SecretRef)
        /// What was granted is noted: the sign-in goes on.
        case goOn(Attempt)
    }

    /// What is sealed beside the standing: sign-ins that are not complete.
    struct Beside {
        var approval: StoredApproval?
        var codes: SecretRef?
        var partialGrants: [PartialGrants.Item]
    }

    private struct Write: Hashable, Sendable {
        var ticket: WriteTicket
        /// The change that it writes; nothing for a note.
        var generation: UInt64?
        var followers: [Follower]
        var beganAt: Uptime
        /// It has been reported that it does not end.
        var isOverdue = false

        func isOverdue(_ now: Moment) -> Bool { now.uptime >= beganAt + RenewalPolicy.longestWrite }
    }

    /// What the disk refused.
    private struct Debt: Hashable, Sendable {
        var failures: Int
        var dueAt: Uptime
    }

    /// A write that has ended.
    struct Ended: Hashable, Sendable {
        /// The change that it decided.
        var change: Change?
        var followers: [Follower]
    }

    init(sealedWith: String) {
        storage = StorageReport(sealedWith: sealedWith)
    }

    // MARK: Start

    /// Takes over what the store held.
    mutating func restored(_ restoration: Restoration, durable: Bool, now: Moment) {
        switch restoration {
        case .absent:
            break
        case .restored(let record, _, let damaged):
            (generation, edition) = (record.generation, record.edition)
            storage.status = damaged == nil ? .ok : .damaged
        case .unreadable(let unreadable):
            (generation, edition) = (unreadable.header?.generation ?? 0, unreadable.header?.edition ?? 0)
            storage.status = unreadable.status
            if !unreadable.canSignIn { obstacle = unreadable.remedy }
        }
        if !durable, case .restored = restoration { owe(now) }
    }

    // MARK: What is wanted

    /// Takes the slot for the next generation; a sign-out takes it over from whatever holds it.
    mutating func begin(_ kind: Change.Kind, _ outcome: (_ generation: UInt64) -> Standing) {
        generation += 1
        edition = 0
        change = Change(generation: generation, outcome: outcome(generation), kind: kind)
        switch kind {
        case .signIn, .signOut: settlesDamage = true
        case .rotation, .ending: break
        }
    }

    /// Wants the present standing written, and then these followed.
    mutating func note(_ followers: [Follower] = []) {
        wanted = (wanted ?? []) + followers
    }

    /// Follows the write that holds the present standing, where one is wanted or has not ended; says whether there is one.
    mutating func follow(_ follower: Follower) -> Bool {
        if wanted != nil {
            wanted?.append(follower)
        } else if let write = atStore, !write.isOverdue {
            atStore?.followers.append(follower)
        } else {
            return false
        }
        return true
    }

    /// Another caller waits for the sign-out that is being written.
    mutating func join(_ caller: SignOutCaller) {
        guard case .signOut(let callers)? = change?.kind else { return }
        change?.kind = .signOut(callers + [caller])
    }

    /// A sign-out overtakes whoever waits for a write.
    mutating func dropFollowers() -> [Follower] {
        let dropped = (atStore?.followers ?? []) + (wanted ?? [])
        atStore?.followers = []
        wanted = nil
        return dropped
    }

    // MARK: Writing

    /// Hands the next write out, if one is wanted and none is at the store.
    ///
    mutating func advance(
        _ standing: Standing,
        _ beside: Beside,
        provider: String,
        _ now: Moment
    ) -> [Effect] {
        guard atStore == nil else { return [] }
        if let change {
            let followers = wanted ?? []
            wanted = nil
            return write(change.outcome, beside, change.generation, followers, provider, now)
        }
        guard standing.content != nil else { return [] }
        if wanted == nil, let debt, debt.dueAt <= now.uptime { wanted = [] }
        guard let followers = wanted else { return [] }
        wanted = nil
        edition += 1
        return write(standing, beside, nil, followers, provider, now)
    }

    private mutating func write(
        _ standing: Standing,
        _ beside: Beside,
        _ change: UInt64?,
        _ followers: [Follower],
        _ provider: String,
        _ now: Moment
    ) -> [Effect] {
        guard let content = standing.content else { return [] }
        lastTicket += 1
        let ticket = WriteTicket(number: lastTicket)
        atStore = Write(ticket: ticket, generation: change, followers: followers, beganAt: now.uptime)
        let record = SessionRecord(
            generation: generation,
            edition: edition,
            // A record that is written by a clock that is wrong proves nothing of it: a session's time never goes back.
            writtenAt: max(now.wall, standing.session?.writtenAt ?? now.wall),
            provider: provider,
            content: content,
            approval: beside.approval,
            partialGrants: beside.partialGrants.map(\.stored)
        )
        let partialGrants = beside.partialGrants.map(\.secrets)
        return [.write(ticket, record, standing.secrets, codes: beside.codes, partialGrants: partialGrants)]
    }

    /// A write ended; nothing comes of a ticket that is not at the store.
    mutating func ended(_ ticket: WriteTicket, failed: Bool, _ now: Moment) -> Ended? {
        guard let write = atStore, write.ticket == ticket else { return nil }
        atStore = nil
        let decided = write.generation == change?.generation ? change : nil
        if decided != nil { change = nil }
        if failed {
            owe(now)
        } else if isIdle {
            debt = nil
            storage.durable = true
            if settlesDamage, obstacle == nil { storage.status = .ok }
        }
        return Ended(change: decided, followers: write.followers)
    }

    /// Whoever waits for a write that does not end waits no more, and the disk owes us; nothing while none is overdue.
    ///
    /// - Returns: what has been decided, and whether it is the first time that this write is given up.
    mutating func giveUpOverdue(_ now: Moment) -> (ended: Ended, isNew: Bool)? {
        guard var write = atStore, write.isOverdue(now), isAwaited || !write.isOverdue else { return nil }
        let isNew = !write.isOverdue
        let ended = Ended(change: change, followers: write.followers + (wanted ?? []))
        (write.followers, write.isOverdue) = ([], true)
        // What is not in the write that does not end has to be in the next one.
        if wanted != nil || (change != nil && change?.generation != write.generation) { wanted = [] }
        (atStore, change) = (write, nil)
        if isNew { owe(now) }
        return (ended, isNew)
    }

    /// Whether anybody waits for a write that does not end.
    func isAwaitedInVain(_ now: Moment) -> Bool { isAwaited && (atStore?.isOverdue(now) ?? false) }

    private var isAwaited: Bool {
        change != nil || !(wanted ?? []).isEmpty || !(atStore?.followers ?? []).isEmpty
    }

    private mutating func owe(_ now: Moment) {
        let failures = (debt?.failures ?? 0) + 1
        debt = Debt(failures: failures, dueAt: now.uptime + RenewalPolicy.rewriteDelay(afterFailures: failures))
        storage.durable = false
    }

    // MARK: What can be seen

    /// Whether nothing is at the store or on its way there.
    var isIdle: Bool { atStore == nil && wanted == nil && change == nil }

    /// Whether a change may take the slot: everything that was said of the session before it is on the disk, or the disk
    /// does not take it.
    func takesChange(_ now: Moment) -> Bool { change == nil && (isIdle || (atStore?.isOverdue(now) ?? false)) }

    /// Whether the disk has everything, as far as it has not refused it.
    var isSettled: Bool { isIdle && debt == nil }

    /// Whether the tombstone of a sign-out is being written.
    var isSigningOut: Bool {
        if case .signOut? = change?.kind { true } else { false }
    }

    /// Whether a sign-in that was granted is being written.
    var isSigningIn: Bool {
        if case .signIn? = change?.kind { true } else { false }
    }

    /// When a write is due by itself, or the one at the store is given up.
    var dueAt: Uptime? {
        guard let write = atStore else { return isIdle ? debt?.dueAt : nil }
        return !write.isOverdue || isAwaited ? write.beganAt + RenewalPolicy.longestWrite : nil
    }
}

/// Who signs out, by `session.signOut` or by identifying nobody.
enum SignOutCaller: Hashable, Sendable {
    case signOut(ChangeRequest)
    case identify(IdentifyRequest, IdentifyOutcome)

    var reply: Reply {
        switch self {
        case .signOut(let request): .change(request, nil)
        case .identify(let request, let outcome): .identify(request, .success(outcome))
        }
    }
}
