/// When something that has failed is tried again: one rule for renewals, polls, the bootstrap credential, revocations and writes.
///
/// | the pause | is shortened |
/// |---|---|
/// | is demanded by the provider | never |
/// | is the backoff | to nothing by a resume or a step of the clock; to a part of the failing time by a network that returns |
///
/// A shortened pause still leaves `spacing` between two attempts.
package struct Retry: Hashable, Sendable {
    /// How often it has failed in a row.
    private(set) var failures = 0
    /// The end of the pause; `nil` if nothing has failed, or while an attempt is under way.
    private(set) var time: Time?
    /// The provider has said how long the pause is.
    private(set) var isDemanded = false
    private(set) var lastTried: Uptime?
    /// Ten seconds, unless the provider says how far apart requests have to be.
    var spacing = RenewalPolicy.attemptSpacing
    /// When the first attempt of the failures began.
    private var failingSince: Uptime?

    /// A time by the monotonic clock, and how it reads on the wall clock.
    struct Time: Hashable, Sendable {
        var uptime: Uptime
        var wall: WallTime

        init(_ uptime: Uptime, _ now: Moment) {
            self.uptime = uptime
            wall = now.wall(at: uptime)
        }
    }

    package init() {}

    /// A retry that is due now.
    init(_ now: Moment) {
        time = Time(now.uptime, now)
    }

    /// The pause that a record has; `nil` if it is over. The wall clock may have been set since: a pause is never longer than
    /// what is believed of a provider.
    init?(demandedUntil end: WallTime, _ now: Moment) {
        guard end > now.wall else { return nil }
        time = Time(now.uptime + min(end - now.wall, RenewalPolicy.believableRetryAfter.upperBound), now)
        isDemanded = true
    }

    /// An attempt begins.
    mutating func begin(_ now: Moment) {
        (time, isDemanded, lastTried) = (nil, false, now.uptime)
    }

    /// Forgets the failures, but not when the last attempt was made.
    mutating func reset() {
        (failures, failingSince, time, isDemanded) = (0, nil, nil, false)
    }

    /// Nothing has failed, and the next attempt follows after this.
    mutating func wait(for delay: Duration, isDemanded: Bool = false, _ now: Moment) {
        reset()
        (time, self.isDemanded) = (Time(now.uptime + delay, now), isDemanded)
    }

    /// The attempt has failed.
    mutating func failed(after delay: Duration, isDemanded: Bool = false, _ now: Moment) {
        failures += 1
        failingSince = failingSince ?? lastTried
        (time, self.isDemanded) = (Time(now.uptime + delay, now), isDemanded)
    }

    /// The attempt has failed: the next one follows when the provider says, or by the backoff.
    ///
    /// - Parameter left: what is left of the life of the token that is to be replaced.
    /// - Returns: how long the pause is.
    mutating func failed(
        retryAfter: Duration?,
        left: Duration? = nil,
        _ now: Moment,
        using random: inout Randomness
    ) -> Duration {
        let delay =
            retryAfter.map { RenewalPolicy.delay(afterBeingAsked: $0, using: &random) }
            ?? RenewalPolicy.backoff(afterFailures: failures + 1, left: left, using: &random)
        failed(after: delay, isDemanded: retryAfter != nil, now)
        return delay
    }

    func isDue(_ now: Moment) -> Bool { time.map { $0.uptime <= now.uptime } ?? false }

    /// Whether a caller with a good reason may pass the backoff.
    func mayTrySooner(_ now: Moment) -> Bool { !isDemanded && earliest(now) <= now.uptime }

    private func earliest(_ now: Moment) -> Uptime {
        lastTried.map { max($0 + spacing, now.uptime) } ?? now.uptime
    }

    /// The wall clock was set, or the machine resumed: the provider may be reachable again, and the time reads otherwise.
    mutating func clockJumped(_ now: Moment) {
        guard let time else { return }
        self.time = Time(isDemanded ? time.uptime : min(time.uptime, earliest(now)), now)
    }

    /// The network may have come back.
    mutating func hurry(_ now: Moment, using random: inout Randomness) {
        guard let time, !isDemanded else { return }
        let earliest = earliest(now)
        let spread = RenewalPolicy.hurrySpread(afterFailingSince: failingSince, now.uptime)
        guard time.uptime > earliest + spread.upperBound else { return }
        self.time = Time(earliest + random.uniform(in: spread), now)
    }
}
