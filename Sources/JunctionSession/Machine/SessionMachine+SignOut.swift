/// Signing out: from any state, offline, before everything else that was received.
extension SessionMachine {
    /// A caller signs out.
    package mutating func signOutRequested(_ request: RequestID, now: Moment) -> [Effect] {
        leave(Leaver(request: request, outcome: nil), now)
    }

    /// Drops whatever is under way, refuses whoever waits, and writes the tombstone.
    mutating func leave(_ leaver: Leaver, _ now: Moment) -> [Effect] {
        let revocations = leaving == nil ? queueRevocations(now) : []
        var effects = revocations + dropEverything()
        if leaving != nil {
            leaving?.append(leaver)
            return effects
        }
        if standing == .signedOut, writes.isEmpty, !rewrite.isDue {
            effects.append(.reply(leaver.request, leaver.reply))
            return effects + settle(now)
        }
        leaving = [leaver]
        generation += 1
        edition = 0
        effects.append(.erase)
        effects += write(.signedOut, for: .signOut, now)
        return effects
    }

    private mutating func dropEverything() -> [Effect] {
        noteOvertaken()
        var effects = abandonRenewal()
        var overtaken = queue.map(\.request) + renewal.requesters + tokenWaiters.map(\.request)
        if let current = exchange {
            effects.append(.abandon(current.attempt))
            overtaken.append(current.request)
        }
        if let asked = asking { overtaken.append(asked.request) }
        queue = []
        exchange = nil
        asking = nil
        tokenWaiters = []
        renewal = Renewal()
        inquiry = nil
        effects += AnswerUse.allCases.map { .forgetAnswer(for: $0) }
        return effects + overtaken.map { .reply($0, .refused(.overtaken)) }
    }

    /// What has left for the provider may still be granted there.
    private mutating func noteOvertaken() {
        if let current = exchange, current.result == nil, !current.needsHandler {
            overtaken.updateValue(nil, forKey: current.attempt)
        }
        if case .inFlight(let attempt) = renewal.activity { overtaken.updateValue(identity, forKey: attempt) }
    }

    /// The tombstone is on disk, or the disk refused it: either way nobody is signed in.
    mutating func signedOut(durably: Bool) -> [Effect] {
        standing = .signedOut
        // Quarantined files stay reported until the next sign-in; a record that was only locked is gone.
        if durably, storage.status != .damaged { storage.status = .ok }
        defer { leaving = nil }
        return [.report(.signedOut)] + (leaving ?? []).map { .reply($0.request, $0.reply) }
    }
}

extension SessionMachine.Leaver {
    var reply: Reply {
        if let outcome { .identified(outcome) } else { .done }
    }
}
