/// Writes the record: what the disk has, what is on its way there, and what the disk has refused. There is no other way to write.
///
/// A *change* is a new generation: a sign-in, its withdrawal, a rotation, a verdict, a sign-out. It counts when it has been written,
/// or when the disk has refused it. An *update* is another edition of the generation that stands: a detail that has changed already. While a
/// change is being written nothing else changes what stands, but a sign-out, or the withdrawal of a sign-in: it takes its place.
///
/// | the change | at the store | what is written next |
/// |---|---|---|
/// | none | nothing | the updates that are wanted; else what the disk has refused, when that is due |
/// | none | a write | after its end, all updates that are wanted by then |
/// | one | nothing | the change, with every update that is wanted |
/// | one | an older write | the change, after the end of that write |
///
/// A write that has not ended after ten seconds counts as refused for every caller that waits. Nothing else is written until its
/// end, which is used when it comes.
struct PersistenceQueue: Hashable, Sendable {
    /// The highest generation ever assigned, and the edition of it that was written last.
    private(set) var generation: UInt64 = 0
    private(set) var edition: UInt32 = 0
    private(set) var storage: StorageReport
    /// Why no session can be kept here for as long as this process lives: it can neither be sealed nor written.
    private(set) var obstacle: String?
    /// The change that is being written.
    private(set) var change: Change?
    private var atStore: Write?
    /// The last update that is wanted, the last that is at the store or has been there, and the last that has ended.
    private(set) var lastUpdate = Update.none
    private var lastBegun = Update.none
    private var lastEnded = Update.none
    /// When what the disk has refused is written again.
    private var rewrite = Retry()
    /// A sign-in or a sign-out settles what was locked or damaged, as soon as the disk has it.
    private var settlesDamage = false
    private var lastTicket: UInt64 = 0

    struct Change: Hashable, Sendable {
        let generation: UInt64
        /// What stands once it has been written.
        let outcome: InstallationState
        let kind: Kind

        enum Kind: Hashable, Sendable {
            /// A sign-in or a switch of users, for this request; `nil` for a device sign-in.
            case signIn(of: RequestID?)
            /// The present session is written over a sign-in whose caller has lost the right; waiting callers get this refusal.
            case withdrawal(SessionError)
            case rotation
            /// The provider's verdict.
            case ending(Termination)
            case signOut
        }
    }

    /// Names the write of a detail. A later update ends no earlier.
    struct Update: Hashable, Sendable {
        fileprivate var number: UInt64 = 0

        /// Has ended before the first update is wanted.
        static let none = Update()
    }

    /// What is sealed beside the session: sign-ins that are not complete.
    struct Beside {
        var approval: StoredApproval?
        var codes: SecretRef?
        var partialGrants: [(stored: StoredPartialGrant, secrets: SecretRef)]
    }

    private struct Write: Hashable, Sendable {
        var ticket: WriteTicket
        /// The generation of the change that it writes; `nil` for updates alone.
        var generation: UInt64?
        var update: Update
        var beganAt: Uptime
        /// The report that it does not end has been made.
        var isOverdue = false
    }

    init(sealedWith: String) {
        storage = StorageReport(sealedWith: sealedWith)
    }

    /// Takes over what the store held.
    mutating func restored(_ restoration: Restoration, durable: Bool, now: Moment) {
        switch restoration {
        case .absent:
            break
        case .restored(let record, _, let damaged):
            (generation, edition) = (record.generation, record.edition)
            (storage.status, storage.reason) = (damaged == nil ? .ok : .damaged, damaged)
            if !durable { refused(now) }
        case .unreadable(let unreadable):
            (generation, edition) = (unreadable.header?.generation ?? 0, unreadable.header?.edition ?? 0)
            (storage.status, storage.reason) = (unreadable.status, unreadable.remedy)
            if !unreadable.canSignIn { obstacle = unreadable.remedy }
        }
    }

    // MARK: What is wanted

    /// Wants the next generation written, in the place of a change that is being written.
    mutating func begin(_ kind: Change.Kind, _ outcome: (_ generation: UInt64) -> InstallationState) {
        generation += 1
        edition = 0
        change = Change(generation: generation, outcome: outcome(generation), kind: kind)
        switch kind {
        case .signIn, .signOut: settlesDamage = true
        // The disk may have taken the sign-in, until this is written over it.
        case .withdrawal: (settlesDamage, storage.durable) = (true, false)
        case .rotation, .ending: break
        }
    }

    /// Wants the present details written.
    mutating func update() -> Update {
        lastUpdate.number += 1
        return lastUpdate
    }

    /// Whether an update is on the disk, or the disk has refused it.
    func hasEnded(_ update: Update) -> Bool { update.number <= lastEnded.number }

    // MARK: Writing

    /// Hands the next write out, if one is wanted and none is at the store. No other function makes a record.
    mutating func advance(_ installation: InstallationState, _ beside: Beside, provider: String, _ now: Moment)
        -> [Effect]
    {
        guard atStore == nil else { return [] }
        let written = coming(installation)
        guard let content = written.content, change != nil || isUpdateWanted || rewrite.isDue(now) else { return [] }
        if change == nil { edition += 1 }
        lastTicket += 1
        let ticket = WriteTicket(number: lastTicket)
        atStore = Write(ticket: ticket, generation: change?.generation, update: lastUpdate, beganAt: now.uptime)
        lastBegun = lastUpdate
        let record = SessionRecord(
            generation: generation,
            edition: edition,
            // A wrong clock dates no record: a session's time never goes back.
            writtenAt: max(now.wall, written.session?.writtenAt ?? now.wall),
            provider: provider,
            content: content,
            approval: beside.approval,
            partialGrants: beside.partialGrants.map(\.stored)
        )
        let partialGrants = beside.partialGrants.map(\.secrets)
        return [.write(ticket, record, written.secrets, codes: beside.codes, partialGrants: partialGrants)]
    }

    /// Whether this write is at the store.
    func isAtStore(_ ticket: WriteTicket) -> Bool { atStore?.ticket == ticket }

    /// The write at the store ended.
    ///
    /// - Returns: the change that counts from now on.
    mutating func ended(_ ticket: WriteTicket, failed: Bool, _ now: Moment) -> Change? {
        guard let write = atStore, write.ticket == ticket else { return nil }
        atStore = nil
        let decided = write.generation == change?.generation ? change : nil
        if decided != nil { change = nil }
        lastEnded.number = max(lastEnded.number, write.update.number)
        if failed {
            refused(now)
        } else if isIdle {
            rewrite.reset()
            storage.durable = true
            if settlesDamage, obstacle == nil { (storage.status, storage.reason) = (.ok, nil) }
        }
        return decided
    }

    /// Counts a write that does not end as refused; `nil` while none is overdue.
    ///
    /// - Returns: the change that counts from now on, and whether this write is given up for the first time.
    mutating func giveUpOverdue(_ now: Moment) -> (decided: Change?, isNew: Bool)? {
        guard let write = atStore, now.uptime >= write.beganAt + RenewalPolicy.longestWrite else { return nil }
        let decided = change
        // What is not in the write that does not end has to be in the next one.
        if decided != nil, decided?.generation != write.generation { _ = update() }
        (change, lastEnded) = (nil, lastUpdate)
        guard !write.isOverdue else { return (decided, false) }
        atStore?.isOverdue = true
        refused(now)
        return (decided, true)
    }

    private mutating func refused(_ now: Moment) {
        rewrite.failed(after: RenewalPolicy.rewriteDelay(afterFailures: rewrite.failures + 1), now)
        storage.durable = false
    }

    // MARK: What can be seen

    /// What stands after the change that is being written. A withdrawal keeps what stands, with details that have changed since it
    /// began.
    func coming(_ installation: InstallationState) -> InstallationState {
        switch change?.kind {
        case nil: installation
        case .withdrawal: installation.restorable
        case .signIn, .rotation, .ending, .signOut: change?.outcome ?? installation
        }
    }

    /// Whether nothing is at the store or on its way there.
    var isIdle: Bool { atStore == nil && !isUpdateWanted && change == nil }

    private var isUpdateWanted: Bool { lastUpdate != lastBegun }

    /// Whether a change may begin: every earlier update is on the disk, or the disk takes nothing.
    var takesChange: Bool { change == nil && (isIdle || (atStore?.isOverdue ?? false)) }

    /// Whether the disk has everything.
    var isSettled: Bool { isIdle && rewrite.failures == 0 }

    /// Whether the tombstone of a sign-out is being written.
    var isSigningOut: Bool { change?.kind == .signOut }

    /// Whether a sign-in that was granted is being written.
    var isSigningIn: Bool {
        if case .signIn? = change?.kind { true } else { false }
    }

    /// When a write is due by itself, or the one at the store is given up.
    var dueAt: Uptime? {
        guard let write = atStore else { return isIdle ? rewrite.time?.uptime : nil }
        return write.isOverdue ? nil : write.beganAt + RenewalPolicy.longestWrite
    }
}
