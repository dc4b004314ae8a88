/// Signing in with a credential that the service manager passed on: a sign-out ends it like everything before it.
extension SessionMachine {
    /// Such a credential is about to be tried, by a sign-in like any other. What is noted of it is not on disk yet.
    package mutating func enrolmentBegan(now: Moment) -> [Effect] {
        enrolment.begin(now)
        return settle(now)
    }

    /// The sign-in failed in a way that passes.
    package mutating func enrolmentFailed(retryAfter: Duration?, now: Moment) -> [Effect] {
        enrolment.failed(retryAfter: retryAfter, now, using: &random)
        return settle(now)
    }

    /// It has signed somebody in, never will, or is not wanted any more.
    package mutating func enrolmentEnded(now: Moment) -> [Effect] {
        enrolment.end()
        return settle(now)
    }

    mutating func enrol(_ now: Moment) -> [Effect] { enrolment.wake(now) ? [.enrol] : [] }

    /// A sign-out: what waits for its next try was received before it.
    mutating func dropEnrolment() -> [Effect] {
        guard !enrolment.isIdle else { return [] }
        enrolment.end()
        return [.dropEnrolment]
    }
}
