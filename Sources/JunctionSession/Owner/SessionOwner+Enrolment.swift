/// What becomes of a credential that the service manager passed on.
package enum EnrolmentNews: Equatable, Sendable {
    /// It is time for another try.
    case tryAgain
    /// There was a sign-out: it never signs in any more.
    case signedOut
}

/// Signing in with a credential that the service manager passed on.
extension SessionOwner {
    /// Such a credential is about to be tried; `news` is called on the owner's executor until it has ended.
    package func enrolmentBegan(news: @escaping @Sendable (EnrolmentNews) -> Void) {
        enrolling = news
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
