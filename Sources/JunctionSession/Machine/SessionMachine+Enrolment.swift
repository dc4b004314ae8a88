/// Signing in with a credential that the service manager passed on: a sign-out ends it like everything before it.
extension SessionMachine {
    /// There is such a credential: it is being looked up, or cannot be used as things are. A sign-out ends it.
    package mutating func enrolmentKnown(now: Moment) -> [Effect] {
        enrolment.know()
        return settle(now)
    }

    /// Somebody is signed in, or about to be: it is to be looked at again when nobody is.
    package mutating func enrolmentHeldBack(now: Moment) -> [Effect] {
        enrolment.holdBack()
        return settle(now)
    }

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

    /// Whoever is just being signed in may fail yet: that is waited for.
    mutating func enrol(_ now: Moment) -> [Effect] {
        guard !isEstablishing(now) else { return [] }
        return enrolment.wake(now, isFree: isFree) ? [.enrol] : []
    }

    /// When the next try is due by itself.
    func enrolmentDue(_ now: Moment) -> Uptime? { isEstablishing(now) ? nil : enrolment.dueAt }

    private func isEstablishing(_ now: Moment) -> Bool { state(now) == .establishing }

    private var isFree: Bool {
        switch standing {
        case .signedOut, .configured, .terminated: true
        case .signedIn, .unreadable: false
        }
    }

    /// A sign-out: a credential that is there was received before it, whether it is tried, waits, or is set aside.
    mutating func dropEnrolment() -> [Effect] {
        guard !enrolment.isIdle else { return [] }
        enrolment.end()
        return [.dropEnrolment]
    }
}
