/// A credential that the service manager passed on, for a device that nobody sits at: when it is tried again.
///
/// | state | leaves it by | to |
/// |---|---|---|
/// | idle | a credential that may sign in once | known |
/// | idle, known, waiting | it is to be tried | trying |
/// | known | somebody is signed in, or about to be | held back |
/// | trying | a failure that passes | waiting |
/// | waiting | its time, a resume from suspend, the network's return; nobody is about to be signed in | trying |
/// | held back | nobody is signed in any more, nor about to be | known |
/// | any | its end, or a sign-out | idle |
///
/// A credential is known for as long as it could ever sign in: also while it is looked up, and when it is set aside.
/// The credential itself, and what is noted of it on disk, is the daemon's.
struct Enrolment: Hashable, Sendable {
    private var state = State.idle
    private var failures = 0
    /// When the first of the tries began that have failed.
    private var failingSince: Uptime?
    private var lastTried: Uptime?

    private enum State: Hashable, Sendable {
        case idle
        case known
        case heldBack
        case trying
        /// `demanded`: the provider itself said how long.
        case waiting(until: Uptime, demanded: Bool)
    }

    /// There is a credential that is not being tried, and that a sign-out ends.
    mutating func know() { state = .known }

    /// It is to be looked at again when nobody is signed in.
    mutating func holdBack() { state = .heldBack }

    /// A credential is about to be tried: what came of an earlier one says nothing about it.
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
        failingSince = failingSince ?? lastTried
        let delay =
            retryAfter.map { RenewalPolicy.delay(afterBeingAsked: $0, using: &random) }
            ?? RenewalPolicy.backoff(afterFailures: failures, using: &random)
        state = .waiting(until: now.uptime + delay, demanded: retryAfter != nil)
    }

    /// It is over, whatever came of it.
    mutating func end() { self = Enrolment() }

    /// Whether it is time for it again: a try begins with this, or one that was held back is looked at again.
    ///
    /// - Parameter isFree: nobody is signed in.
    mutating func wake(_ now: Moment, isFree: Bool) -> Bool {
        switch state {
        case .waiting(let until, _) where until <= now.uptime:
            attempt(now)
            return true
        case .heldBack where isFree:
            state = .known
            return true
        case .idle, .known, .heldBack, .trying, .waiting:
            return false
        }
    }

    /// The wall clock was set, or the machine resumed: what it waits for may have come back. Once in ten seconds, and never
    /// before the provider wants to be asked again.
    mutating func clockJumped(_ now: Moment) {
        guard case .waiting(_, let isDemanded) = state, !isDemanded, let lastTried,
            now.uptime - lastTried >= RenewalPolicy.attemptSpacing
        else { return }
        state = .waiting(until: now.uptime, demanded: isDemanded)
    }

    /// The network may have come back: it is tried again soon, by the same rules as a renewal.
    mutating func hurry(_ now: Moment, using random: inout Randomness) {
        guard case .waiting(let until, demanded: false) = state else { return }
        let earliest = RenewalPolicy.hurried(after: lastTried, now.uptime)
        let spread = RenewalPolicy.hurrySpread(afterFailingSince: failingSince, now.uptime)
        guard until > earliest + spread.upperBound else { return }
        state = .waiting(until: earliest + random.uniform(in: spread), demanded: false)
    }

    var isIdle: Bool { state == .idle }

    var dueAt: Uptime? {
        guard case .waiting(let until, _) = state else { return nil }
        return until
    }
}
