/// Sign-outs, from any state and also offline. A sign-out ends every earlier request.
extension SessionMachine {
    /// Handles a sign-out request.
    ///
    /// - Parameter endsBootstrapCredential: whether a bootstrap credential ends, so that the sign-out is written even
    ///   if no user is signed in.
    package mutating func signOutRequested(
        _ request: RequestID,
        by uid: UInt32,
        endsBootstrapCredential: Bool = false,
        now: Moment
    ) -> [Effect] {
        signOut(request, .change, by: uid, endsBootstrapCredential, .done, now)
    }

    /// Drops what is under way, refuses the callers that wait, and writes the tombstone.
    mutating func signOut(
        _ request: RequestID,
        _ kind: Callers.Caller.Kind,
        by uid: UInt32,
        _ endsBootstrapCredential: Bool,
        _ answer: Answer,
        _ now: Moment
    ) -> [Effect] {
        let isWanted =
            installation != .signedOut || !persistence.isStored || signIn.device != nil || endsBootstrapCredential
            || persistence.holdsUnloadedSignIns
            // The quarantine has a record of a user.
            || persistence.storage.status == .damaged && persistence.obstacle == nil
        if !persistence.isSigningOut { revokeEverything(now) }
        let isWaited = isWanted || !grants.secrets.isEmpty
        let effects = dropEverything(now)
        callers.add(request, kind, by: uid, waitingFor: isWaited ? .signOut(answer) : .answer(.success(answer)))
        if isWaited, !persistence.isSigningOut {
            // From here on no caller is served. Memory holds only the secrets that the revocations need.
            persistence.begin(.signOut, .signedOut)
        }
        return effects + settle(now)
    }

    /// Returns the effects that resume the provider calls whose partial grant has not been written.
    private mutating func dropEverything(_ now: Moment) -> [Effect] {
        let (partialGrants, held) = grants.dropAll()
        for grant in partialGrants { revoke(grant, now) }
        if let exchange = signIn.exchange {
            // The provider may still grant a request that has left.
            if signIn.exchange(awaiting: exchange.attempt) != nil { revocations.overtake(exchange.attempt, of: nil) }
            signIn.end()
        }
        overtakeRenewal(of: installation.session?.identity)
        renewal.abandon()
        signIn.endDevice(because: nil)
        callers.overtake()
        return held.map { .resumeProviderCall($0, false) }
    }

    /// Completes a sign-out. The tombstone is on disk, or the disk has refused it.
    mutating func signedOut() -> [Effect] {
        callers.setWait { caller in
            if case .signOut(let answer) = caller.wait { .answer(.success(answer)) } else { nil }
        }
        return [.report(.signedOut)]
    }
}
