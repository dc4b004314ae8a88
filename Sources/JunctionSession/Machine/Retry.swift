/// When something that has failed is tried again: the rules that renewals, polls, the service manager's credential, and
/// sign-outs that the provider has yet to hear of have in common. A write that failed counts by them, too.
///
/// | it waits | it is tried sooner |
/// |---|---|
/// | for as long as the provider has demanded | never |
/// | by the backoff | after a resume from suspend and when the clock was set, at once; when the network returns, soon |
///
/// An attempt that is made sooner comes `spacing` after the one before it, at the earliest.
package struct Retry: Hashable, Sendable {
    /// How often it has failed in a row.
    private(set) var failures = 0
    /// When it is tried again; nothing where nothing has failed, or an attempt is under way.
    private(set) var time: Time?
    /// The provider itself has said how long to wait.
    private(set) var isDemanded = false
    private(set) var lastTried: Uptime?
    /// Ten seconds, but where the provider says how far apart requests have to be.
    var spacing = RenewalPolicy.attemptSpacing
    /// When the first of the attempts began that have failed.
    private var failingSince: Uptime?

    /// A time by the clock that never steps, and how it reads on the wall clock.
    struct Time: Hashable, Sendable {
        var uptime: Uptime
        var wall: WallTime

        init(_ uptime: Uptime, _ now: Moment) {
            self.uptime = uptime
            wall = now.wall(at: uptime)
        }
    }

    package init() {}

    /// At once.
    init(_ now: Moment) {
        time = Time(now.uptime, now)
    }

    /// As the provider has demanded of the process before this one: nothing where that is over. The wall clock may have been
    /// set since: a pause never grows beyond what is believed.
    init?(demandedUntil end: WallTime, _ now: Moment) {
        guard end > now.wall else { return nil }
        time = Time(now.uptime + min(end - now.wall, RenewalPolicy.believableRetryAfter.upperBound), now)
        isDemanded = true
    }

    /// An attempt is made.
    mutating func begin(_ now: Moment) {
        (time, isDemanded, lastTried) = (nil, false, now.uptime)
    }

    /// It has succeeded, or is over: what failed counts no more. When the last attempt was made is still known.
    mutating func reset() {
        (failures, failingSince, time, isDemanded) = (0, nil, nil, false)
    }

    /// Nothing has failed, and the next attempt is made after this.
    mutating func wait(for delay: Duration, _ now: Moment) {
        reset()
        time = Time(now.uptime + delay, now)
    }

    /// The attempt has failed.
    mutating func failed(after delay: Duration, isDemanded: Bool = false, _ now: Moment) {
        failures += 1
        failingSince = failingSince ?? lastTried
        (time, self.isDemanded) = (Time(now.uptime + delay, now), isDemanded)
    }

    /// The attempt has failed: the next one is made when the provider wants it, or by the backoff.
    ///
    /// - Parameter left: what is left of the life of the token that is to be replaced.
    /// - Returns: how long that is.
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

    /// Whether its time has come.
    func isDue(_ now: Moment) -> Bool { time.map { $0.uptime <= now.uptime } ?? false }

    /// Whether somebody with a good reason may pass the backoff.
    func mayTrySooner(_ now: Moment) -> Bool { !isDemanded && earliest(now) <= now.uptime }

    private func earliest(_ now: Moment) -> Uptime {
        lastTried.map { max($0 + spacing, now.uptime) } ?? now.uptime
    }

    /// The wall clock was set, or the machine resumed: what the backoff waits for may have come back, and the time reads
    /// otherwise.
    mutating func clockJumped(_ now: Moment) {
        guard let time else { return }
        self.time = Time(isDemanded ? time.uptime : min(time.uptime, earliest(now)), now)
    }

    /// The network may have come back: a retry that waits for it waits no longer than a part of the time that it was missed.
    mutating func hurry(_ now: Moment, using random: inout Randomness) {
        guard let time, !isDemanded else { return }
        let earliest = earliest(now)
        let spread = RenewalPolicy.hurrySpread(afterFailingSince: failingSince, now.uptime)
        guard time.uptime > earliest + spread.upperBound else { return }
        self.time = Time(earliest + random.uniform(in: spread), now)
    }
}
