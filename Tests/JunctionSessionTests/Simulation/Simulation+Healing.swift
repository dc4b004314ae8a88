import JunctionSession

/// The required end of every history. Provider, disk and apps work again, and the session is renewed, signed out, or
/// ended by a verdict. No unused login stays valid at the provider.
extension Simulation {
    func heal() throws(Broken) {
        isHealed = true
        weather = .fine
        (diskIsFull, diskIsSlow) = (false, false)
        provider.deleted = []
        provider.demandsReauthentication = []
        if mode == .handler { register() }
        let approved = approve()
        for _ in 0..<300 where !isOver { try runWorld(until: time + 60_000) }
        let facts = snapshot.facts
        if !isOver { fail("the history does not end: \(facts), \(waiting.count) wait") }
        if let approved, model.held?.user != approved { fail("\(approved) has approved, and is not signed in") }
        try judgeLogins()
        try stop()
        guard let token = facts.accessToken, !facts.flags.contains(.pendingReauthentication),
            token.life < .seconds(7_200), let access = model.held?.access, isLifeKnown(of: access)
        else { return }
        coverage.note(.freshEndings)
        try runWorld(until: time + token.life.wholeMilliseconds + 60_000)
        let later = snapshot.facts
        if later.flags.contains(.pendingReauthentication) { return }
        if later.state != .established { fail("a session that nobody disturbs is not kept fresh") }
        if later.accessToken?.generation == token.generation { fail("a token outlived itself") }
        try stop()
    }

    /// Approves the pending device sign-in. Returns the user if the approval must lead to a session.
    private func approve() -> String? {
        guard let code = life.owner.assumeIsolated({ $0.codes })?.deviceCode.number else { return nil }
        // The wanted user approves, also if the session has ended meanwhile.
        let stored = disk?.record.deviceSignIn
        provider.decide(code, by: stored?.wanted?.userId ?? "alice")
        guard let stored, disk?.secrets.codes?.deviceCode.number == code, pendingWrite == nil, model.held == nil,
            model.granted == nil, bootstrapUser == nil, !waiting.values.contains(where: \.isSignIn),
            !calls.values.contains(where: \.isOfSignIn)
        else { return nil }
        // A wrong clock at the start may end the codes before the provider does.
        if stored.expiresAt - now.wall < .seconds(120) { return nil }
        // The provider may demand a pause that is longer than the lifetime of its codes.
        if let until = stored.notBefore, until >= stored.expiresAt { return nil }
        // If the wall clock was set, the rest of a demanded pause is unknown after a restart.
        if stored.notBefore != nil, restarts > 0, lastStep > time - 3_600_000 { return nil }
        // The disk may have refused the pause that the provider demands.
        let end = max(time, model.demanded[.poll(code)] ?? 0) + 120_000
        guard let user = provider.awaitsPoll(code, after: end) else { return nil }
        // Another user may have approved before, and is refused.
        return stored.wanted.map { $0.userId == user } ?? true ? user : nil
    }

    /// Whether all activity has ended.
    private var isOver: Bool {
        let facts = snapshot.facts
        guard waiting.isEmpty, pendingWrite == nil, calls.isEmpty, facts.storage.durable else { return false }
        switch facts.state {
        case .notLoggedIn, .terminated: return isQuiet
        case .established: return (facts.renewal.phase == .scheduled || model.isDemanded) && isQuiet
        case .tokenExpired: return model.isDemanded && isQuiet
        case .establishing: return false
        }
    }

    /// Whether nothing is under way whose outcome could be lost.
    private var isQuiet: Bool {
        isQuietNoticed = false
        life.owner.assumeIsolated { $0.whenQuiet { [self] in isQuietNoticed = true } }
        return isQuietNoticed
    }

    /// Checks that every valid login is on the disk, or is revoked within the next hours.
    private func judgeLogins() throws(Broken) {
        for _ in 0..<30 where lostLogin != nil { try runWorld(until: time + 60_000) }
        if let lostLogin { fail("the login \(lostLogin) lives on at the provider, and nobody holds it") }
    }

    private var lostLogin: Int? {
        let held = disk?.secrets.refreshToken?.number
        let kept = disk?.secrets.partialGrants.map(\.content.number) ?? []
        guard !model.hasGivenUp else { return nil }
        if let lost = model.unnamed.subtracting(kept).first { return provider.family(of: lost) }
        guard provesForLong else { return nil }
        for (user, family) in model.logins where user != model.held?.user {
            if !model.ended.contains(family), !provider.isRevoked(family) { return family }
        }
        // The session's own login is the latest one that was granted to its user.
        guard let user = model.held?.user, let family = model.logins[user], let held else { return nil }
        return provider.family(of: held) == family ? nil : family
    }
}
