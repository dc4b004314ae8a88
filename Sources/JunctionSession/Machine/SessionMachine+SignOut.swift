/// Signing out: from any state, offline, before everything else that was received.
extension SessionMachine {
    /// A caller signs out.
    package mutating func signOutRequested(_ request: ChangeRequest, now: Moment) -> [Effect] {
        signOut(.signOut(request), now)
    }

    /// Drops whatever is under way, refuses whoever waits, and writes the tombstone.
    mutating func signOut(_ caller: SignOutCaller, _ now: Moment) -> [Effect] {
        // First: what is noted of it is on disk before the tombstone is.
        let wasWaiting = !enrolment.isIdle || approval.isRunning || !partialGrants.items.isEmpty
        var effects = dropEnrolment()
        if !ledger.isSigningOut { effects += revokeEverything(now) }
        effects += dropEverything()
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

    /// What is owed to whoever was overtaken.
    private mutating func dropEverything() -> [Effect] {
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
        var effects = partialGrants.drop { _ in true }.map { Effect.giveBack($0) }
        for follower in ledger.dropFollowers() {
            switch follower {
            case .reply(let reply): replies.append(reply.refused(.overtaken))
            case .goOn(let attempt): effects.append(.goOn(attempt, false))
            case .awaited(let request, _): replies.append(.change(request, .overtaken))
            case .send: break
            }
        }
        if case .signIn(let origin)? = ledger.change?.kind { replies += origin.refused(.overtaken) }
        return effects + replies.map { .reply($0) }
    }
}
