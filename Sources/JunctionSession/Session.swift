/// The signed-in user as stored, the user's secrets, and state that only this process has.
struct Session: Hashable, Sendable {
    private(set) var stored: StoredSession
    /// The secrets, which came with the identity in one grant or one record.
    private(set) var secrets: SecretRef
    /// The write time of the session's newest record. A wall clock that reads earlier is wrong.
    private(set) var writtenAt: WallTime
    /// The renewal time on the monotonic clock. `nil` if a restart could not trust the wall clock.
    private var renewsAt: Uptime?
    /// The time at which the token was obtained. `nil` if a restart could not trust the wall clock.
    private(set) var obtainedAt: Uptime?
    /// The end of the token on the monotonic clock. `nil` if a restart could not trust the wall clock.
    private(set) var endsAt: Uptime?
    /// The time of the first refusal without a reason.
    private var refusedSince: Uptime?

    init(restored stored: StoredSession, secrets: SecretRef, writtenAt: WallTime, at now: Moment) {
        self.stored = stored
        self.secrets = secrets
        self.writtenAt = writtenAt
        refusedSince = stored.unexplainedRefusals.map { now.uptime + (.zero - max(now.wall - $0.firstAt, .zero)) }
        guard isTrustworthy(now) else { return }
        renewsAt = stored.renewAt.map { now.uptime + ($0 - now.wall) }
        if hasEnd { endsAt = stored.token.map { now.uptime + ($0.expiresAt - now.wall) } }
        obtainedAt = stored.token.map { now.uptime + min($0.issuedAt - now.wall, .zero) }
    }

    init(
        _ granted: Granted,
        externalUserId: ExternalUserId?,
        generation: UInt64,
        at now: Moment,
        using random: inout Randomness
    ) {
        let token = granted.life.map { TokenFacts($0, generation: generation, now) }
        stored = StoredSession(
            identity: granted.identity,
            scheme: granted.scheme,
            externalUserId: externalUserId,
            token: token,
            renewAt: token.map { RenewalPolicy.renewalTime(of: $0, using: &random) }
        )
        secrets = granted.secrets
        renewsAt = stored.renewAt.map { now.uptime + ($0 - now.wall) }
        writtenAt = now.wall
        obtainedAt = now.uptime
        endsAt = granted.life?.end
    }

    /// Returns the same user's session after a rotation.
    ///
    /// - Parameter scheme: the scheme of the session from now on.
    func renewed(
        _ granted: Granted,
        as scheme: Scheme,
        generation: UInt64,
        at now: Moment,
        using random: inout Randomness
    ) -> Session {
        var next = Session(
            granted,
            externalUserId: stored.externalUserId,
            generation: generation,
            at: now,
            using: &random
        )
        (next.stored.identity, next.stored.scheme) = (stored.identity, scheme)
        return next
    }

    /// Returns the session with the successor of its refresh token, which came without a usable access token. The
    /// daemon serves the old access token until it ends.
    func replacingRefreshToken(with secrets: SecretRef) -> Session {
        var next = self
        next.secrets = secrets
        // The provider has granted something, so its earlier refusals and pauses no longer count.
        (next.stored.reauthenticationPending, next.stored.unexplainedRefusals) = (false, nil)
        (next.stored.postponement, next.stored.demandedUntil) = (nil, nil)
        next.refusedSince = nil
        next.clearIntent()
        return next
    }

    mutating func wrote(at time: WallTime) {
        writtenAt = time
    }

    mutating func bind(to externalUserId: ExternalUserId?) {
        stored.externalUserId = externalUserId
    }

    /// Handles a step of the wall clock. Pauses keep their length.
    mutating func clockJumped(_ now: Moment, postponedUntil: WallTime?, demandedUntil: WallTime?) {
        if let postponedUntil { stored.postponement?.until = postponedUntil }
        stored.demandedUntil = demandedUntil
        if endsAt == nil, hasEnd, isTrustworthy(now) {
            endsAt = stored.token.map { now.uptime + ($0.expiresAt - now.wall) }
        }
        if let refusedSince { stored.unexplainedRefusals?.firstAt = now.wall(at: refusedSince) }
    }

    // MARK: The renewal

    /// Records the intent to send a renewal. A demanded pause and a postponement stay in the record.
    ///
    /// - Parameter usesAnswer: whether it uses a secret from an app's server, which a restart cannot send again.
    mutating func renewalBegan(usesAnswer: Bool) {
        (stored.renewalUnderWay, stored.intentUsesHandlerSecret) = (true, usesAnswer)
    }

    /// Clears the intent: the provider has answered, or no request was sent. A restart has no request to retry.
    mutating func clearIntent() {
        (stored.renewalUnderWay, stored.intentUsesHandlerSecret) = (false, false)
    }

    mutating func postponed(until time: WallTime, after words: String) {
        stored.postponement = StoredPostponement(until: time, reason: words)
        clearIntent()
    }

    mutating func postponementEnded() {
        stored.postponement = nil
    }

    mutating func delayed(until time: WallTime) {
        stored.demandedUntil = time
    }

    // MARK: Refusals without a reason

    /// Counts a renewal that was refused without a reason while the token was expired.
    mutating func refusedWithoutReason(_ now: Moment) {
        let since = refusedSince ?? now.uptime
        let count = (stored.unexplainedRefusals?.count ?? 0) + 1
        refusedSince = since
        stored.unexplainedRefusals = UnexplainedRefusals(count: count, firstAt: now.wall(at: since))
        if count >= RenewalPolicy.believedRefusals, now.uptime - since >= RenewalPolicy.believedRefusalSpan {
            stored.reauthenticationPending = true
        }
    }

    /// Records that the provider explicitly demands a new credential.
    mutating func reauthenticationDemanded() {
        stored.reauthenticationPending = true
        stored.unexplainedRefusals = nil
        refusedSince = nil
        clearIntent()
    }

    /// Whether the token has certainly expired. False if its end is unknown because a restart did not trust the clock.
    func hasCertainlyExpired(_ now: Moment) -> Bool { revocationWindow(now) <= .zero }

    // MARK: Lifetime

    /// The token, and the period in which it may be served.
    var servable: ServableToken? {
        stored.token.map { ServableToken(facts: $0, believableFrom: believableFrom, end: endsAt) }
    }

    /// Whether the token may be served.
    func isServable(_ now: Moment) -> Bool { validity(now) > .zero }

    /// Whether the wall clock can be trusted: it is not before the record's own write time.
    func isTrustworthy(_ now: Moment) -> Bool { now.wall >= believableFrom }

    var believableFrom: WallTime { writtenAt + (.zero - RenewalPolicy.clockTolerance) }

    /// The rest of the token's lifetime. Zero if the token has expired.
    func validity(_ now: Moment) -> Duration { servable?.remaining(now) ?? .zero }

    /// The renewal time, on the clock that reaches it first.
    func renewAt(_ now: Moment) -> WallTime? {
        guard let renewsAt, let drawn = stored.renewAt else { return stored.renewAt }
        return min(drawn, now.wall(at: renewsAt))
    }

    /// The end of the token, on the clock that reaches it first.
    func end(_ now: Moment) -> WallTime? {
        guard let token = stored.token else { return nil }
        guard let endsAt else { return token.expiresAt }
        return min(token.expiresAt, now.wall(at: endsAt))
    }

    /// Whether the token has an end. Such a token must be renewed before its end.
    var hasEnd: Bool { stored.token.map { $0.expiresAt < .never } ?? false }

    /// The time for which the session's token can authenticate the user's sign-out to the provider.
    func revocationWindow(_ now: Moment) -> Duration {
        guard hasEnd else { return RenewalPolicy.longestRevocation }
        if isTrustworthy(now) { return validity(now) }
        // After a restart with a wrong wall clock, the provider's answer to the token decides.
        return endsAt.map { $0 - now.uptime } ?? RenewalPolicy.longestRevocation
    }
}

extension TokenFacts {
    /// Creates the facts of a token whose lifetime is converted to the present wall clock.
    init(_ life: Life, generation: UInt64, _ now: Moment) {
        self.init(
            issuedAt: now.wall(at: life.start),
            expiresAt: life.end.map { now.wall(at: $0) } ?? .never,
            generation: generation
        )
    }
}
