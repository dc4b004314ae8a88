/// Makes every decision about the session of this installation: it receives events, and returns effects.
///
/// The machine has no clock, socket, file or network. It sees lifetimes, identifiers and the names of secrets, never a
/// secret. Each event is a function in the past tense that returns effects. The machine consists of smaller machines.
/// Only this one changes who is signed in, and only it answers the callers of `Callers`
/// (`docs/session.md`).
package struct SessionMachine: Hashable, Sendable {
    /// The provider's name, which is written into each record.
    let provider: String
    let schemes: [Scheme: SchemeTraits]
    let rules: RenewalRules
    var random: Randomness

    /// Who is signed in. A state is in force when the disk has it or has refused it.
    var installation = InstallationState.signedOut
    var persistence: PersistenceQueue
    var signIn = SignIn()
    var grants = PartialGrants()
    var renewal = Renewal()
    var rounds = HandlerRounds()
    var revocations = Revocations()
    var checks = RegistrationChecks()
    var callers = Callers()
    /// The budget for calls of the session.
    var budget: CallBudget
    /// The budget for API calls.
    var apiBudget: CallBudget
    /// The generation with which this process signed the present user in. Zero if the user came from the record.
    private(set) var signedInSince: UInt64 = 0
    /// A verdict on the user that came during the write of a change. It applies if the session stays after the change.
    var verdictToCome: Verdict?
    private var lastAttempt: UInt64 = 0
    /// The reading of the clocks at the start or at the last step of the wall clock. Pauses are measured on the monotonic
    /// clock. Snapshots convert them with this reading, so a shown time changes only if its pause changes or the wall
    /// clock is set.
    private(set) var clockReading = Moment(wall: WallTime(milliseconds: 0), uptime: Uptime(milliseconds: 0))
    /// The steps of `settle`. Their order does not matter, and the simulation shuffles them.
    var ends = End.allCases
    var begins = Begin.allCases

    /// Creates a machine without a session.
    ///
    /// - Parameters:
    ///   - schemes: the properties of the provider's schemes.
    ///   - callsPerMinute: the number of provider calls for the session that one local user may cause in a minute.
    ///   - apiCallsPerMinute: the number of API calls, which have a budget of their own. Default: the same number.
    package init(
        provider: String,
        schemes: [Scheme: SchemeTraits],
        sealedWith: String,
        seed: UInt64,
        rules: RenewalRules = RenewalRules(),
        callsPerMinute: Int = .max,
        apiCallsPerMinute: Int? = nil
    ) {
        self.provider = provider
        self.schemes = schemes
        self.rules = rules
        persistence = PersistenceQueue(sealedWith: sealedWith)
        budget = CallBudget(callsPerMinute: callsPerMinute)
        apiBudget = CallBudget(callsPerMinute: apiCallsPerMinute ?? callsPerMinute)
        random = Randomness(seed: seed)
    }

    // MARK: Events

    /// Handles the content of the store, which the owner reads once, before all other events.
    ///
    /// - Parameters:
    ///   - secrets: the session's secrets in the record.
    ///   - codes: the codes of a device sign-in, if the record has one.
    ///   - mayManage: false if the caller that began the record's device sign-in has lost the right to it.
    ///   - partials: the partial grants of the record, in its order.
    ///   - durable: false if the record was found outside the disk and has yet to be written to it.
    package mutating func restored(
        _ restoration: Restoration,
        secrets: SecretRef,
        codes: SecretRef? = nil,
        callerMayManage mayManage: Bool = true,
        partialGrants partials: [SecretRef] = [],
        durable: Bool = true,
        now: Moment
    ) -> [Effect] {
        clockReading = now
        persistence.restored(restoration, for: provider, durable: durable, now: now)
        switch restoration {
        case .absent:
            installation = .signedOut
        case .restored(let record, _, _):
            restoreInstallation(from: record, secrets, now)
            // Codes and grants of another provider are of no use.
            guard record.provider == provider else { break }
            var device: DeviceFlow?
            if var stored = record.deviceSignIn, let codes {
                // Records of earlier releases name neither the wanted user nor the caller.
                if stored.caller == nil { stored.wanted = stored.wanted ?? wanted(as: stored.externalUserId) }
                device = DeviceFlow(resuming: stored, codes, writtenAt: record.writtenAt, at: now)
            }
            let grantEnd = grants.resume(
                record.partialGrants,
                partials,
                hasDeviceSignIn: device != nil,
                writtenAt: record.writtenAt,
                at: now
            )
            if let grantEnd { device?.awaitUser(until: grantEnd) }
            signIn.device = device
            if !mayManage { return endDeviceSignIn(.firstCallerLostRight, now) + settle(now) }
        case .unreadable(let unreadable):
            installation = .unreadable(unreadable)
        }
        return settle(now)
    }

    private mutating func restoreInstallation(from record: SessionRecord, _ secrets: SecretRef, _ now: Moment) {
        switch record.content {
        case .signedOut:
            installation = .signedOut
        case .configured(let environment, let region):
            installation = .configured(environment: environment, region: region, key: secrets)
        case .terminated(let termination, let identity):
            installation = .terminated(termination, identity)
        case .session(let stored):
            var session = Session(
                restored: stored,
                secrets: secrets,
                writtenAt: record.writtenAt,
                longestPostponement: rules.postponement,
                at: now
            )
            // A postponement belongs to the mode that asks handlers, and ends with that mode.
            if !asksApps(session) { session.postponementEnded() }
            if session.postponement != nil { rounds.restorePostponement() }
            installation = .signedIn(session)
            renewal = Renewal(resuming: session, at: now)
            if traits(of: stored.scheme).mayBeForgotten {
                // The provider may have forgotten the session while the daemon was stopped.
                checks.follow(secrets, after: RenewalPolicy.checkAfterStart, now, using: &random)
            }
        }
    }

    package mutating func alarmRang(now: Moment) -> [Effect] {
        settle(now)
    }

    /// Handles a network that may have returned, and shortens pauses.
    package mutating func networkChanged(now: Moment) -> [Effect] {
        renewal.shortenPause(now, using: &random)
        callers.updateRetries { $0.shortenPause(now, using: &random) }
        revocations.shortenPause(now, using: &random)
        signIn.device?.shortenPause(now, using: &random)
        return settle(now)
    }

    /// Handles a step of the wall clock or a resume from suspend. Wall-clock times are computed again, and nothing is
    /// reset.
    package mutating func clockJumped(now: Moment) -> [Effect] {
        let isSet = (persistence.bootTime ?? clockReading.bootTime) != now.bootTime
        clockReading = now
        renewal.clockJumped(now)
        callers.updateRetries { $0.clockJumped(now) }
        signIn.device?.clockJumped(now)
        installation.session?.clockJumped(now)
        // The record has the ends of pauses, codes and partial grants on the wall clock.
        let storesTimes =
            (installation.session?.storesPauses ?? false) || signIn.device != nil || !grants.secrets.isEmpty
        if isSet, storesTimes { updateRecord() }
        return settle(now)
    }

    /// Handles the end of a write. `failure` is the reason if it failed.
    package mutating func writeEnded(failure: StoreFailure?, now: Moment) -> [Effect] {
        let decided = persistence.ended(failed: failure != nil, now)
        let report = failure.map { [Effect.report(.writeFailed($0.message))] } ?? []
        return report + (decided.map { changed(by: $0, now) } ?? []) + settle(now)
    }

    /// Counts a write that does not end as refused.
    private mutating func giveUpOverdueWrite(_ now: Moment) -> [Effect] {
        guard let (decided, isNew) = persistence.giveUpOverdue(now) else { return [] }
        let report = isNew ? [Effect.report(.writeFailed(Self.overdue))] : []
        return report + (decided.map { changed(by: $0, now) } ?? [])
    }

    private static let overdue =
        "The disk has not finished writing the record after \(RenewalPolicy.longestWrite.components.seconds) s: look at the disk"

    /// Applies a change. It is on disk, or the disk has refused it.
    private mutating func changed(by change: PersistenceQueue.Change, _ now: Moment) -> [Effect] {
        let effects: [Effect]
        switch change.kind {
        case .signIn:
            signedInSince = change.generation
            effects = signedIn(insteadOf: installation.replace(with: change.outcome), now)
        case .withdrawal(let refusal):
            // A withdrawal keeps the present state, whose details may have changed since it began.
            effects = signInWithdrawn(refusal)
        case .rotation:
            installation.replace(with: change.outcome)?.dropped(because: .renewed)
            effects = rotated(now)
        case .ending(let termination):
            installation.replace(with: change.outcome)?.dropped(because: .endedByProvider)
            ended(termination, now)
            effects = []
        case .signOut:
            installation.replace(with: change.outcome)?.dropped(because: .signedOut)
            effects = signedOut()
        }
        applyVerdict(after: change, now)
        return effects
    }

    /// Requests a write of the present details. Nothing is written beside a record that cannot be read.
    @discardableResult
    mutating func updateRecord() -> PersistenceQueue.Update {
        afterChange.isUnreadable ? .none : persistence.update()
    }

    // MARK: After every event

    /// Ends what is over and begins what may begin, until nothing changes. Then it answers callers, begins revocations and
    /// writes changes.
    ///
    /// The order inside the two phases does not matter.
    mutating func settle(_ now: Moment) -> [Effect] {
        var effects: [Effect] = []
        var before: SessionMachine
        repeat {
            before = self
            for end in ends { effects += perform(end, now) }
            for begin in begins { effects += perform(begin, now) }
        } while self != before
        effects += answerCallers(now)
        effects += advanceRevocations(now)
        // A sign-in that takes effect ends a device sign-in, so its write does not include those codes.
        let device = persistence.isSigningIn ? nil : signIn.device
        // A wrong clock does not date a record: the write time of a session never decreases. The ends of pauses, codes
        // and grants are stored by that time. So the rest of each is known at a start.
        let writing = afterChange.session.map { now.notBefore($0.writtenAt) } ?? now
        let incomplete = PersistenceQueue.IncompleteSignIns(
            deviceSignIn: device?.stored(at: writing),
            codes: device?.codes,
            partialGrants: grants.stored(at: writing),
            grantSecrets: grants.secrets
        )
        return effects + persistence.advance(&installation, incomplete, provider: provider, at: writing, now)
    }

    /// What ends when its time is over.
    enum End: CaseIterable {
        case write, deviceSignIn, grants, questions, postponement
    }

    /// What begins as soon as it may.
    enum Begin: CaseIterable {
        case requestedRenewal, change, partialGrant, renewalAnswer, request, poll, signIn, renewal, renewalForCallers
        case registrationCheck
    }

    private mutating func perform(_ end: End, _ now: Moment) -> [Effect] {
        switch end {
        case .write: return giveUpOverdueWrite(now)
        case .deviceSignIn: return expireDeviceSignIn(now)
        case .grants:
            expireGrants(now)
            return []
        // A sign-in that is being written may make the questions pointless.
        case .questions: return persistence.isSigningIn ? [] : advanceRounds(now)
        case .postponement:
            endPostponement(now)
            return []
        }
    }

    private mutating func perform(_ begin: Begin, _ now: Moment) -> [Effect] {
        switch begin {
        case .requestedRenewal: beginRequestedRenewals(now)
        case .change: storeGranted(now)
        case .partialGrant: releasePartialGrants()
        case .renewalAnswer: useRenewalAnswer(now)
        case .request: sendRenewal(now)
        case .poll: poll(now)
        case .signIn: takeTurns(now)
        case .renewal: renewIfDue(now)
        case .renewalForCallers: renewForCallers(now)
        case .registrationCheck: checkRegistration(now)
        }
    }

    /// Returns the time at which something is due without an event. `nil` if only an event can change anything.
    package func nextAlarm(now: Moment) -> WallTime? {
        let revocation = revocations.dueAt(isHeld: isRevocationHeld, maySignIn)
        let questionsDue = persistence.isSigningIn ? nil : rounds.dueAt
        // During a sign-in, a caller's attempt waits for an event.
        let retryDue = state(now) == .establishing ? nil : callers.retryAt
        let due = [
            questionsDue, persistence.dueAt, revocation, retryDue, deviceDue(now), grants.endsAt(inFlight: inFlight),
            registrationCheckDue,
        ]
        var times = due.compactMap(\.self).map(now.wall(at:))
        if let session = installation.session, session.isServable(now), let end = session.end(now) { times.append(end) }
        if let session = installation.session, !session.isTrustworthy(now) { times.append(session.trustedFrom) }
        // While a change is being written, a due renewal waits for the end of the write and needs no alarm.
        if let session = installation.session, let due = renewal.due(session, now),
            due > now.uptime || (canBeginRenewal && persistence.change == nil)
        {
            times.append(now.wall(at: due))
        }
        // A new handler may be asked during a postponement, but not during a pause that the provider demands.
        if renewal.isPostponed, let end = installation.session?.demandedUntil(now) { times.append(now.wall(at: end)) }
        // The alarm is set for at most 30 days, because timers do not accept times thousands of years away.
        return times.min().map { min($0, now.wall + RenewalPolicy.longestSleep) }
    }

    // MARK: Queries

    /// The signed-in user. `nil` while a sign-out is being written.
    package var identity: Identity? { persistence.isSigningOut ? nil : installation.session?.identity }

    package var servedSecrets: SecretRef? { persistence.isSigningOut ? nil : installation.secrets }

    var servedGeneration: UInt64 { installation.session?.token?.generation ?? signedInSince }

    /// Every secret that a part of the machine still needs. The owner wipes all others.
    package var secretsInUse: Set<SecretRef> {
        var refs = Set(
            renewal.secrets + signIn.secrets + grants.secrets + callers.secrets + revocations.list.map(\.secrets)
        )
        if let servedSecrets { refs.insert(servedSecrets) }
        if let afterChange = afterChange.secrets { refs.insert(afterChange) }
        return refs
    }

    /// The installation state after the pending change.
    var afterChange: InstallationState { persistence.afterChange(installation) }

    /// The name of the configured API key, with or without a user.
    package var keyInUse: SecretRef? { configuredKey == nil ? nil : afterChange.secrets }

    /// The environment and region of the configured API key, with or without a user.
    package var configuredKey: (environment: String, region: String)? {
        switch afterChange {
        case .configured(let environment, let region, _):
            (environment, region)
        case .signedIn(let session) where session.scheme == .apiKey:
            (session.identity.environment ?? "", session.identity.region ?? "")
        case .signedOut, .signedIn, .terminated, .unreadable:
            nil
        }
    }

    /// Whether the end of the process would now lose an outcome. An overtaken request counts, because its session must
    /// be revoked. A revocation between two attempts does not count.
    package var isBusy: Bool {
        !persistence.isIdle || signIn.isBusy || renewal.isBusy || revocations.isRequestInFlight
            || !revocations.overtaken.isEmpty
    }

    /// Returns the properties of a scheme, or default ones if the provider does not have the scheme.
    func traits(of scheme: Scheme) -> SchemeTraits { schemes[scheme] ?? SchemeTraits() }

    mutating func nextAttempt() -> AttemptID {
        lastAttempt += 1
        return AttemptID(number: lastAttempt)
    }
}
