/// What becomes of a credential that the service manager passed on.
package enum EnrolmentNews: Equatable, Sendable {
    /// It is time for another try, or nobody is signed in any more.
    case tryAgain
    /// There was a sign-out: it never signs in any more.
    case signedOut
}

/// Signing in with a credential that the service manager passed on.
extension SessionOwner {
    /// Before every sign-out, `look` is called on the owner's executor: what is in place by then was received before it.
    package func lookBeforeSignOut(_ look: @escaping @Sendable () -> Void) {
        beforeSignOut = look
    }

    /// There is such a credential, which is not being tried, or not any more; `news` is called on the owner's executor until it has ended.
    package func enrolmentKnown(news: @escaping @Sendable (EnrolmentNews) -> Void) {
        enrolling = news
        let now = now
        apply(machine.enrolmentKnown(now: now), now)
    }

    /// Somebody is signed in, or about to be: `tryAgain` comes when nobody is.
    package func enrolmentHeldBack() {
        let now = now
        apply(machine.enrolmentHeldBack(now: now), now)
    }

    /// It is about to be tried.
    package func enrolmentBegan() {
        let now = now
        apply(machine.enrolmentBegan(now: now), now)
    }

    /// The sign-in failed in a way that passes: `tryAgain` comes when it is time.
    package func enrolmentFailed(retryAfter: Duration?) {
        let now = now
        apply(machine.enrolmentFailed(retryAfter: retryAfter, now: now), now)
    }

    /// It has signed somebody in, never will, or is not wanted any more.
    package func enrolmentEnded() {
        enrolling = nil
        let now = now
        apply(machine.enrolmentEnded(now: now), now)
    }
}
