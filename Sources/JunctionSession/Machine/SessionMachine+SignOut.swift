/// Signing out: from any state, offline, before everything else that was received.
extension SessionMachine {
    /// A caller signs out.
    package mutating func signOutRequested(_ request: ChangeRequest, now: Moment) -> [Effect] {
        signOut(.signOut(request), now)
    }

    /// Drops whatever is under way, refuses whoever waits, and writes the tombstone.
    mutating func signOut(_ caller: SignOutCaller, _ now: Moment) -> [Effect] {
        // First: what is noted of it is on disk before the tombstone is.
        let wasWaiting = !enrolment.isIdle || approval.isRunning
        var effects = dropEnrolment()
        if !ledger.isSigningOut { effects += revokeEverything(now) }
        effects += dropEverything().map { .reply($0) }
        if ledger.isSigningOut {
            ledger.join(caller)
        } else if standing == .signedOut, ledger.isSettled, !wasWaiting {
            effects.append(.reply(caller.reply))
        } else {
            // From here on nobody is served, and nothing of the user is left in memory but what the provider is told with.
            ledger.begin(.signOut([caller])) { _ in .signedOut }
        }
        return effects + settle(now)
    }

    /// The replies that are owed to whoever was overtaken.
    private mutating func dropEverything() -> [Reply] {
        // What has left for the provider may still be granted there.
        if let exchange = signIn.exchange, signIn.isSent(exchange.attempt) {
            revocations.overtake(exchange.attempt, of: nil)
        }
        overtakeRenewal()
        rounds.drop(.renewal)
        rounds.drop(.signIn)
        var replies = signIn.dropAll(.overtaken)
        replies += approval.end().map { .identify($0, .failure(.overtaken)) }
        replies += renewal.abandon().map { .change($0, .overtaken) }
        replies += takeWaiters(refusing: .overtaken)
        for case .reply(let reply) in ledger.dropFollowers() { replies.append(reply.refused(.overtaken)) }
        if case .signIn(let origin)? = ledger.change?.kind { replies += origin.refused(.overtaken) }
        return replies
    }
}
