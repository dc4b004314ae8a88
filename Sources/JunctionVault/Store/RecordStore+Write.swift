import JunctionSession

extension RecordStore {
    /// Seals and writes a record. When this returns, the record survives a power cut.
    mutating func write(
        _ record: SessionRecord,
        _ secrets: SessionSecrets,
        unopened: UnopenedRecords
    ) throws(StoreFailure) {
        if let refusal { throw StoreFailure(refusal) }
        guard let installation else { preconditionFailure("A record was written before the old one was looked for") }
        precondition(present.map(record.supersedes) ?? true, "A record was written over one that is newer")

        let acknowledged = acknowledged(after: unopened, in: record)
        sealedNames = acknowledged.sorted()
        let bytes = try seal(record, secrets, installation)
        // Pending stages of bootstrap credentials come first. If that write fails, the record is still written.
        var missing: FileFault?
        do throws(FileFault) {
            try writeOwedNotes()
        } catch {
            missing = error
        }
        do throws(FileFault) {
            try put(bytes, unopened)
        } catch {
            guard error.isOutOfSpace, removeReserve() else { throw StoreFailure(error.description) }
            do throws(FileFault) {
                try put(bytes, unopened)
            } catch {
                throw StoreFailure(error.description)
            }
        }
        present = record
        if unopened == .acknowledged, lastAcknowledgement?.generation != record.generation {
            lastAcknowledgement = (record.generation, self.acknowledged)
        }
        self.acknowledged = acknowledged
        isSound = true
        tidy(unopened)
        if unopened == .erased, case .signedOut = record.content, let missing {
            throw StoreFailure(missing.description)
        }
    }

    /// Reserves space for a write on a full disk.
    mutating func restoreReserve() {
        guard !hasReserve else { return }
        hasReserve = (try? files.reserve(.reserve, size: Self.reserveSize)) != nil
    }

    /// In bytes. A session has 2–20 kB, and XFS refuses to create a file when less than about 192 KiB are free.
    private static let reserveSize: Int64 = 256 * 1024

    /// Returns the names in quarantine that are not reported after this write.
    private func acknowledged(after unopened: UnopenedRecords, in record: SessionRecord) -> Set<String> {
        switch unopened {
        case .unchanged: return acknowledged
        case .acknowledged, .erased: return allInQuarantine
        case .reportedAgain:
            guard let last = lastAcknowledgement, last.generation + 1 == record.generation else { return acknowledged }
            return last.before
        }
    }

    private var allInQuarantine: Set<String> {
        let expected = (unfinished + movesAfterSignIn).compactMap(\.quarantineName) + [predecessor].compactMap(\.self)
        return Set((try? quarantine.names()) ?? []).union(expected)
    }

    private func seal(
        _ record: SessionRecord,
        _ secrets: SessionSecrets,
        _ installation: InstallationId
    ) throws(StoreFailure) -> [UInt8] {
        do throws(SealedRecord.Fault) {
            return try SealedRecord.bytes(
                of: record,
                secrets,
                installation: installation.text,
                acknowledged: sealedNames,
                key: sealing.key
            )
        } catch {
            throw StoreFailure(Remedy.unsealable(error, sealing))
        }
    }

    private mutating func put(_ bytes: [UInt8], _ unopened: UnopenedRecords) throws(FileFault) {
        let moves = Result { () throws(FileFault) in try finishMoves() }
        let naming = Result { () throws(FileFault) in try storeInstallation() }
        let (quarantine, acknowledged, probe) = (quarantine, acknowledged, replacement.probe)
        let predecessor = predecessor
        try replacement.replace(.record, with: bytes, ifRefused: .keeps) { () throws(FileFault) in
            // A sign-out keeps no old record, so a failed move must not delay it.
            if unopened == .erased { return }
            // The new record is complete beside the old one. The old one must not be replaced before these moves are
            // done.
            try moves.get()
            guard let predecessor else { return }
            try quarantine.keep(.record, as: predecessor, acknowledged: acknowledged)
            probe(.predecessorPutAside)
        }
        // The record is in place, but after a power cut it is useless without the id in its header.
        try naming.get()
    }

    /// Removes the reserve. Returns whether this has freed its space.
    mutating func removeReserve() -> Bool {
        guard hasReserve else { return false }
        hasReserve = false
        // The blocks of the reserve are free when the removal is on disk.
        return (try? files.remove(.reserve)) != nil && (try? files.sync(.stateDirectory)) != nil
    }

    /// Removes files that are not needed after a durable record. If that fails, the next start finds them again.
    private mutating func tidy(_ unopened: UnopenedRecords) {
        predecessor = nil
        switch unopened {
        case .unchanged, .reportedAgain:
            return
        case .acknowledged:
            for move in movesAfterSignIn { try? carryOut(move) }
        case .erased:
            for file in (unfinished + movesAfterSignIn).compactMap(\.leftover) { try? files.remove(file) }
            unfinished = []
            try? quarantine.clear()
            acknowledged = []
        }
        movesAfterSignIn = []
    }
}

extension RecordSelection.Move {
    fileprivate var quarantineName: String? {
        switch self {
        case .keepLive(let name), .putAside(_, let name): name
        case .adopt, .store, .discard: nil
        }
    }

    fileprivate var leftover: StateFile? {
        switch self {
        case .putAside(let file, _), .discard(let file), .adopt(let file): file
        case .keepLive, .store: nil
        }
    }
}
