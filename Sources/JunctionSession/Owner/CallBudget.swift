/// How often each local user may make the daemon call the provider: a sliding minute, in whole calls.
struct CallBudget {
    private let callsPerMinute: Int
    private var spent: [UInt32: [Uptime]] = [:]
    private var sweptAt: Uptime?

    private static let window: Duration = .seconds(60)

    init(callsPerMinute: Int) {
        self.callsPerMinute = callsPerMinute
    }

    func allowance(of uid: UInt32, now: Moment) -> Allowance {
        let recent = (spent[uid] ?? []).filter { now.uptime - $0 < Self.window }
        guard recent.count >= callsPerMinute, let oldest = recent.first else { return .granted }
        return .exhausted(retryAfter: Self.window - (now.uptime - oldest))
    }

    mutating func charge(_ uid: UInt32, now: Moment) {
        sweep(now)
        spent[uid, default: []].append(now.uptime)
    }

    /// Forgets the calls of the minute before the last, and every user who made no other: whoever calls, once a minute.
    private mutating func sweep(_ now: Moment) {
        if let sweptAt, now.uptime - sweptAt < Self.window { return }
        sweptAt = now.uptime
        spent = spent.compactMapValues { calls in
            let recent = calls.filter { now.uptime - $0 < Self.window }
            return recent.isEmpty ? nil : recent
        }
    }

    /// How many users are remembered.
    var remembered: Int { spent.count }
}
