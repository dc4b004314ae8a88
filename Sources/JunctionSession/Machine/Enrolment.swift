/// A credential that the service manager passed on, for a device that nobody sits at: when it is tried again.
///
/// | state | leaves it by | to |
/// |---|---|---|
/// | idle | a credential that is to be tried | trying |
/// | trying | a failure that passes | waiting |
/// | waiting | its time, a resume from suspend | trying |
/// | trying, waiting | its end, or a sign-out | idle |
///
/// The credential itself, and what is noted of it on disk, is the daemon's.
struct Enrolment: Hashable, Sendable {
    private var state = State.idle
    private var failures = 0
    private var lastTried: Uptime?

    private enum State: Hashable, Sendable {
        case idle
        case trying
        /// `demanded`: the provider itself said how long.
        case waiting(until: Uptime, demanded: Bool)
    }

    /// A credential is about to be tried.
    mutating func begin(_ now: Moment) {
        self = Enrolment()
        attempt(now)
    }

    private mutating func attempt(_ now: Moment) {
        state = .trying
        lastTried = now.uptime
    }

    /// The try failed, and another one may not.
    mutating func failed(retryAfter: Duration?, _ now: Moment, using random: inout Randomness) {
        guard state == .trying else { return }
        failures += 1
        let delay =
            retryAfter.map { RenewalPolicy.delay(afterBeingAsked: $0, using: &random) }
            ?? RenewalPolicy.backoff(afterFailures: failures, using: &random)
        state = .waiting(until: now.uptime + delay, demanded: retryAfter != nil)
    }

    /// It is over, whatever came of it.
    mutating func end() { self = Enrolment() }

    /// Whether the next try is due: it begins with this.
    mutating func wake(_ now: Moment) -> Bool {
        guard case .waiting(let until, _) = state, until <= now.uptime else { return false }
        attempt(now)
        return true
    }

    /// The wall clock was set, or the machine resumed: what it waits for may have come back. Once in ten seconds, and never
    /// before the provider wants to be asked again.
    mutating func clockJumped(_ now: Moment) {
        guard case .waiting(let until, demanded: false) = state, let lastTried,
            now.uptime - lastTried >= RenewalPolicy.attemptSpacing
        else { return }
        state = .waiting(until: min(until, now.uptime), demanded: false)
    }

    var isIdle: Bool { state == .idle }

    var dueAt: Uptime? {
        guard case .waiting(let until, _) = state else { return nil }
        return until
    }
}
