import JunctionSession

extension RecordStore {
    /// Seals and writes a record; it survives a power cut once this returns.
    mutating func write(_ record: SessionRecord, _ secrets: SessionSecrets) throws(StoreFailure) {
        if let refusal { throw StoreFailure(refusal) }
        guard let installation else { preconditionFailure("A record was written before the old one was looked for") }
        precondition(present.map(record.supersedes) ?? true, "A record was written over one that is newer")

        let change = Change(from: present, to: record)
        let settled = change == .update ? settled : allInQuarantine
        let bytes = try seal(record, secrets, installation, settled)
        // What was noted before comes first. The record is no worse for a note that the disk refuses.
        var missing: FileFault?
        do throws(FileFault) {
            try settleNotes()
        } catch {
            missing = error
        }
        do throws(FileFault) {
            try put(bytes, change)
        } catch {
            guard error.isOutOfSpace, giveUpReserve() else { throw StoreFailure(error.description) }
            do throws(FileFault) {
                try put(bytes, change)
            } catch {
                throw StoreFailure(error.description)
            }
        }
        present = record
        self.settled = settled
        isSound = true
        tidy(change)
        if change == .signOut, let missing { throw StoreFailure(missing.description) }
    }

    /// Sets space aside for the day the disk is full.
    mutating func restoreReserve() {
        guard !hasReserve else { return }
        hasReserve = (try? files.reserve(.reserve, size: Self.reserveSize)) != nil
    }

    /// Several times a session, which is 2–20 kB, and the blocks that its names take.
    private static let reserveSize: Int64 = 64 * 1024

    /// What a write means for records that could not be verified.
    private enum Change {
        /// Goes on with the session that is there.
        case update
        /// Settles the matter: they are kept, and no longer reported.
        case signIn
        /// Ends it: nothing of a user stays behind.
        case signOut

        init(from old: SessionRecord?, to new: SessionRecord) {
            // A sign-in that is not complete ends nothing, and settles nothing yet.
            let isNote = old.map { $0.generation == new.generation } ?? (new.generation == 0)
            if isNote, new.hasSignIns || old?.hasSignIns == true {
                self = .update
                return
            }
            self =
                switch (old?.content, new.content) {
                case (_, .signedOut): .signOut
                case (.session(let old), .session(let new)): old.continues(as: new) ? .update : .signIn
                case (_, .session), (nil, _): .signIn
                case (_, .configured), (_, .terminated): .update
                }
        }
    }

    private var allInQuarantine: Set<String> {
        let expected = (unfinished + settlement).compactMap(\.quarantineName) + [predecessor].compactMap(\.self)
        return Set((try? quarantine.names()) ?? []).union(expected)
    }

    private func seal(
        _ record: SessionRecord,
        _ secrets: SessionSecrets,
        _ installation: InstallationId,
        _ settled: Set<String>
    ) throws(StoreFailure) -> [UInt8] {
        do throws(SealedRecord.Fault) {
            return try SealedRecord.bytes(
                of: record,
                secrets,
                installation: installation.text,
                settled: settled.sorted(),
                key: sealing.key
            )
        } catch {
            throw StoreFailure(Remedy.unsealable(error, sealing))
        }
    }

    private mutating func put(_ bytes: [UInt8], _ change: Change) throws(FileFault) {
        let moves = Result { () throws(FileFault) in try finishMoves() }
        let naming = Result { () throws(FileFault) in try storeInstallation() }
        let (quarantine, settled, probe) = (quarantine, settled, replacement.probe)
        let predecessor = predecessor
        try replacement.replace(.live, with: bytes, ifRefused: .keeps) { () throws(FileFault) in
            // A sign-out keeps nothing, so nothing that was to be kept holds it up.
            if change == .signOut { return }
            // The new record is complete beside the old one, which must not go before this is done.
            try moves.get()
            guard let predecessor else { return }
            try quarantine.keep(.live, as: predecessor, settled: settled)
            probe(.predecessorPutAside)
        }
        // The record is in place. After a power cut it is worth nothing without the id that it names.
        try naming.get()
    }

    /// Removes the reserve and says whether there was one.
    mutating func giveUpReserve() -> Bool {
        guard hasReserve else { return false }
        hasReserve = false
        // Its blocks are free once the removal is on disk.
        return (try? files.remove(.reserve)) != nil && (try? files.sync(.top)) != nil
    }

    /// Clears up behind a record that is durable. What fails here is found again at the next start.
    private mutating func tidy(_ change: Change) {
        switch change {
        case .update:
            return
        case .signIn:
            for move in settlement { try? carryOut(move) }
        case .signOut:
            for file in (unfinished + settlement).compactMap(\.leftover) { try? files.remove(file) }
            unfinished = []
            try? quarantine.clear()
            settled = []
        }
        settlement = []
        predecessor = nil
    }
}

extension SessionRecord {
    /// Whether it holds sign-ins that are not complete.
    fileprivate var hasSignIns: Bool { approval != nil || !partialGrants.isEmpty }
}

extension StoredSession {
    /// Whether `next` is this session a little later, rather than the outcome of a sign-in.
    fileprivate func continues(as next: StoredSession) -> Bool {
        identity.isSameUser(as: next.identity) && scheme == next.scheme
            && (!reauthenticationPending || next.reauthenticationPending)
    }
}

extension Election.Move {
    /// The name in quarantine that results.
    fileprivate var quarantineName: String? {
        switch self {
        case .keepLive(let name), .putAside(_, let name): name
        case .adopt, .store, .discard: nil
        }
    }

    /// The leftover temporary that this is about.
    fileprivate var leftover: StateFile? {
        switch self {
        case .putAside(let file, _), .discard(let file), .adopt(let file): file
        case .keepLive, .store: nil
        }
    }
}
