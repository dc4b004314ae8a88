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
    /// The end of the part of the pause that the provider demands. Nothing shortens that part.
    private(set) var demandedUntil: Uptime?
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
        (time, demandedUntil) = (end, end)
    }

    mutating func begin(_ now: Moment) {
        (time, demandedUntil, lastTried) = (nil, nil, now.uptime)
    }

    /// Forgets the failures, but keeps the time of the last attempt.
    mutating func reset() {
        (failures, failingSince, time, demandedUntil) = (0, nil, nil, nil)
    }

    /// Forgets the failures and sets a pause before the next attempt.
    mutating func wait(for delay: Duration, isDemanded: Bool = false, _ now: Moment) {
        reset()
        time = now.uptime + delay
        if isDemanded { demandedUntil = time }
    }

    /// Sets the pause that the provider demands. The failures stay counted.
    mutating func wait(until end: Uptime) {
        (time, demandedUntil) = (end, end)
    }

    /// Counts a failed attempt. The longer one of the backoff and the provider's demand sets the pause.
    mutating func failed(after backoff: Duration, demanding demanded: Duration? = nil, _ now: Moment) {
        failures += 1
        failingSince = failingSince ?? lastTried
        time = now.uptime + max(backoff, demanded ?? .zero)
        demandedUntil = demanded.map { now.uptime + $0 }
    }

    /// Counts a failed attempt. The longer one of the provider's `Retry-After` and the backoff sets the pause.
    mutating func failed(retryAfter: Duration?, _ now: Moment, using random: inout Randomness) {
        let demanded = retryAfter.map { RenewalPolicy.delay(afterBeingAsked: $0, using: &random) }
        let backoff = RenewalPolicy.backoff(afterFailures: failures + 1, using: &random)
        failed(after: backoff, demanding: demanded, now)
    }

    func isDue(_ now: Moment) -> Bool { time.map { $0 <= now.uptime } ?? false }

    /// Whether a caller with a good reason may begin an attempt before the backoff ends.
    func mayTrySooner(_ now: Moment) -> Bool { earliest(now) <= now.uptime }

    private func earliest(_ now: Moment) -> Uptime {
        let spaced = lastTried.map { $0 + spacing } ?? now.uptime
        return max(spaced, demandedUntil ?? now.uptime, now.uptime)
    }

    /// Handles a step of the wall clock or a resume: the provider may be reachable again.
    mutating func clockJumped(_ now: Moment) {
        guard let time else { return }
        self.time = min(time, earliest(now))
    }

    /// Shortens the pause, because the network may have returned.
    mutating func shortenPause(_ now: Moment, using random: inout Randomness) {
        guard let time else { return }
        let earliest = earliest(now)
        let spread = RenewalPolicy.networkReturnSpread(afterFailingSince: failingSince, now.uptime)
        guard time > earliest + spread.upperBound else { return }
        self.time = earliest + random.uniform(in: spread)
    }
}
