/// How often each local user may make the daemon call the provider: a sliding minute, in whole calls.
///
/// Only calls that reach the network are counted, when they leave; the limit is checked just before.
struct CallBudget: Hashable, Sendable {
    private let callsPerMinute: Int
    private var spent: [UInt32: [Uptime]] = [:]
    private var sweptAt: Uptime?

    private static let window: Duration = .seconds(60)

    init(callsPerMinute: Int) {
        self.callsPerMinute = callsPerMinute
    }

    /// Why this user may cause no call now, if so.
    func refusal(of uid: UInt32, now: Moment) -> SessionError? {
        let recent = (spent[uid] ?? []).filter { now.uptime - $0 < Self.window }
        guard recent.count >= callsPerMinute, let oldest = recent.first else { return nil }
        return .tooManyProviderCalls(retryAfter: Self.window - (now.uptime - oldest))
    }

    /// A call leaves for this user.
    mutating func charge(_ uid: UInt32, now: Moment) {
        sweep(now)
        spent[uid, default: []].append(now.uptime)
    }

    /// A call leaves for this user, if it may.
    mutating func spend(_ uid: UInt32, now: Moment) -> SessionError? {
        if let refusal = refusal(of: uid, now: now) { return refusal }
        charge(uid, now: now)
        return nil
    }

    /// Forgets calls that are older than a minute, once a minute.
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
