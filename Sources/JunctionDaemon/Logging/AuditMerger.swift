import JunctionServer

/// Decides which acts get a line of their own in the audit, and which share one.
///
/// In each period the first acts of a caller (a user and a unit, for each kind of act) get a line each. Further acts of
/// the same caller share one line with a count at the end of the period. So the audit cannot make the journal drop
/// lines: journald's default limit is 10,000 lines in 30 s for a service. The audit writes less than half of that
/// (`mostLines`) in every case.
struct AuditMerger {
    /// The number of acts of one caller that get a line of their own in a period.
    static let mostSingleLines = 64
    /// The number of callers that are counted separately in a period. All other callers are counted together.
    static let mostCallers = 64
    /// The most lines in one period. Each caller, and the group of other callers of each kind, has its own lines and
    /// one with the count.
    static let mostLines = (mostCallers + MergeKey.Kind.allCases.count) * (mostSingleLines + 1)

    /// The key of the acts that share a line.
    fileprivate struct MergeKey: Hashable {
        enum Kind: CaseIterable {
            case tokenHandedOut
            case signedIn
            case signedOut
            case refused
            case signInRefused
            case turnedAway
        }

        var kind: Kind
        /// Nil if the kernel does not say who it was, and for the callers that are counted together.
        var user: UInt32?
        var unit: String?
    }

    private struct Tally {
        var key: MergeKey
        var singleLines = 0
        var merged: AuditTrail.Line?
    }

    private var tallies: [Tally] = []
    private var places: [MergeKey: Int] = [:]
    private var latest = 0
    private var lines: [AuditTrail.Line] = []

    /// What the owner has to do after an act.
    struct Due: Equatable {
        /// This is the first act of a period: call `endPeriod` when the period is over.
        var endOfPeriod = false
        /// This is the first line since `takeLines`: call `takeLines` soon.
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
        if (tallies[place].merged?.count += 1) == nil {
            var act = act
            if tallies[place].key.user == nil { act.caller = nil }
            tallies[place].merged = AuditTrail.Line(act: act, count: 1)
        }
        return Due(endOfPeriod: due.endOfPeriod)
    }

    /// Adds the lines with counts, and begins a new period.
    mutating func endPeriod() {
        lines += tallies.compactMap(\.merged)
        (tallies, places, latest) = ([], [:], 0)
    }

    mutating func takeLines() -> [AuditTrail.Line] {
        defer { lines = [] }
        return lines
    }

    private mutating func place(of act: AuditedAct) -> Int {
        let key = MergeKey(kind: act.kind.mergeKind, user: act.caller?.user, unit: act.caller?.unit)
        // A shortcut: an act often comes from the same caller as the one before.
        if latest < tallies.count, tallies[latest].key == key { return latest }
        latest = places[key] ?? newPlace(of: key)
        return latest
    }

    private mutating func newPlace(of key: MergeKey) -> Int {
        var key = key
        if tallies.count >= Self.mostCallers { (key.user, key.unit) = (nil, nil) }
        if let place = places[key] { return place }
        places[key] = tallies.count
        tallies.append(Tally(key: key))
        return tallies.count - 1
    }
}

extension CallerAct {
    fileprivate var mergeKind: AuditMerger.MergeKey.Kind {
        switch self {
        case .tokenHandedOut: .tokenHandedOut
        case .signedIn: .signedIn
        case .signedOut: .signedOut
        case .refused, .credentialRefused: .refused
        case .signInRefused: .signInRefused
        case .turnedAway: .turnedAway
        }
    }
}
