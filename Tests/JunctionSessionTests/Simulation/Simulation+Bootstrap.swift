import JunctionSession

/// The bootstrap credential. An ordinary sign-in tries it, and a sign-out ends it.
///
/// Only this file knows which functions of the owner are used for that.
extension Simulation {
    func bootstrap() {
        guard !snapshot.facts.flags.contains(.signedIn), bootstrapUser == nil, !keepsNothing else { return }
        (bootstrapUser, bootstrapRetry) = (Self.users[chance(2)], Retry())
        tryBootstrap()
    }

    /// Ends the bootstrap credential at a sign-out. Returns whether there was one.
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

    /// Handles the end of an attempt. After a transient failure the next one follows at the owner's time.
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
        // A sign-out ends the credential before it ends the wait.
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
