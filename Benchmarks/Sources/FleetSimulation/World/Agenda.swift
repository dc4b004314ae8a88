/// What will happen, in order: a bucket for every second, put in order when its second begins.
///
/// A million daemons have millions of things before them. A heap of them all would miss the cache at every level; here an
/// entry is appended once, sorted among those of its second, and gone.
struct Agenda {
    enum Kind: UInt64 {
        /// A daemon's own alarm rings.
        case alarm
        /// What the provider answered arrives, or the daemon gives up waiting for it.
        case answer
        /// An app asks for a token that it did not get before.
        case appAsks
        case signIn
        case powerOff
        case boot
        /// The wall clock is set to the true time.
        case clockSet
        /// The network is there again.
        case networkBack
    }

    struct Entry: Equatable {
        var at: Milliseconds
        var kind: Kind
        var daemon: Int
    }

    private var buckets: [[UInt64]]
    private var second = -1
    /// What was planned for this second before it began, the next one last.
    private var planned: [UInt64] = []
    /// What this second itself has brought, the next one last.
    private var late: [UInt64] = []

    /// Nothing that is due at `end` or after it is kept.
    init(until end: Milliseconds) {
        buckets = Array(repeating: [], count: Int(end / 1_000))
    }

    mutating func add(_ kind: Kind, of daemon: Int, at time: Milliseconds) {
        let bucket = Int(time / 1_000)
        guard bucket < buckets.count else { return }
        let packed = UInt64(time % 1_000) << 54 | kind.rawValue << 48 | UInt64(daemon)
        if bucket > second {
            buckets[bucket].append(packed)
        } else {
            late.insert(packed, at: late.partitioningIndex { $0 <= packed })
        }
    }

    mutating func next() -> Entry? {
        while planned.isEmpty, late.isEmpty {
            guard second + 1 < buckets.count else { return nil }
            second += 1
            swap(&planned, &buckets[second])
            buckets[second] = []
            planned.sort(by: >)
        }
        return takeFirst().flatMap(entry)
    }

    private mutating func takeFirst() -> UInt64? {
        guard let candidate = planned.last else { return late.popLast() }
        guard let newcomer = late.last, newcomer < candidate else { return planned.popLast() }
        return late.popLast()
    }

    private func entry(_ packed: UInt64) -> Entry? {
        guard let kind = Kind(rawValue: packed >> 48 & 0x3F) else { return nil }
        let at = Milliseconds(second) * 1_000 + Milliseconds(packed >> 54)
        return Entry(at: at, kind: kind, daemon: Int(packed & 0xFFFF_FFFF_FFFF))
    }
}

extension [UInt64] {
    /// Where the elements begin that belong behind the others, in an array that is in that order.
    fileprivate func partitioningIndex(where belongsBehind: (UInt64) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongsBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
