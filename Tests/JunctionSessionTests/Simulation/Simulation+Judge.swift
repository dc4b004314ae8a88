@testable import JunctionSession

/// The invariants of the session, looked at after every step, and what must come of every history.
extension Simulation {
    mutating func check() throws(Broken) {
        try checkOwner()
        try checkReplay()
        try checkLosses()
        try checkShown()
        try checkRights()
        // Invariant 5: whatever callers and handlers do, requests are bounded.
        sends.removeAll { $0 < time - 600_000 }
        if sends.count > 160 { throw Broken(description: "\(sends.count) requests in ten minutes") }
        if machine.revocations.list.count > RenewalPolicy.mostRevocations {
            throw Broken(description: "the list of revocations grows without end")
        }
        // Invariant 9: whoever waits, waits for something.
        if !waiting.isEmpty, agenda.isEmpty, machine.nextAlarm(now: now) == nil {
            throw Broken(description: "\(waiting.count) callers wait, and nothing will ever happen")
        }
    }

    /// Invariant 8, in memory.
    private func checkOwner() throws(Broken) {
        guard let session = machine.standing.session, !machine.ledger.isSigningOut else { return }
        if shelf[session.secrets]?.owner != session.stored.identity.name {
            throw Broken(
                description:
                    "\(session.stored.identity.name) is signed in with \(String(describing: shelf[session.secrets]))"
            )
        }
    }

    private func checkShown() throws(Broken) {
        let facts = machine.facts(now: now)
        if facts.state == .terminated || facts.state == .notLoggedIn, facts.flags.contains(.signedIn) {
            throw Broken(description: "signedIn is shown while nobody is")
        }
        if let notBefore = facts.renewal.notBefore, notBefore <= now.wall {
            throw Broken(description: "\(facts.renewal.phase) is shown with a time in the past")
        }
        // A provider's Retry-After, with its spread, is an hour at the most.
        if facts.renewal.phase == .backingOff, let notBefore = facts.renewal.notBefore,
            notBefore - now.wall > .seconds(3_600)
        {
            throw Broken(description: "a retry waits for more than an hour")
        }
        if facts.storage.status == .damaged, machine.ledger.isSettled, !keepsNothing, let record = disk?.record,
            record.content == .signedOut, record.generation > restoredGeneration
        {
            throw Broken(description: "a sign-out is told as damaged although it has cleared the quarantine")
        }
    }

    // MARK: Replays

    /// The token whose outcome is unknown, if the session still lives on it.
    private func isStanding(_ token: Int) -> Bool {
        guard !machine.ledger.isSigningIn, !machine.ledger.isSigningOut, !machine.ledger.isEnding,
            let served = machine.servedSecrets
        else {
            return false
        }
        // While the daemon only presumes that a new credential is wanted, it goes on trying, and replays what is ambiguous.
        let isDemanded =
            machine.isReauthenticationPending && machine.standing.session?.stored.isReauthenticationPresumed != true
        return shelf[served]?.refresh == token && !isDemanded
    }

    mutating func noteAmbiguity(of call: Call) {
        coverage.note(.ambiguous)
        guard call.given == nil, let token = call.refresh else { return }
        noticed[token, default: []].append(time)
    }

    /// An ambiguous outcome is replayed within two seconds; a 503 to the first replay leaves room for one more.
    mutating func expectReplay(of call: Call, isAmbiguous: Bool) {
        guard scheme == .signInToken, call.given == nil, let token = call.refresh, isStanding(token) else { return }
        let recent = replayTimes.count { $0 > time - 600_000 }
        if isAmbiguous {
            let before = recent < 5 ? time + 2_001 : nil
            // An answer that is lost a second time: inside its grace the first request counts.
            let first = window.flatMap { $0.token == token && $0.sentAt + 16_000 > time ? $0.sentAt : nil }
            window = Window(token: token, sentAt: first ?? call.sentAt, replayBefore: before, isCapped: recent >= 5)
        } else if let current = window, current.token == token, current.replays > 0 {
            // The window stays also where the cap may hold the second one back: should it leave, it counts. A window that the cap
            // has kept closed is not opened by a failure that is not ambiguous, also when the cap is over meanwhile.
            let isDue = !current.isCapped && recent < 5 && time < current.sentAt + 16_000
            window?.replayBefore = isDue ? current.sentAt + 25_000 : nil
        } else {
            window = nil
        }
    }

    /// An open intent counts as a request that was sent when its record was written; the start sends it again.
    mutating func expectReplay(of record: SessionRecord, _ secret: Secret?) {
        guard case .session(let stored) = record.content, stored.renewalUnderWay, !stored.renewalUsesAnswer,
            let token = secret?.refresh
        else { return }
        window = Window(token: token, sentAt: time - max(now.wall - record.writtenAt, .zero).wholeMilliseconds)
    }

    private mutating func checkReplay() throws(Broken) {
        guard let current = window else { return }
        guard isStanding(current.token) else {
            window = nil
            return
        }
        if let before = current.replayBefore, time > before {
            throw Broken(description: "an unknown outcome is not replayed in time")
        }
    }

    /// An open intent is replayed at once, whatever else is stored.
    func checkReplayAtStart(_ record: SessionRecord) throws(Broken) {
        guard case .session(let stored) = record.content, stored.renewalUnderWay, !stored.renewalUsesAnswer,
            !stored.reauthenticationPending
        else { return }
        guard calls.values.contains(where: { $0.isRenewal && $0.given == nil }) else {
            throw Broken(description: "an open intent is not replayed at start")
        }
    }

    /// Invariant 3: given grace, a family is never revoked for what we did.
    private mutating func checkLosses() throws(Broken) {
        for loss in newLosses() {
            let grace = provider.grace.milliseconds
            if provider.grace == .none {
                coverage.note(.lossesWithoutGrace)
                continue
            }
            let span = loss.consumedAt...(loss.consumedAt + grace)
            let sends = sendsOfToken[loss.token] ?? []
            let wasAway = interruptions.contains { $0.overlaps(span) }
            // The world had its chance: a replay left in time, and came to nothing.
            let wasTried = sends.contains { $0 > span.lowerBound && $0 <= span.upperBound }
            let noticedAt = (noticed[loss.token] ?? []).first { $0 >= loss.consumedAt } ?? .max
            let wasNoticedLate = noticedAt > span.upperBound - 2_300
            let isCapped = replayTimes.count { $0 > loss.consumedAt - 600_000 && $0 <= loss.at } >= 5
            if givenUp.contains(loss.token) { continue }
            if hasLostMemory || wasAway || wasTried || wasNoticedLate || isCapped { continue }
            throw Broken(
                description: "a login is lost: the replay came \(loss.at - loss.consumedAt) ms after the rotation"
            )
        }
    }

    // MARK: Liveness

    /// Lets provider, disk and apps work again and the clock run: fresh, signed out, or an explicit verdict.
    mutating func heal() throws(Broken) {
        isHealed = true
        weather = .fine
        (diskIsFull, diskIsSlow) = (false, false)
        provider.deleted = []
        provider.demandsReauthentication = []
        if mode == .handler { try register() }
        let approved = try approve()
        for _ in 0..<300 {
            if isOver { break }
            try runWorld(until: time + 60_000)
        }
        guard isOver else {
            throw Broken(description: "the history does not end: \(machine.facts(now: now)), \(waiting.count) wait")
        }
        if let approved, machine.standing.session?.stored.identity.name != approved {
            throw Broken(description: "\(approved) has approved, and is not signed in")
        }
        try checkLogins()
        let kept = Set(machine.signIn.grantsInUse.compactMap { shelf[$0]?.granted?.refresh })
        if let lost = unnamedTokens.subtracting(kept).first {
            throw Broken(
                description: "the login with the refresh token \(lost) lives on at the provider, and nobody holds it"
            )
        }
        guard let token = machine.standing.session?.stored.token, !machine.isReauthenticationPending,
            token.life < .seconds(7_200), let served = machine.servedSecrets, let access = shelf[served]?.access,
            isLifeKnown(of: access)
        else { return }
        coverage.note(.freshEndings)
        let generation = token.generation
        try runWorld(until: time + token.life.wholeMilliseconds + 60_000)
        guard let session = machine.standing.session, session.isAlive(now) || machine.isReauthenticationPending else {
            throw Broken(description: "a session that nobody disturbs is not kept fresh")
        }
        if session.stored.token?.generation == generation, !machine.isReauthenticationPending {
            throw Broken(description: "a token outlived itself")
        }
    }

    /// No login lives on at the provider that nobody holds: whoever is replaced or signed out is told of. Only a process that
    /// ends forgets what it has yet to tell.
    private func checkLogins() throws(Broken) {
        guard provesForLong, restarts == 0, !hasGivenUp, coverage[.apiVerdicts] == 0 else { return }
        let told = Set(machine.revocations.list.map(\.identity.name))
        for (user, family) in logins where user != machine.standing.session?.stored.identity.name {
            if ended.contains(family) || provider.isRevoked(family) || told.contains(user) { continue }
            throw Broken(description: "the login \(family) of \(user) lives on at the provider, and nobody holds it")
        }
    }

    /// A person approves what is waited for: that comes to a session, if nobody stands in the way and there is time.
    private mutating func approve() throws(Broken) -> String? {
        guard let ref = machine.signIn.device?.codes, let code = shelf[ref]?.code else { return nil }
        // Whoever is wanted, also when the session has ended meanwhile.
        provider.decide(code, by: machine.signIn.device?.stored.wanted?.name ?? "alice")
        guard machine.standing.session == nil, !machine.callers.wantSignIn, machine.signIn.exchange == nil,
            machine.ledger.change == nil, enrolling == nil
        else { return nil }
        // The provider may want to be left alone for longer than its codes live.
        if let stored = machine.signIn.device?.stored, let until = stored.notBefore, until >= stored.expiresAt {
            return nil
        }
        // By a wall clock that was set nobody knows after a restart how much of a demanded pause is left.
        if machine.signIn.device?.stored.notBefore != nil, restarts > 0, lastStep > time - 3_600_000 { return nil }
        return provider.awaitsPoll(code, after: time + 120_000)
    }

    /// The clock that never steps knows the end; the wall clock may have been set between two lives of the process.
    func isLifeKnown(of access: Int) -> Bool {
        obtained[access].map { $0.restarts == restarts || lastStep < $0.at } ?? false
    }

    /// The provider has said that it wants a new credential. What is only presumed has to heal.
    private var isNewCredentialDemanded: Bool {
        guard let stored = machine.standing.session?.stored else { return false }
        return stored.reauthenticationPending && !stored.isReauthenticationPresumed
    }

    /// Whether everything has come to its end.
    private var isOver: Bool {
        guard waiting.isEmpty, write == nil, calls.isEmpty, unnamed.isEmpty, machine.ledger.storage.durable,
            !machine.isBusy
        else {
            return false
        }
        let facts = machine.facts(now: now)
        switch facts.state {
        case .notLoggedIn, .terminated: return true
        case .established: return facts.renewal.phase == .scheduled || isNewCredentialDemanded
        case .tokenExpired: return isNewCredentialDemanded
        case .establishing: return false
        }
    }
}
