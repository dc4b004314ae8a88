/// Writes the record. It knows what the disk has, what is being written, and what the disk has refused. All writes go
/// through it.
///
/// A *change* is a new generation: a sign-in, its withdrawal, a rotation, a verdict, a sign-out. A change takes effect
/// when its write has ended, whether the disk has taken or refused it. An *update* is another edition of the present
/// generation: a detail that has already changed. While a change is being written, only a sign-out or the withdrawal of
/// a sign-in can change the installation state. Either of them replaces the pending change.
///
/// | pending change | at the store | next write |
/// |---|---|---|
/// | none | nothing | the requested updates; otherwise what the disk has refused, when that is due |
/// | none | a write | after its end, all updates that are requested by then |
/// | one | nothing | the change, with every requested update |
/// | one | an older write | the change, after the end of that write |
///
/// A write that has not ended after ten seconds counts as refused for every caller that waits. The queue begins no
/// other write until that write ends, and still uses its result.
struct PersistenceQueue: Hashable, Sendable {
    /// The highest generation ever assigned, and the edition of it that was written last.
    private(set) var generation: UInt64 = 0
    private(set) var edition: UInt32 = 0
    private(set) var storage: StorageReport
    /// The reason why this process can neither seal nor write a session, for its whole lifetime.
    private(set) var obstacle: String?
    private(set) var change: Change?
    /// Whether the record may hold incomplete sign-ins that this process could not load.
    private(set) var holdsUnloadedSignIns = false
    /// The time of the boot by the wall clock that the last record was written with. `nil` before the first write.
    private(set) var bootTime: WallTime?
    private var atStore: Write?
    /// The last requested update, the last one that was handed to the store, and the last one that has ended.
    private(set) var lastUpdate = Update.none
    private var lastBegun = Update.none
    private var lastEnded = Update.none
    /// The time at which the queue writes again what the disk has refused.
    private var rewrite = Retry()
    /// What the next write does with the records that this daemon could not open. After a sign-in or a sign-out, a
    /// successful write also clears the status *locked* or *damaged*.
    private var unopened = UnopenedRecords.unchanged
    /// The value of `unopened` before the sign-in that is being written. A withdrawal restores it.
    private var unopenedBefore = UnopenedRecords.unchanged

    struct Change: Hashable, Sendable {
        let generation: UInt64
        fileprivate(set) var outcome: InstallationState
        let kind: Kind

        enum Kind: Hashable, Sendable {
            /// A sign-in or a switch of users, for this request. `nil` for a device sign-in.
            case signIn(of: RequestID?)
            /// Writes the present session over a sign-in whose caller has lost the right. Waiting callers get this
            /// refusal.
            case withdrawal(SessionError)
            case rotation
            case ending(Termination)
            case signOut
        }
    }

    struct Update: Hashable, Sendable {
        fileprivate var number: UInt64 = 0

        /// An update that has ended before any other is requested.
        static let none = Update()
    }

    /// The incomplete sign-ins that are sealed in the same record as the session.
    struct IncompleteSignIns {
        var deviceSignIn: StoredDeviceSignIn?
        var codes: SecretRef?
        var partialGrants: [StoredPartialGrant]
        /// The secrets of the grants, in the same order.
        var grantSecrets: [SecretRef]
    }

    private struct Write: Hashable, Sendable {
        /// The generation of the change in this write. `nil` if it writes only updates.
        var generation: UInt64?
        var update: Update
        var beganAt: Uptime
        /// Whether the queue has already reported that this write does not end.
        var isOverdue = false
    }

    init(sealedWith: String) {
        storage = StorageReport(sealedWith: sealedWith)
    }

    /// Takes over what the store held.
    mutating func restored(_ restoration: Restoration, for provider: String, durable: Bool, now: Moment) {
        switch restoration {
        case .absent:
            break
        case .restored(let record, _, let damaged):
            (generation, edition) = (record.generation, record.edition)
            let isOfAnotherProvider = record.provider != provider && record.hasSignIns
            holdsUnloadedSignIns = record.mayHoldUnreadSignIns || isOfAnotherProvider
            (storage.status, storage.reason) = (damaged == nil ? .ok : .damaged, damaged)
            if !durable { refused(now) }
        case .unreadable(let unreadable):
            (generation, edition) = (unreadable.header?.generation ?? 0, unreadable.header?.edition ?? 0)
            (storage.status, storage.reason) = (unreadable.status, unreadable.remedy)
            if !unreadable.canSignIn { obstacle = unreadable.remedy }
        }
    }

    // MARK: Requests

    /// The generation of the change that begins next.
    var nextGeneration: UInt64 { generation + 1 }

    /// Requests the write of the next generation. It replaces a pending change.
    mutating func begin(_ kind: Change.Kind, _ outcome: InstallationState) {
        (generation, edition) = (nextGeneration, 0)
        change = Change(generation: generation, outcome: outcome, kind: kind)
        switch kind {
        case .signIn:
            // A sign-out that the disk has refused still has to erase them.
            (unopenedBefore, unopened) = (unopened, unopened == .erased ? .erased : .acknowledged)
        case .signOut: unopened = .erased
        case .withdrawal:
            // The disk may hold the sign-in until this write replaces it.
            storage.durable = false
            unopened = unopenedBefore == .unchanged ? .reportedAgain : unopenedBefore
        case .rotation, .ending: break
        }
    }

    /// The withdrawal of a sign-in leaves the record that could not be opened in quarantine.
    mutating func leftInQuarantine() {
        (storage.status, storage.reason) = (.damaged, Self.inQuarantine)
    }

    private static let inQuarantine =
        "A sign-in has moved the stored session, which cannot be opened, to quarantine, and was then withdrawn: sign in, "
        + "or sign out to erase it"

    mutating func update() -> Update {
        lastUpdate.number += 1
        return lastUpdate
    }

    /// Whether the write of an update has ended, successfully or not.
    func hasEnded(_ update: Update) -> Bool { update.number <= lastEnded.number }

    // MARK: Writing

    /// Begins the next write if one is requested and none is at the store. No other function makes a record.
    ///
    /// - Parameter writing: now, with the write time of the record as its wall-clock reading.
    mutating func advance(
        _ installation: inout InstallationState,
        _ incomplete: IncompleteSignIns,
        provider: String,
        at writing: Moment,
        _ now: Moment
    ) -> [Effect] {
        guard atStore == nil else { return [] }
        let written = afterChange(installation)
        guard let content = written.content(at: writing), change != nil || isUpdateWanted || rewrite.isDue(now) else {
            return []
        }
        if change == nil { edition += 1 }
        atStore = Write(generation: change?.generation, update: lastUpdate, beganAt: now.uptime)
        (lastBegun, bootTime) = (lastUpdate, now.bootTime)
        let record = SessionRecord(
            generation: generation,
            edition: edition,
            writtenAt: writing.wall,
            provider: provider,
            content: content,
            deviceSignIn: incomplete.deviceSignIn,
            partialGrants: incomplete.partialGrants
        )
        switch change?.kind {
        case nil, .withdrawal: installation.session?.wrote(at: writing.wall)
        case .signIn, .rotation, .ending, .signOut: change?.outcome.session?.wrote(at: writing.wall)
        }
        return [
            .write(
                record,
                written.secrets,
                codes: incomplete.codes,
                partialGrants: incomplete.grantSecrets,
                unopened: unopened
            )
        ]
    }

    /// Handles the end of the write at the store.
    ///
    /// - Returns: the change that takes effect now.
    mutating func ended(failed: Bool, _ now: Moment) -> Change? {
        guard let write = atStore else { return nil }
        atStore = nil
        let decided = write.generation == change?.generation ? change : nil
        if decided != nil { change = nil }
        lastEnded.number = max(lastEnded.number, write.update.number)
        if !failed { holdsUnloadedSignIns = false }
        if failed {
            refused(now)
        } else if isIdle {
            rewrite.reset()
            storage.durable = true
            let isAcknowledged = unopened == .acknowledged || unopened == .erased
            if isAcknowledged, obstacle == nil { (storage.status, storage.reason) = (.ok, nil) }
            unopened = .unchanged
        }
        return decided
    }

    /// Counts a write that does not end as refused. Returns `nil` if no write is overdue.
    ///
    /// - Returns: the change that takes effect now, and whether this write is given up for the first time.
    mutating func giveUpOverdue(_ now: Moment) -> (decided: Change?, isNew: Bool)? {
        guard let write = atStore, now.uptime >= write.beganAt + RenewalPolicy.longestWrite else { return nil }
        let decided = change
        // A change that is not in the overdue write has to be in the next write.
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

    // MARK: Queries

    /// Returns the installation state after the pending change. A withdrawal keeps the present state, including details
    /// that have changed since it began.
    func afterChange(_ installation: InstallationState) -> InstallationState {
        switch change?.kind {
        case nil: installation
        case .withdrawal: installation.stateAfterWithdrawal
        case .signIn, .rotation, .ending, .signOut: change?.outcome ?? installation
        }
    }

    /// Whether nothing is at the store or waits for it.
    var isIdle: Bool { atStore == nil && !isUpdateWanted && change == nil }

    private var isUpdateWanted: Bool { lastUpdate != lastBegun }

    /// Whether the write of a granted sign-in may begin: all earlier writes have ended, or the present one is overdue.
    /// Other changes replace what waits, and do not ask.
    var takesSignIn: Bool { change == nil && (isIdle || (atStore?.isOverdue ?? false)) }

    /// Whether the disk has everything.
    var isStored: Bool { isIdle && rewrite.failures == 0 }

    var isSigningOut: Bool { change?.kind == .signOut }

    var isSigningIn: Bool {
        if case .signIn? = change?.kind { true } else { false }
    }

    /// The time at which the next rewrite is due, or at which the write at the store is given up.
    var dueAt: Uptime? {
        guard let write = atStore else { return isIdle ? rewrite.time : nil }
        return write.isOverdue ? nil : write.beganAt + RenewalPolicy.longestWrite
    }
}
