import JunctionSession

extension RecordStore {
    /// Finds the newest authentic record among the record file, leftover temporary files and `copies`.
    mutating func restore(considering copies: [[UInt8]] = []) -> Restoration {
        do throws(FileFault) {
            let installation = try InstallationId(from: files)
            self.installation = installation
            let reader = RecordReader(key: sealing.key, installation: installation)
            let found = carryOut(RecordSelection(try candidates(reader, copies)), reader)
            if refusal == nil { removeLeftovers() }
            return found
        } catch {
            return refuse(error.description)
        }
    }

    private mutating func candidates(
        _ reader: RecordReader,
        _ copies: [[UInt8]]
    ) throws(FileFault) -> [Candidate] {
        let names = try files.names(in: .stateDirectory).sorted()
        hasReserve = names.contains(StateFile.reserve.name)
        let leftovers = names.filter { StateFile.record.hasTemporary(named: $0) }.map { StateFile($0) }
        return [candidate(.record, .record, reader)].compactMap(\.self)
            + leftovers.compactMap { candidate(.temporary($0), $0, reader) }
            + copies.map { reader.candidate(.copy($0), $0) }
    }

    private func candidate(_ origin: Candidate.Origin, _ file: StateFile, _ reader: RecordReader) -> Candidate? {
        do throws(FileFault) {
            // One byte more than the limit shows that the file is too long.
            guard let bytes = try files.read(file, atMost: RecordFrame.longest + 1) else { return nil }
            return reader.candidate(origin, bytes)
        } catch {
            // The daemon never creates a directory or a link with this name, so it holds no session.
            if origin != .record, error.isNotAPlainFile { return nil }
            return Candidate(origin: origin, finding: .unreadable(error), quarantineName: "")
        }
    }

    private mutating func carryOut(_ selection: RecordSelection, _ reader: RecordReader) -> Restoration {
        let inQuarantine = (try? quarantine.names()) ?? []
        if case .won(let opened) = selection.outcome {
            acknowledged = Set(opened.header.acknowledged).intersection(inQuarantine)
            adoptInstallation(of: opened.header)
        }
        predecessor = selection.predecessor
        movesAfterSignIn = selection.movesAfterSignIn
        unfinished = selection.moves
        for case .adopt(let file) in unfinished { replacement.takeOver(file, of: .record) }
        // If the disk refuses the moves now, the session is still usable, and the next write tries them again.
        try? finishMoves()

        switch selection.outcome {
        case .newer(let format):
            return refuse(Remedy.newer(format, files.location(of: .record)))
        case .unreadable(let fault):
            return refuse(fault.description)
        case .locked(let header, let lock):
            return locked(header, lock)
        case .damaged(let header):
            return unreadable(.damaged, Remedy.damaged(header, files.location(of: .record)), header)
        case .won(let opened):
            isSound = true
            return restored(opened, damaged: damaged(reader))
        case .vacant:
            let damaged = damaged(reader)
            isSound = damaged.isEmpty
            return vacant(damaged: damaged)
        }
    }

    /// Uses the installation id of the record that won, if the file of the id was damaged or never written.
    private mutating func adoptInstallation(of header: RecordHeader) {
        switch installation?.source {
        case .replaced: installation = InstallationId(header.installation, .replaced)
        // A tombstone may come from any installation, so its id is not used.
        case .created where header.state != .signedOut: installation = InstallationId(header.installation, .replaced)
        case .created, .unfinished, .stored, nil: break
        }
    }

    /// Removes the temporary files of earlier processes, except those of the record, which the record selection has
    /// decided about.
    private mutating func removeLeftovers() {
        let names = (try? files.names(in: .stateDirectory)) ?? []
        for name in names where StateFile.filesWithRemovedTemporaries.contains(where: { $0.hasTemporary(named: name) })
        {
            let file = StateFile(name)
            if installation?.source == .unfinished(file) {
                // Only this file has the id. It is removed when the id is in its own file.
                replacement.takeOver(file, of: .installation)
            } else {
                try? files.remove(file)
            }
        }
    }

    private mutating func restored(_ opened: OpenedRecord, damaged: [Damage]) -> Restoration {
        present = opened.record
        guard case .absent = sealing else {
            return .restored(opened.record, opened.secrets, damaged: Remedy.putAside(damaged))
        }
        // Only a tombstone is readable without a key. It is valid, but without a key no user can sign in.
        return locked(opened.header, .noKey)
    }

    private func vacant(damaged: [Damage]) -> Restoration {
        if let newest = damaged.max(by: { $0.age < $1.age }) {
            return unreadable(.damaged, Remedy.damaged(newest.header, newest.location), newest.header)
        }
        guard case .absent(_, let remedy) = sealing else { return .absent }
        return unreadable(.locked, remedy, nil)
    }

    private func locked(_ header: RecordHeader, _ lock: Candidate.Lock) -> Restoration {
        unreadable(.locked, Remedy.locked(header, lock, sealing, installation), header)
    }

    private func unreadable(_ status: StorageStatus, _ remedy: String, _ header: RecordHeader?) -> Restoration {
        .unreadable(.init(status: status, remedy: remedy, header: header?.shown, canSignIn: sealing.key != nil))
    }

    /// Prevents every change of the state for the lifetime of this process.
    private mutating func refuse(_ reason: String) -> Restoration {
        refusal = reason
        return .unreadable(.init(status: .unavailable, remedy: reason, header: nil, canSignIn: false))
    }

    /// Returns the records in quarantine that were altered or are illegible, and that no sign-in has acknowledged.
    private func damaged(_ reader: RecordReader) -> [Damage] {
        let names = (try? quarantine.names()) ?? []
        return names.filter { !acknowledged.contains($0) }.compactMap { name in
            let file = StateFile(name, in: .quarantine)
            guard
                let bytes = try? files.read(file, atMost: RecordFrame.longest + 1),
                case let candidate = reader.candidate(.temporary(file), bytes),
                candidate.isDamaged
            else { return nil }
            return Damage(location: files.location(of: file), header: candidate.header)
        }
    }
}

/// A damaged record in quarantine that the next sign-in acknowledges.
struct Damage: Equatable {
    var location: String
    var header: RecordHeader?

    /// A record without a legible header is older than every record with one.
    var age: RecordAge { header?.age ?? RecordAge(generation: 0, edition: 0) }
}
