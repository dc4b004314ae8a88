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
    private var retry = Retry()

    private enum State: Hashable, Sendable {
        case idle
        case known
        case heldBack
        case trying
        case waiting
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
        retry.begin(now)
    }

    /// The try failed, and another one may not.
    mutating func failed(retryAfter: Duration?, _ now: Moment, using random: inout Randomness) {
        guard state == .trying else { return }
        _ = retry.failed(retryAfter: retryAfter, now, using: &random)
        state = .waiting
    }

    /// It is over, whatever came of it.
    mutating func end() { self = Enrolment() }

    /// Whether it is time for it again: a try begins with this, or one that was held back is looked at again.
    ///
    /// - Parameter isFree: nobody is signed in.
    mutating func wake(_ now: Moment, isFree: Bool) -> Bool {
        switch state {
        case .waiting where retry.isDue(now):
            attempt(now)
            return true
        case .heldBack where isFree:
            state = .known
            return true
        case .idle, .known, .heldBack, .trying, .waiting:
            return false
        }
    }

    mutating func clockJumped(_ now: Moment) { retry.clockJumped(now) }

    /// The network may have come back.
    mutating func hurry(_ now: Moment, using random: inout Randomness) { retry.hurry(now, using: &random) }

    var isIdle: Bool { state == .idle }

    var dueAt: Uptime? { state == .waiting ? retry.time?.uptime : nil }
}
