/// The signed-in user, the name of the user's secrets, and the state of the token and its renewal.
///
/// Pauses run on the monotonic clock. Only the record has their ends on the wall clock (`stored(at:)`).
struct Session: Hashable, Sendable {
    private(set) var identity: Identity
    private(set) var scheme: Scheme
    /// The secrets, which came with the identity in one grant or one record.
    private(set) var secrets: SecretRef
    private(set) var externalUserId: ExternalUserId?
    /// `nil` with an API key.
    private(set) var token: TokenFacts?
    /// Whether the provider demands a new credential. A token that has not expired is still served.
    private(set) var reauthenticationPending = false
    /// The intent: a renewal was about to be sent, and may have reached the provider.
    private(set) var renewalUnderWay = false
    /// Whether a restart cannot send the request again, because it does not use a refresh token.
    private(set) var intentCannotBeResent = false
    /// The last postponement. It may be over.
    private(set) var postponement: Postponement?
    /// The write time of the session's newest record. A wall clock that reads earlier is wrong.
    private(set) var writtenAt: WallTime
    /// The time at which the token was obtained. `nil` if a restart could not trust the wall clock.
    private(set) var obtainedAt: Uptime?
    /// The end of the token on the monotonic clock. `nil` if a restart could not trust the wall clock.
    private(set) var endsAt: Uptime?
    /// The renewal time, which was drawn once for the token.
    private let drawnRenewalTime: WallTime?
    /// The renewal time on the monotonic clock. `nil` if a restart could not trust the wall clock.
    private var renewsAt: Uptime?
    /// The end of the pause that the provider has demanded, or of the hour after refusals without a reason. It holds
    /// until a grant or a demand for a new credential. Only refresh retries and `session.renew` may be sent earlier.
    private var pauseEnd: Uptime?
    private var unexplainedRefusals: Refusals?

    /// No handler could help, and none is asked before the end.
    struct Postponement: Hashable, Sendable {
        var until: Uptime
        /// Why no handler could help. Records of earlier releases do not have it.
        var reason: String?

        var words: String { reason ?? "no session handler could help" }
    }

    /// The renewals that were refused without a reason after the token had expired.
    private struct Refusals: Hashable {
        var count = 0
        let since: Uptime
    }

    /// Restores the session of a record.
    ///
    /// - Parameter longestPostponement: the setting. A longer rest of a postponement is shortened to it.
    init(
        restored stored: StoredSession,
        secrets: SecretRef,
        writtenAt: WallTime,
        longestPostponement: Duration,
        at now: Moment
    ) {
        identity = stored.identity
        scheme = stored.scheme
        self.secrets = secrets
        externalUserId = stored.externalUserId
        token = stored.token
        reauthenticationPending = stored.reauthenticationPending
        renewalUnderWay = stored.renewalUnderWay
        intentCannotBeResent = stored.intentCannotBeResent
        self.writtenAt = writtenAt
        drawnRenewalTime = stored.renewAt
        let reading = now.notBefore(writtenAt)
        if let stored = stored.postponement {
            let longest = longestPostponement + RenewalPolicy.postponementSpread.upperBound
            let left = min(max(stored.until - reading.wall, .zero), longest)
            postponement = Postponement(until: now.uptime + left, reason: stored.reason)
        }
        pauseEnd = stored.demandedUntil.flatMap { RenewalPolicy.endOfDemandedPause($0, reading) }
        unexplainedRefusals = stored.unexplainedRefusals.map {
            Refusals(count: $0.count, since: now.uptime + min($0.firstAt - reading.wall, .zero))
        }
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
        identity = granted.identity
        scheme = granted.scheme
        secrets = granted.secrets
        self.externalUserId = externalUserId
        token = granted.life.map { TokenFacts($0, generation: generation, now) }
        drawnRenewalTime = token.map { RenewalPolicy.renewalTime(of: $0, using: &random) }
        renewsAt = drawnRenewalTime.map { now.uptime + ($0 - now.wall) }
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
        var next = Session(granted, externalUserId: externalUserId, generation: generation, at: now, using: &random)
        (next.identity, next.scheme) = (identity, scheme)
        return next
    }

    /// Returns the session with the successor of its refresh token, which came without a usable access token. The
    /// daemon serves the old access token until it ends.
    func replacingRefreshToken(with secrets: SecretRef) -> Session {
        var next = self
        next.secrets = secrets
        // The provider has granted something, so its earlier refusals and pauses no longer count.
        (next.reauthenticationPending, next.unexplainedRefusals) = (false, nil)
        (next.postponement, next.pauseEnd) = (nil, nil)
        next.clearIntent()
        return next
    }

    mutating func bind(to externalUserId: ExternalUserId?) {
        self.externalUserId = externalUserId
    }

    // MARK: The record

    /// Returns the session for a record that is written at this moment.
    func stored(at writing: Moment) -> StoredSession {
        StoredSession(
            identity: identity,
            scheme: scheme,
            externalUserId: externalUserId,
            token: token,
            renewAt: drawnRenewalTime,
            postponement: postponement.map {
                StoredPostponement(until: writing.wall(at: $0.until), reason: $0.reason)
            },
            demandedUntil: pauseEnd.map(writing.wall(at:)),
            reauthenticationPending: reauthenticationPending,
            unexplainedRefusals: unexplainedRefusals.map {
                UnexplainedRefusals(count: $0.count, firstAt: writing.wall(at: $0.since))
            },
            renewalUnderWay: renewalUnderWay,
            intentCannotBeResent: intentCannotBeResent
        )
    }

    /// Whether its record has times that a step of the wall clock makes wrong.
    var storesPauses: Bool { postponement != nil || pauseEnd != nil || unexplainedRefusals != nil }

    mutating func wrote(at time: WallTime) {
        writtenAt = time
    }

    /// Handles a step of the wall clock.
    mutating func clockJumped(_ now: Moment) {
        guard endsAt == nil, hasEnd, isTrustworthy(now) else { return }
        endsAt = token.map { now.uptime + ($0.expiresAt - now.wall) }
    }

    // MARK: The renewal

    /// Records the intent to send a renewal. A demanded pause and a postponement stay in the record.
    ///
    /// - Parameter usesAnswer: whether it uses a secret from an app's server, which a restart cannot send again.
    mutating func renewalBegan(usesAnswer: Bool) {
        (renewalUnderWay, intentCannotBeResent) = (true, usesAnswer)
    }

    /// Clears the intent: the provider has answered, or no request was sent. A restart has no request to retry.
    mutating func clearIntent() {
        (renewalUnderWay, intentCannotBeResent) = (false, false)
    }

    mutating func postpone(until end: Uptime, after words: String) {
        postponement = Postponement(until: end, reason: words)
        clearIntent()
    }

    mutating func postponementEnded() {
        postponement = nil
    }

    /// Begins the pause that the provider demands. An earlier demand that ends later stays.
    mutating func pause(until end: Uptime) {
        pauseEnd = max(end, pauseEnd ?? end)
    }

    /// Returns the end of the pause that the provider demands, if it is in the future.
    func demandedUntil(_ now: Moment) -> Uptime? { pauseEnd.flatMap { $0 > now.uptime ? $0 : nil } }

    // MARK: Refusals

    /// Counts a renewal that was refused without a reason while the token was expired.
    mutating func refusedWithoutReason(_ now: Moment) {
        var refusals = unexplainedRefusals ?? Refusals(since: now.uptime)
        refusals.count += 1
        unexplainedRefusals = refusals
        let isLong = now.uptime - refusals.since >= RenewalPolicy.refusalSpanUntilReauthentication
        if isLong, refusals.count >= RenewalPolicy.refusalsUntilReauthentication { reauthenticationPending = true }
    }

    /// Records that the provider explicitly demands a new credential.
    mutating func reauthenticationDemanded() {
        reauthenticationPending = true
        (unexplainedRefusals, pauseEnd) = (nil, nil)
        clearIntent()
    }

    /// Whether a new credential is required only because the provider has refused for a long time without a reason. The
    /// daemon still tries, and a success clears the requirement.
    var isReauthenticationPresumed: Bool { reauthenticationPending && unexplainedRefusals != nil }

    /// Whether the provider itself has demanded a new credential.
    var isReauthenticationDemanded: Bool { reauthenticationPending && unexplainedRefusals == nil }

    // MARK: Lifetime

    /// The token, and the period in which it may be served.
    var servable: ServableToken? {
        token.map { ServableToken(facts: $0, trustedFrom: trustedFrom, end: endsAt) }
    }

    /// Whether the token may be served.
    func isServable(_ now: Moment) -> Bool { validity(now) > .zero }

    /// Whether the token has certainly expired. False if its end is unknown because a restart did not trust the clock.
    func hasCertainlyExpired(_ now: Moment) -> Bool { revocationWindow(now) <= .zero }

    /// Whether the wall clock can be trusted: it is not before the record's own write time.
    func isTrustworthy(_ now: Moment) -> Bool { now.wall >= trustedFrom }

    var trustedFrom: WallTime { writtenAt + (.zero - RenewalPolicy.clockTolerance) }

    /// The rest of the token's lifetime. Zero if the token has expired.
    func validity(_ now: Moment) -> Duration { servable?.remaining(now) ?? .zero }

    /// The renewal time, on the clock that reaches it first.
    func renewAt(_ now: Moment) -> WallTime? {
        guard let renewsAt, let drawnRenewalTime else { return drawnRenewalTime }
        return min(drawnRenewalTime, now.wall(at: renewsAt))
    }

    /// The end of the token, on the clock that reaches it first.
    func end(_ now: Moment) -> WallTime? {
        guard let token else { return nil }
        guard let endsAt else { return token.expiresAt }
        return min(token.expiresAt, now.wall(at: endsAt))
    }

    /// Whether the token has an end. Such a token must be renewed before its end.
    var hasEnd: Bool { token.map { $0.expiresAt < .never } ?? false }

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
