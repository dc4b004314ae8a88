/// How often each local user may make the daemon call the provider: a sliding minute, in whole calls.
struct CallBudget {
    private let callsPerMinute: Int
    private var spent: [UInt32: [Uptime]] = [:]

    private static let window: Duration = .seconds(60)

    init(callsPerMinute: Int) {
        self.callsPerMinute = callsPerMinute
    }

    mutating func allowance(of uid: UInt32, now: Moment) -> Allowance {
        let recent = (spent[uid] ?? []).filter { now.uptime - $0 < Self.window }
        // A user who has been quiet for a minute is forgotten: the table cannot grow with every uid ever seen.
        spent[uid] = recent.isEmpty ? nil : recent
        guard recent.count >= callsPerMinute, let oldest = recent.first else { return .granted }
        return .exhausted(retryAfter: Self.window - (now.uptime - oldest))
    }

    mutating func charge(_ uid: UInt32, now: Moment) {
        spent[uid, default: []].append(now.uptime)
    }
}
