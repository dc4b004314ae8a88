/// Every decision about the one session of this installation: events in, new state and effects out.
///
/// It has no clock, socket, file or network of its own, and never sees a secret: lifetimes and identifiers only. Each
/// event is a past-tense function that returns what is to be done. The parts of the story are in the extensions:
/// signing in, signing out, renewing, handing out tokens, writing.
package struct SessionMachine: Equatable, Sendable {
    /// The provider's name, written into each record.
    let provider: String
    let mode: RenewalMode
    /// How long one handler may take to answer.
    let patienceWithHandlers: Duration
    /// How long nobody is asked again after nobody could help.
    let postponement: Duration
    var storage: StorageReport
    var random: Randomness

    /// Where the installation stands, as far as it has been made durable (or durability was refused).
    var standing = Standing.signedOut
    /// The sign-in under way, if any: at most one.
    var exchange: Exchange?
    /// The identify call whose app is being asked for a credential, if any: at most one.
    var asking: Asking?
    /// Sign-ins and identify calls that wait for their turn, in order of arrival.
    var queue: [Entry] = []
    /// A sign-out whose tombstone is being written. From here on nobody is served.
    var leaving: [Leaver]?
    var renewal = Renewal()
    var tokenWaiters: [TokenWaiter] = []

    /// The session handlers, in the order in which they registered.
    var handlers: [HandlerID] = []
    /// The question that one of them is being asked: at most one.
    var inquiry: Inquiry?

    /// Sign-outs that the provider has not heard of, the oldest first.
    var revocations: [Revocation] = []
    /// The request by which it is being told of one: at most one.
    var telling: Telling?
    var lastRevocation: UInt64 = 0
    /// Requests that a sign-out overtook, and whose answer may still bring a session that nobody here wants; whose it is,
    /// where that is known before.
    var overtaken: [Attempt: Identity?] = [:]

    /// Writes handed out and not yet ended, in order.
    var writes: [PendingWrite] = []
    var rewrite = Rewrite()
    /// The highest generation ever assigned, and the edition of it that was written last.
    var generation: UInt64 = 0
    var edition: UInt32 = 0
    var lastAttempt: UInt64 = 0
    var lastTicket: UInt64 = 0

    /// - Parameters:
    ///   - patience: how long one handler may take to answer.
    ///   - postponement: how long nobody is asked again after nobody could help; never less than ten minutes.
    package init(
        provider: String,
        sealedWith: String,
        seed: UInt64,
        mode: RenewalMode = .automatic,
        patience: Duration = .seconds(60),
        postponement: Duration = RenewalPolicy.shortestPostponement
    ) {
        self.provider = provider
        self.mode = mode
        patienceWithHandlers = patience
        self.postponement = max(postponement, RenewalPolicy.shortestPostponement)
        storage = StorageReport(sealedWith: sealedWith)
        random = Randomness(seed: seed)
    }

    /// Who is signed in.
    enum Standing: Equatable, Sendable {
        case signedOut
        case configured(environment: String, region: String)
        case signedIn(Session)
        case terminated(Termination, Identity?)
        /// A record is there and cannot be read.
        case unreadable(Restoration.Unreadable)
    }

    /// The signed-in user, as stored, and what only this process knows.
    struct Session: Equatable, Sendable {
        var stored: StoredSession
        /// When the record that brought the token was written: a wall clock before that is wrong.
        var writtenAt: WallTime
        /// When this process obtained the token; unknown after a restart.
        var obtainedAt: Uptime?
        /// When the token ends by the clock that never steps; unknown after a restart.
        var endsAt: Uptime?
    }

    /// A sign-in or identify call that waits for its turn.
    struct Entry: Equatable, Sendable {
        var request: RequestID
        var wish: Wish
        var allowance: Allowance

        enum Wish: Equatable, Sendable {
            case signIn(CredentialFacts)
            case identify(String)
            /// The app has answered: the credential to identify with.
            case identifyWith(CredentialFacts, externalUserId: String)
        }
    }

    struct Asking: Equatable, Sendable {
        var request: RequestID
        var externalUserId: String
        var allowance: Allowance
    }

    struct Leaver: Equatable, Sendable {
        var request: RequestID
        var outcome: IdentifyOutcome?
    }

    // MARK: Events

    /// The store was read, once, before anything else.
    ///
    /// - Parameter durable: false when what was read survived elsewhere, and the disk has yet to take it.
    package mutating func restored(_ restoration: Restoration, durable: Bool = true, now: Moment) -> [Effect] {
        var effects: [Effect] = []
        if !durable {
            storage.durable = false
            rewrite = Rewrite(failures: 1, dueAt: now.uptime + RenewalPolicy.rewriteDelay(afterFailures: 1))
        }
        switch restoration {
        case .absent:
            standing = .signedOut
        case .restored(let record, _, let damaged):
            (generation, edition) = (record.generation, record.edition)
            storage.status = damaged == nil ? .ok : .damaged
            adopt(record.content, writtenAt: record.writtenAt, now)
            switch standing {
            case .signedIn, .configured: effects.append(.activate(generation: record.generation))
            case .signedOut, .terminated, .unreadable: break
            }
        case .unreadable(let unreadable):
            (generation, edition) = (unreadable.header?.generation ?? 0, unreadable.header?.edition ?? 0)
            storage.status = unreadable.status
            standing = .unreadable(unreadable)
        }
        return effects + settle(now)
    }

    private mutating func adopt(_ content: SessionRecord.Content, writtenAt: WallTime, _ now: Moment) {
        switch content {
        case .signedOut:
            standing = .signedOut
        case .configured(let environment, let region):
            standing = .configured(environment: environment, region: region)
        case .terminated(let termination, let identity):
            standing = .terminated(termination, identity)
        case .session(let stored):
            standing = .signedIn(Session(stored: stored, writtenAt: writtenAt))
            // Only a refresh token is worth a replay; what an app's server made is asked for again.
            renewal.replayAtOnce = stored.renewalUnderWay && !stored.renewalUsesAnswer
            if let until = stored.postponedUntil { resumePostponement(until, now) }
        }
    }

    /// A postponement outlives a restart, but never grows beyond what it was: the wall clock may have been set.
    private mutating func resumePostponement(_ until: WallTime, _ now: Moment) {
        let longest = postponement + RenewalPolicy.postponementSpread.upperBound
        let left = min(max(until - now.wall, .zero), longest)
        guard left > .zero else { return }
        renewal.postponedUntil = RetryTime(uptime: now.uptime + left, wall: now.wall + left)
    }

    /// The alarm rang: something may be due.
    package mutating func alarmRang(now: Moment) -> [Effect] {
        settle(now)
    }

    /// The wall clock was set, or the machine resumed from suspend. Nothing is reset; everything is looked at again.
    package mutating func clockJumped(now: Moment) -> [Effect] {
        renewal.hurry(now)
        return settle(now)
    }

    // MARK: What follows from every event

    /// Does whatever is due now, whichever event brought us here.
    mutating func settle(_ now: Moment) -> [Effect] {
        var effects = tendInquiry(now)
        effects += takeTurns(now)
        effects += renewIfDue(now)
        effects += serveWaiters(now)
        effects += tendRevocations(now)
        effects += rewriteIfDue(now)
        return effects
    }

    /// When something will be due by itself. `nil`: nothing, until somebody calls or the clock is set.
    package func nextAlarm(now: Moment) -> WallTime? {
        var times: [WallTime] = []
        if case .signedIn(let session) = standing, let token = session.stored.token, session.isAlive(now) {
            times.append(token.expiresAt)
            if let endsAt = session.endsAt { times.append(now.wall(at: endsAt)) }
        }
        if let due = renewalDue(now), due > now.wall || mayRenewNow { times.append(due) }
        if let asked = inquiry { times.append(now.wall(at: asked.deadline)) }
        if let due = rewrite.dueAt, writes.isEmpty, standing.content != nil { times.append(now.wall(at: due)) }
        if let due = revocationDue { times.append(now.wall(at: due)) }
        // A session without an end is looked at once a month: no timer takes a time thousands of years away for granted.
        return times.min().map { min($0, now.wall + RenewalPolicy.longestSleep) }
    }

    /// Who is signed in, if anybody.
    package var identity: Identity? {
        if case .signedIn(let session) = standing { session.stored.identity } else { nil }
    }

    /// The environment and region of an API key that is configured, with or without a user.
    package var configuredKey: (environment: String, region: String)? {
        switch standing {
        case .configured(let environment, let region):
            (environment, region)
        case .signedIn(let session) where session.stored.scheme == .apiKey:
            (session.stored.identity.environment ?? "", session.stored.identity.region ?? "")
        case .signedOut, .signedIn, .terminated, .unreadable:
            nil
        }
    }

    /// Whether something is under way whose outcome would be lost if the process ended now.
    ///
    /// A revocation that only waits for its next attempt is not: nothing would come of waiting with it.
    package var isBusy: Bool {
        let isAsking = if case .asking = renewal.activity { true } else { false }
        let isExchanging = exchange.map { !$0.needsHandler } ?? false
        return !writes.isEmpty || isExchanging || telling != nil || (renewal.activity != .idle && !isAsking)
    }

    private var mayRenewNow: Bool {
        if case .signedIn(let session) = standing { canBeginRenewal(session) } else { false }
    }

    mutating func nextAttempt() -> Attempt {
        lastAttempt += 1
        return Attempt(number: lastAttempt)
    }
}

extension SessionMachine.Session {
    /// Whether the token may be served: its end has not passed by either clock, and the wall clock is believable.
    func isAlive(_ now: Moment) -> Bool {
        guard let token = stored.token else { return false }
        if let endsAt, now.uptime >= endsAt { return false }
        return isTrustworthy(now) && now.wall < token.expiresAt
    }

    /// A wall clock before the record's own write time is wrong, and so is every lifetime read off it.
    func isTrustworthy(_ now: Moment) -> Bool {
        now.wall + RenewalPolicy.clockTolerance >= writtenAt
    }

    /// How long the token is good for; zero when it is dead.
    func validity(_ now: Moment) -> Duration {
        guard let token = stored.token, isAlive(now) else { return .zero }
        let byWall = token.expiresAt - now.wall
        guard let endsAt else { return byWall }
        return min(byWall, endsAt - now.uptime)
    }

    /// Whether it has a token that can be renewed without a new credential.
    var isRenewable: Bool { stored.token != nil && !stored.reauthenticationPending }

    /// Whether its token ends by itself, so that it has to be renewed before that.
    var hasEnd: Bool { stored.token.map { $0.expiresAt < .never } ?? false }
}
