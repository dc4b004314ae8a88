/// Decides when a failed attempt is repeated: a renewal, a poll, the bootstrap credential, a revocation or a write.
///
/// | the pause | what shortens it |
/// |---|---|
/// | demanded by the provider | nothing |
/// | backoff | a resume or a step of the clock ends it; a returning network shortens it to a part of the failing time |
///
/// Nothing shortens the pause of a write, and only a returning network that of a revocation. A shortened pause still
/// leaves `spacing` between two attempts.
package struct Retry: Hashable, Sendable {
    private(set) var failures = 0
    /// The end of the pause. `nil` if there is none, or while an attempt is under way.
    private(set) var time: Uptime?
    /// Whether the provider has set the length of the pause.
    private(set) var isDemanded = false
    private(set) var lastTried: Uptime?
    /// The shortest time between two attempts if the pause is shortened: ten seconds, unless the provider sets another
    /// one.
    var spacing = RenewalPolicy.attemptSpacing
    /// The begin of the first failed attempt.
    private var failingSince: Uptime?

    package init() {}

    init(_ now: Moment) {
        time = now.uptime
    }

    init(demandedUntil end: Uptime) {
        (time, isDemanded) = (end, true)
    }

    mutating func begin(_ now: Moment) {
        (time, isDemanded, lastTried) = (nil, false, now.uptime)
    }

    /// Forgets the failures, but keeps the time of the last attempt.
    mutating func reset() {
        (failures, failingSince, time, isDemanded) = (0, nil, nil, false)
    }

    /// Forgets the failures and sets a pause before the next attempt.
    mutating func wait(for delay: Duration, isDemanded: Bool = false, _ now: Moment) {
        reset()
        (time, self.isDemanded) = (now.uptime + delay, isDemanded)
    }

    /// Sets the pause that the provider demands. The failures stay counted.
    mutating func wait(until end: Uptime) {
        (time, isDemanded) = (end, true)
    }

    /// Counts a failed attempt and sets the pause.
    mutating func failed(after delay: Duration, isDemanded: Bool = false, _ now: Moment) {
        failures += 1
        failingSince = failingSince ?? lastTried
        (time, self.isDemanded) = (now.uptime + delay, isDemanded)
    }

    /// Counts a failed attempt. The longer one of the provider's `Retry-After` and the backoff sets the pause.
    mutating func failed(retryAfter: Duration?, _ now: Moment, using random: inout Randomness) {
        let demanded = retryAfter.map { RenewalPolicy.delay(afterBeingAsked: $0, using: &random) }
        let backoff = RenewalPolicy.backoff(afterFailures: failures + 1, using: &random)
        failed(after: max(backoff, demanded ?? .zero), isDemanded: retryAfter != nil, now)
    }

    func isDue(_ now: Moment) -> Bool { time.map { $0 <= now.uptime } ?? false }

    /// Whether a caller with a good reason may begin an attempt before the backoff ends.
    func mayTrySooner(_ now: Moment) -> Bool { !isDemanded && earliest(now) <= now.uptime }

    private func earliest(_ now: Moment) -> Uptime {
        lastTried.map { max($0 + spacing, now.uptime) } ?? now.uptime
    }

    /// Handles a step of the wall clock or a resume: the provider may be reachable again.
    mutating func clockJumped(_ now: Moment) {
        guard let time, !isDemanded else { return }
        self.time = min(time, earliest(now))
    }

    /// Shortens the pause, because the network may have returned.
    mutating func shortenPause(_ now: Moment, using random: inout Randomness) {
        guard let time, !isDemanded else { return }
        let earliest = earliest(now)
        let spread = RenewalPolicy.networkReturnSpread(afterFailingSince: failingSince, now.uptime)
        guard time > earliest + spread.upperBound else { return }
        self.time = earliest + random.uniform(in: spread)
    }
}
