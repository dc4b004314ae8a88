import JunctionSession

/// The bootstrap credential. It is tried by a sign-in like any other, and a sign-out ends it.
///
/// No other file knows by which functions of the owner that is done.
extension Simulation {
    func bootstrap() {
        guard !snapshot.facts.flags.contains(.signedIn), bootstrapUser == nil, !keepsNothing else { return }
        (bootstrapUser, bootstrapRetry) = (Self.users[chance(2)], Retry())
        tryBootstrap()
    }

    /// A sign-out ends what is in place by then, and is told whether there was anything.
    func endBootstrapCredentials() -> Bool {
        guard bootstrapUser != nil else { return false }
        coverage.note(.bootstrapsEnded)
        bootstrapUser = nil
        return true
    }

    func tryBootstrap() {
        guard let user = bootstrapUser else { return }
        if snapshot.facts.flags.contains(.signedIn) { return bootstrapUser = nil }
        signIn(as: user, isBootstrap: true)
    }

    /// An attempt is over. One that failed in a way that passes is followed by another, as soon as the owner says.
    func endBootstrapTry(_ refusal: SessionError?) {
        guard bootstrapUser != nil else { return }
        guard let refusal, refusal.kind == .providerUnavailable else { return bootstrapUser = nil }
        let life = life!
        on { owner in
            owner.waitToRetry(after: bootstrapRetry, retryAfter: refusal.retryAfter) { [self] result in
                if !life.isOver { mayRetryBootstrap(result) }
            }
        }
    }

    private func mayRetryBootstrap(_ result: Result<Retry, SessionError>) {
        // A sign-out has ended the credential before it ends the wait.
        guard case .success(let retry) = result else {
            if bootstrapUser != nil { fail("the wait for another attempt ends, and the credential is in place") }
            return
        }
        guard bootstrapUser != nil else { return fail("a credential is tried that is used up") }
        coverage.note(.bootstrapRetries)
        bootstrapRetry = retry
        plan(.bootstrapIsDue, after: 0)
    }
}
