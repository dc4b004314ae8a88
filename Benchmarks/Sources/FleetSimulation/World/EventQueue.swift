/// The future events in order: one bucket for each second, sorted when its second starts.
///
/// A million daemons have millions of future events. A heap of all of them would miss the cache at every level. Here an
/// event is appended once and sorted only among those of its second.
struct EventQueue {
    enum Kind: UInt64 {
        /// The alarm of a daemon is due.
        case alarm
        /// The provider's answer arrives, or the daemon's timeout passes.
        case answer
        /// An app repeats a request for a token.
        case appAsks
        case signIn
        case powerOff
        case boot
        /// The wall clock is set to the true time.
        case clockSet
        /// The network returns.
        case networkBack
    }

    struct Entry: Equatable {
        var at: Milliseconds
        var kind: Kind
        var daemon: Int
    }

    private var buckets: [[UInt64]]
    private var second = -1
    /// The events of this second that were planned before it, the next one last.
    private var planned: [UInt64] = []
    /// The events that were added during this second, the next one last.
    private var late: [UInt64] = []

    /// Events at `end` or later are dropped.
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
    /// Returns the index for an element in a sorted array.
    fileprivate func partitioningIndex(where belongsBehind: (UInt64) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongsBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
