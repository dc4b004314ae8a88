import JunctionSession

/// Decides which of several candidates is the session, and what becomes of the others. It touches nothing.
///
/// The newest generation whose seal verifies wins. What cannot be verified although it was sealed under our key goes
/// to quarantine; what is sealed under another key stays where it is, because the key may come back.
struct Election {
    let outcome: Outcome
    /// What to do before anything else is written, in this order.
    let moves: [Move]
    /// What to do once a sign-in has settled the matter.
    let settlement: [Move]
    /// The quarantine name of the record file, if it has to be kept when it is replaced.
    let predecessor: String?

    enum Outcome {
        /// Nothing was ever stored.
        case vacant
        case won(OpenedRecord)
        /// A newer junctiond wrote it: hands off.
        case newer(format: UInt8)
        case unreadable(FileFault)
        case locked(RecordHeader, Candidate.Lock)
        case damaged(RecordHeader?)
    }

    enum Move: Equatable {
        /// Gives the record file a second name in quarantine.
        case keepLive(String)
        /// Moves a leftover temporary to quarantine.
        case putAside(StateFile, String)
        /// Gives a leftover temporary the name of the record.
        case adopt(StateFile)
        /// Writes a copy that survived outside as the record.
        case store([UInt8])
        /// Removes a leftover temporary that holds nothing newer than the record.
        case discard(StateFile)
    }

    init(_ candidates: [Candidate]) {
        let live = candidates.first { $0.origin == .live }
        let (winner, opened) = Self.newestAuthentic(candidates)
        let outcome = Self.outcome(candidates, opened)
        self.outcome = outcome

        switch outcome {
        case .won:
            // Whatever replaces the record file, it is not for a winner to throw another's login away.
            let keep = winner?.origin == .live ? nil : live?.nameToKeep.map(Move.keepLive)
            let losers = candidates.filter { $0.origin != winner?.origin }
            moves = [keep, winner?.adoption].compactMap(\.self) + losers.compactMap(\.dismissal)
            settlement = losers.compactMap(\.quarantining)
            predecessor = nil
        case .vacant:
            moves = candidates.compactMap(\.dismissal)
            (settlement, predecessor) = ([], nil)
        case .newer, .unreadable, .locked, .damaged:
            moves = []
            settlement = candidates.compactMap { $0.dismissal ?? $0.quarantining }
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
        // An older record may hold a refresh token that is spent already, so what is locked is not passed over.
        let newest = candidates.filter { !$0.isDamaged }.max { $0.age < $1.age }
        if case .locked(let header, let lock)? = newest?.finding { return .locked(header, lock) }
        if let winner { return .won(winner) }

        let damaged = candidates.filter(\.isDamaged).max { $0.age < $1.age }
        if let damaged { return .damaged(damaged.header) }
        return .vacant
    }
}

extension Candidate {
    /// What has no header is older than anything that has one.
    fileprivate var age: (Int, RecordAge) {
        header.map { (1, $0.age) } ?? (0, RecordAge(generation: 0, edition: 0))
    }

    /// Whether this was our record once. A torn temporary never was; a torn record file lost what it held.
    var isDamaged: Bool {
        switch finding {
        case .altered, .illegible: true
        case .torn: origin == .live
        case .authentic, .locked, .newer, .unreadable: false
        }
    }

    /// The name under which the record file is kept when something replaces it.
    fileprivate var nameToKeep: String? {
        switch finding {
        case .altered, .illegible, .locked: quarantineName
        case .authentic, .torn, .newer, .unreadable: nil
        }
    }

    /// How a winner becomes the record file.
    fileprivate var adoption: Election.Move? {
        switch origin {
        case .live: nil
        case .temporary(let file): .adopt(file)
        case .copy(let bytes): .store(bytes)
        }
    }

    /// What happens at once to a leftover temporary that did not win.
    fileprivate var dismissal: Election.Move? {
        guard case .temporary(let file) = origin else { return nil }
        return switch finding {
        case .authentic, .torn: .discard(file)
        case .altered, .illegible: .putAside(file, quarantineName)
        case .locked, .newer, .unreadable: nil
        }
    }

    /// What happens to a leftover temporary that nobody could open, after a sign-in.
    fileprivate var quarantining: Election.Move? {
        guard case .temporary(let file) = origin, case .locked = finding else { return nil }
        return .putAside(file, quarantineName)
    }
}
