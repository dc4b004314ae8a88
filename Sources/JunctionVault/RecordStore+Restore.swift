import JunctionSession

extension RecordStore {
    /// Finds the newest authentic record among the file, leftover temporaries and `copies`.
    mutating func restore(considering copies: [[UInt8]] = []) -> Restoration {
        do throws(FileFault) {
            let installation = try InstallationId(from: files)
            self.installation = installation
            let reader = RecordReader(key: sealing.key, installation: installation)
            let found = settle(Election(try candidates(reader, copies)), reader)
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
        let names = try files.names(in: .top).sorted()
        hasReserve = names.contains(StateFile.reserve.name)
        let leftovers = names.filter { StateFile.live.hasTemporary(named: $0) }.map { StateFile($0) }
        return [candidate(.live, .live, reader)].compactMap(\.self)
            + leftovers.compactMap { candidate(.temporary($0), $0, reader) }
            + copies.map { reader.candidate(.copy($0), $0) }
    }

    private func candidate(_ origin: Candidate.Origin, _ file: StateFile, _ reader: RecordReader) -> Candidate? {
        do throws(FileFault) {
            // One byte more than a record may have shows that it has too many.
            guard let bytes = try files.read(file, atMost: RecordFrame.longest + 1) else { return nil }
            return reader.candidate(origin, bytes)
        } catch {
            // We never made a directory or a link of that name, so no session is in it.
            if origin != .live, error.isNotAPlainFile { return nil }
            return Candidate(origin: origin, finding: .unreadable(error), quarantineName: "")
        }
    }

    private mutating func settle(_ election: Election, _ reader: RecordReader) -> Restoration {
        let inQuarantine = (try? quarantine.names()) ?? []
        if case .won(let opened) = election.outcome {
            settled = Set(opened.header.settled).intersection(inQuarantine)
            adoptInstallation(of: opened.header)
        }
        predecessor = election.predecessor
        settlement = election.settlement
        unfinished = election.moves
        for case .adopt(let file) in unfinished { replacement.takeOver(file, of: .live) }
        // A disk that refuses this now does not keep anybody from the session; the next write tries again.
        try? finishMoves()

        switch election.outcome {
        case .newer(let format):
            return refuse(Remedy.newer(format, files.location(of: .live)))
        case .unreadable(let fault):
            return refuse(fault.description)
        case .locked(let header, let lock):
            return locked(header, lock)
        case .damaged(let header):
            return unreadable(.damaged, Remedy.damaged(header, files.location(of: .live)), header)
        case .won(let opened):
            isSound = true
            return restored(opened, damaged: damaged(reader))
        case .vacant:
            let damaged = damaged(reader)
            isSound = damaged.isEmpty
            return vacant(damaged: damaged)
        }
    }

    /// Goes on under the id of the record that won, where the id in the file was spoilt or never got there.
    private mutating func adoptInstallation(of header: RecordHeader) {
        switch installation?.source {
        case .replaced: installation = InstallationId(header.installation, .replaced)
        // Whose tombstone it is does not matter, so it proves nothing.
        case .created where header.state != .signedOut: installation = InstallationId(header.installation, .replaced)
        case .created, .unfinished, .stored, nil: break
        }
    }

    /// Removes the temporaries that earlier processes left, save those of the record: the election has decided about these.
    private mutating func removeLeftovers() {
        let names = (try? files.names(in: .top)) ?? []
        for name in names where StateFile.withoutLeftovers.contains(where: { $0.hasTemporary(named: name) }) {
            let file = StateFile(name)
            if installation?.source == .unfinished(file) {
                // The one place where the id is. It goes when the id is in its own.
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
        // Only a tombstone is readable without a key. It holds, and yet nobody could sign in.
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

    /// Leaves everything as it is for as long as this process lives.
    private mutating func refuse(_ reason: String) -> Restoration {
        refusal = reason
        return .unreadable(.init(status: .unavailable, remedy: reason, header: nil, canSignIn: false))
    }

    /// What lies in quarantine and has not been settled: our own records, altered.
    private func damaged(_ reader: RecordReader) -> [Damage] {
        let names = (try? quarantine.names()) ?? []
        return names.filter { !settled.contains($0) }.compactMap { name in
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

/// A record in quarantine that waits for the next sign-in.
struct Damage: Equatable {
    var location: String
    var header: RecordHeader?

    /// What has no legible header is older than anything that has one.
    var age: RecordAge { header?.age ?? RecordAge(generation: 0, edition: 0) }
}
