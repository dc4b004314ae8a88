/// The number of provider calls that each local user may cause in a sliding window of 60 seconds.
///
/// The budget counts a call when it leaves for the network. Callers check the limit just before that.
struct CallBudget: Hashable, Sendable {
    private let callsPerMinute: Int
    private var spent: [UInt32: [Uptime]] = [:]
    private var sweptAt: Uptime?

    private static let window: Duration = .seconds(60)

    init(callsPerMinute: Int) {
        self.callsPerMinute = callsPerMinute
    }

    /// Returns the error for a user who has used up the budget, or `nil` if the user may cause a call.
    func refusal(of uid: UInt32, now: Moment) -> SessionError? {
        let recent = (spent[uid] ?? []).filter { now.uptime - $0 < Self.window }
        guard recent.count >= callsPerMinute, let oldest = recent.first else { return nil }
        return .tooManyProviderCalls(retryAfter: Self.window - (now.uptime - oldest))
    }

    mutating func charge(_ uid: UInt32, now: Moment) {
        sweep(now)
        spent[uid, default: []].append(now.uptime)
    }

    /// Counts one call of this user, or returns the error if the budget is used up.
    mutating func spend(_ uid: UInt32, now: Moment) -> SessionError? {
        if let refusal = refusal(of: uid, now: now) { return refusal }
        charge(uid, now: now)
        return nil
    }

    /// Forgets the calls that are older than the window. The sweep runs at most once in a window.
    private mutating func sweep(_ now: Moment) {
        if let sweptAt, now.uptime - sweptAt < Self.window { return }
        sweptAt = now.uptime
        spent = spent.compactMapValues { calls in
            let recent = calls.filter { now.uptime - $0 < Self.window }
            return recent.isEmpty ? nil : recent
        }
    }

    var remembered: Int { spent.count }
}
