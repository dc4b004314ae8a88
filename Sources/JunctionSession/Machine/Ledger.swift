/// What the disk has, what is on its way there, and what it owes us: the one way to write.
///
/// | the slot | at the store | what is written next |
/// |---|---|---|
/// | free | nothing | the note that is wanted; else what a full disk owes, when that is due |
/// | free | a note | the next note, folded from all that are wanted meanwhile |
/// | a change | nothing | the change, and with it whatever note was wanted |
/// | a change | an older write | the change, when that has ended |
///
/// A write that has not ended after ten seconds counts as refused for whoever waits: the change counts, every note has ended,
/// and what the store has not got is wanted. Its own end is used when it comes; until then nothing else is written.
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
    /// The last note that is wanted, the last one that is at the store or has been, and the last one that has ended.
    private(set) var lastNote = Note.none
    private var lastBegun = Note.none
    private var lastEnded = Note.none
    /// What the disk has refused is written again.
    private var debt = Retry()
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
            case signIn
            case rotation
            /// The provider's verdict.
            case ending(Termination)
            case signOut
        }
    }

    /// A note, by which its end can be waited for. What was noted later ends no earlier.
    struct Note: Hashable, Sendable {
        fileprivate var number: UInt64 = 0

        /// Has ended before the first one is wanted.
        static let none = Note()
    }

    /// What is sealed beside the standing: sign-ins that are not complete.
    struct Beside {
        var approval: StoredApproval?
        var codes: SecretRef?
        var partialGrants: [(stored: StoredPartialGrant, secrets: SecretRef)]
    }

    private struct Write: Hashable, Sendable {
        var ticket: WriteTicket
        /// The change that it writes; nothing for a note.
        var generation: UInt64?
        var note: Note
        var beganAt: Uptime
        /// It has been reported that it does not end.
        var isOverdue = false
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

    /// Wants the present standing written.
    mutating func note() -> Note {
        lastNote.number += 1
        return lastNote
    }

    /// Whether what was noted is on the disk, or the disk has refused it.
    func hasEnded(_ note: Note) -> Bool { note.number <= lastEnded.number }

    // MARK: Writing

    /// Hands the next write out, if one is wanted and none is at the store.
    mutating func advance(
        _ standing: Standing,
        _ beside: Beside,
        provider: String,
        _ now: Moment
    ) -> [Effect] {
        guard atStore == nil else { return [] }
        if let change { return write(change.outcome, beside, change.generation, provider, now) }
        guard standing.content != nil else { return [] }
        guard isNoteWanted || debt.isDue(now) else { return [] }
        edition += 1
        return write(standing, beside, nil, provider, now)
    }

    private mutating func write(
        _ standing: Standing,
        _ beside: Beside,
        _ change: UInt64?,
        _ provider: String,
        _ now: Moment
    ) -> [Effect] {
        guard let content = standing.content else { return [] }
        lastTicket += 1
        let ticket = WriteTicket(number: lastTicket)
        atStore = Write(ticket: ticket, generation: change, note: lastNote, beganAt: now.uptime)
        lastBegun = lastNote
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

    /// Whether this is the write that is at the store.
    func isAtStore(_ ticket: WriteTicket) -> Bool { atStore?.ticket == ticket }

    /// The write at the store ended.
    ///
    /// - Returns: the change that this has decided.
    mutating func ended(_ ticket: WriteTicket, failed: Bool, _ now: Moment) -> Change? {
        guard let write = atStore, write.ticket == ticket else { return nil }
        atStore = nil
        let decided = write.generation == change?.generation ? change : nil
        if decided != nil { change = nil }
        lastEnded.number = max(lastEnded.number, write.note.number)
        if failed {
            owe(now)
        } else if isIdle {
            debt.reset()
            storage.durable = true
            if settlesDamage, obstacle == nil { storage.status = .ok }
        }
        return decided
    }

    /// Whoever waits for a write that does not end waits no more, and the disk owes us; nothing while none is overdue.
    ///
    /// - Returns: the change that this has decided, and whether it is the first time that this write is given up.
    mutating func giveUpOverdue(_ now: Moment) -> (decided: Change?, isNew: Bool)? {
        guard let write = atStore, now.uptime >= write.beganAt + RenewalPolicy.longestWrite else { return nil }
        let decided = change
        // What is not in the write that does not end has to be in the next one.
        if decided != nil, decided?.generation != write.generation { _ = note() }
        (change, lastEnded) = (nil, lastNote)
        guard !write.isOverdue else { return (decided, false) }
        atStore?.isOverdue = true
        owe(now)
        return (decided, true)
    }

    private mutating func owe(_ now: Moment) {
        debt.failed(after: RenewalPolicy.rewriteDelay(afterFailures: debt.failures + 1), now)
        storage.durable = false
    }

    // MARK: What can be seen

    /// Whether nothing is at the store or on its way there.
    var isIdle: Bool { atStore == nil && !isNoteWanted && change == nil }

    private var isNoteWanted: Bool { lastNote != lastBegun }

    /// Whether a change may take the slot: everything that was said of the session before it is on the disk, or the disk
    /// does not take it.
    var takesChange: Bool { change == nil && (isIdle || (atStore?.isOverdue ?? false)) }

    /// Whether the disk has everything, as far as it has not refused it.
    var isSettled: Bool { isIdle && debt.failures == 0 }

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
        guard let write = atStore else { return isIdle ? debt.time?.uptime : nil }
        return write.isOverdue ? nil : write.beganAt + RenewalPolicy.longestWrite
    }
}
