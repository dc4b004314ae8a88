import JunctionSession

/// Decides which candidate is the session, and what happens to the others. It changes no file.
///
/// The newest authentic generation wins. A record that was sealed under the present key and does not verify
/// goes to quarantine. A temporary file that was sealed under another key stays in place until the next sign-in, because
/// that key may come back. Such a record file goes to quarantine when the winner replaces it.
struct RecordSelection {
    let outcome: Outcome
    /// What to do before anything else is written, in this order.
    let moves: [Move]
    /// What to do after the next complete sign-in.
    let movesAfterSignIn: [Move]
    /// The quarantine name of the record file, if the file must be kept when it is replaced.
    let predecessor: String?

    enum Outcome {
        /// No candidate holds a record.
        case vacant
        case won(OpenedRecord)
        /// A newer junctiond wrote the record, so this one must not change it.
        case newer(format: UInt8)
        case unreadable(FileFault)
        case locked(RecordHeader, Candidate.Lock)
        case damaged(RecordHeader?)
    }

    enum Move: Equatable {
        /// Links the record file into quarantine.
        case keepLive(String)
        /// Moves a leftover temporary file to quarantine.
        case putAside(StateFile, String)
        /// Makes a leftover temporary file the record file.
        case adopt(StateFile)
        /// Writes a copy from outside the directory as the record file.
        case store([UInt8])
        /// Removes a leftover temporary file that is not newer than the record.
        case discard(StateFile)
    }

    init(_ candidates: [Candidate]) {
        let live = candidates.first { $0.origin == .record }
        let (winner, opened) = Self.newestAuthentic(candidates)
        let outcome = Self.outcome(candidates, opened)
        self.outcome = outcome

        switch outcome {
        case .won:
            // If the winner replaces the record file, the old file is kept when it may hold another login.
            let keep = winner?.origin == .record ? nil : live?.nameToKeep.map(Move.keepLive)
            let losers = candidates.filter { $0.origin != winner?.origin }
            moves = [keep, winner?.adoption].compactMap(\.self) + losers.compactMap(\.removal)
            movesAfterSignIn = losers.compactMap(\.quarantining)
            predecessor = nil
        case .vacant:
            moves = candidates.compactMap(\.removal)
            (movesAfterSignIn, predecessor) = ([], nil)
        case .newer, .unreadable, .locked, .damaged:
            moves = []
            movesAfterSignIn = candidates.compactMap { $0.removal ?? $0.quarantining }
            predecessor = live?.nameToKeep
        }
    }

    private static func newestAuthentic(_ candidates: [Candidate]) -> (Candidate?, OpenedRecord?) {
        var best: (candidate: Candidate, opened: OpenedRecord)?
        for candidate in candidates {
            guard case .authentic(let opened) = candidate.finding else { continue }
            if let best, opened.header.age <= best.opened.header.age { continue }
            best = (candidate, opened)
        }
        return (best?.candidate, best?.opened)
    }

    private static func outcome(_ candidates: [Candidate], _ winner: OpenedRecord?) -> Outcome {
        for candidate in candidates {
            switch candidate.finding {
            case .newer(let format): return .newer(format: format)
            case .unreadable(let fault): return .unreadable(fault)
            case .authentic, .altered, .locked, .illegible, .torn: continue
            }
        }
        // If a locked record is the newest, no record wins: an older one may hold a refresh token that is already used.
        let newest = candidates.filter { !$0.isDamaged }.max { $0.age < $1.age }
        if case .locked(let header, let lock)? = newest?.finding { return .locked(header, lock) }
        if let winner { return .won(winner) }

        let damaged = candidates.filter(\.isDamaged).max { $0.age < $1.age }
        if let damaged { return .damaged(damaged.header) }
        return .vacant
    }
}

extension Candidate {
    /// A candidate without a header is older than every candidate with one.
    fileprivate var age: (Int, RecordAge) {
        header.map { (1, $0.age) } ?? (0, RecordAge(generation: 0, edition: 0))
    }

    /// Whether this was a record of the daemon once. A torn temporary file never was one. A torn record file has lost its
    /// content.
    var isDamaged: Bool {
        switch finding {
        case .altered, .illegible: true
        case .torn: origin == .record
        case .authentic, .locked, .newer, .unreadable: false
        }
    }

    /// The quarantine name of the record file, if it must be kept when another file replaces it.
    fileprivate var nameToKeep: String? {
        switch finding {
        case .altered, .illegible, .locked: quarantineName
        case .authentic, .torn, .newer, .unreadable: nil
        }
    }

    /// The move that makes a winner the record file.
    fileprivate var adoption: RecordSelection.Move? {
        switch origin {
        case .record: nil
        case .temporary(let file): .adopt(file)
        case .copy(let bytes): .store(bytes)
        }
    }

    /// The immediate move for a leftover temporary file that did not win.
    fileprivate var removal: RecordSelection.Move? {
        guard case .temporary(let file) = origin else { return nil }
        return switch finding {
        case .authentic, .torn: .discard(file)
        case .altered, .illegible: .putAside(file, quarantineName)
        case .locked, .newer, .unreadable: nil
        }
    }

    /// The move after a sign-in for a leftover temporary file that could not be opened.
    fileprivate var quarantining: RecordSelection.Move? {
        guard case .temporary(let file) = origin, case .locked = finding else { return nil }
        return .putAside(file, quarantineName)
    }
}
