/// Decides which acts get a line of their own in the audit, and which share one.
///
/// In each period the first acts of a caller (a user and a unit, for each kind of act) get a line each. What the same caller
/// does beyond that becomes one line with a count at the end of the period. So the audit cannot make the journal drop
/// lines: journald's default is 10,000 in 30 s for a service, and the audit writes less than half of that
/// (`mostLines`), whatever callers do.
struct AuditMerger {
    /// So many acts of one caller get a line of their own in a period.
    static let mostSingleLines = 64
    /// So many callers are told apart in a period. What others do is counted together.
    static let mostCallers = 64
    /// The most lines in one period: for each caller, and for the others of each kind, its own and the one with the count.
    static let mostLines = (mostCallers + 3) * (mostSingleLines + 1)

    /// Whose acts share a line.
    fileprivate struct Sharer: Hashable {
        enum Kind {
            case tokenHandedOut
            case refused
            case turnedAway
        }

        var kind: Kind
        /// Nobody where the kernel does not say who it was, and for all callers that are not told apart.
        var user: UInt32?
        var unit: String?
    }

    private struct Tally {
        var sharer: Sharer
        var singleLines = 0
        var merged: AuditTrail.Line?
    }

    private var tallies: [Tally] = []
    private var places: [Sharer: Int] = [:]
    private var latest = 0
    private var lines: [AuditTrail.Line] = []

    /// What has to be done because of an act.
    struct Due: Equatable {
        /// It is the first act of a period: call `endPeriod` when the period is over.
        var endOfPeriod = false
        /// It is the first line since the last ones were taken: call `takeLines` soon.
        var lines = false
    }

    mutating func note(_ act: AuditedAct) -> Due {
        let due = Due(endOfPeriod: tallies.isEmpty, lines: lines.isEmpty)
        let place = place(of: act)
        guard tallies[place].singleLines >= Self.mostSingleLines else {
            tallies[place].singleLines += 1
            lines.append(AuditTrail.Line(act: act, count: 1))
            return due
        }
        if tallies[place].merged != nil {
            tallies[place].merged?.count += 1
        } else {
            var act = act
            if tallies[place].sharer.user == nil { act.caller = nil }
            tallies[place].merged = AuditTrail.Line(act: act, count: 1)
        }
        return Due(endOfPeriod: due.endOfPeriod)
    }

    /// The lines of acts that were counted together come now, and every caller begins anew.
    mutating func endPeriod() {
        lines += tallies.compactMap(\.merged)
        (tallies, places, latest) = ([], [:], 0)
    }

    /// The lines that are to be written.
    mutating func takeLines() -> [AuditTrail.Line] {
        defer { lines = [] }
        return lines
    }

    private mutating func place(of act: AuditedAct) -> Int {
        let sharer = Sharer(kind: act.kind.sharers, user: act.caller?.user, unit: act.caller?.unit)
        // A caller that acts without end has acted just before: to find that again is quicker than to look it up.
        if latest < tallies.count, tallies[latest].sharer == sharer { return latest }
        latest = places[sharer] ?? newPlace(of: sharer)
        return latest
    }

    private mutating func newPlace(of sharer: Sharer) -> Int {
        var sharer = sharer
        if tallies.count >= Self.mostCallers { (sharer.user, sharer.unit) = (nil, nil) }
        if let place = places[sharer] { return place }
        places[sharer] = tallies.count
        tallies.append(Tally(sharer: sharer))
        return tallies.count - 1
    }
}

extension AuditedAct.Kind {
    fileprivate var sharers: AuditMerger.Sharer.Kind {
        switch self {
        case .tokenHandedOut: .tokenHandedOut
        case .refused: .refused
        case .turnedAway: .turnedAway
        }
    }
}
