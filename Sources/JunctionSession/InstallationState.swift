/// Who is signed in, as far as the disk has it or has refused it.
///
/// A record is made of an installation state and of nothing else, so what it says and the secrets that are sealed with it come from one
/// value.
enum InstallationState: Hashable, Sendable {
    case signedOut
    /// A team API key without a user.
    case configured(environment: String, region: String, key: SecretRef?)
    case signedIn(Session)
    case terminated(Termination, Identity?)
    /// A record is there and cannot be read.
    case unreadable(Restoration.Unreadable)

    var session: Session? {
        if case .signedIn(let session) = self { session } else { nil }
    }

    /// The secrets that are sealed in its record.
    var secrets: SecretRef? {
        switch self {
        case .signedIn(let session): session.secrets
        case .configured(_, _, let key): key
        case .signedOut, .terminated, .unreadable: nil
        }
    }

    /// What a withdrawal writes: where the record could not be read, that nobody is signed in.
    var restorable: InstallationState { content == nil ? .signedOut : self }

    /// What its record holds; `nil` if the present record cannot be read.
    var content: SessionRecord.Content? {
        switch self {
        case .signedOut: .signedOut
        case .configured(let environment, let region, _): .configured(environment: environment, region: region)
        case .signedIn(let session): .session(session.stored)
        case .terminated(let termination, let identity): .terminated(termination, identity)
        case .unreadable: nil
        }
    }
}

/// A session that stands no more. It can be revoked, or dropped with a reason, and has no other use.
struct DepartedSession: ~Copyable {
    private let session: Session

    /// Why the provider is not told that a session is over.
    enum Reason {
        /// The session goes on, with new tokens.
        case renewed
        /// The same user has signed in again. A provider may know one session a user and device: revoking the old one could end
        /// the new one.
        case sameUserSignedIn
        /// The provider has ended it.
        case endedByProvider
        /// The sign-out has already passed it to the revocations.
        case signedOut
    }

    fileprivate init(_ session: Session) {
        self.session = session
    }

    var identity: Identity { session.stored.identity }

    consuming func revoked(_ revoke: (Session) -> [Effect]) -> [Effect] { revoke(session) }

    consuming func dropped(because reason: Reason) -> [Effect] { [] }
}

extension InstallationState {
    /// Makes `next` stand; returns the session that stood before, if there was one.
    mutating func replace(with next: InstallationState) -> DepartedSession? {
        defer { self = next }
        return session.map { DepartedSession($0) }
    }
}

/// The signed-in user as stored, the user's secrets, and what only this process knows.
struct Session: Hashable, Sendable {
    private(set) var stored: StoredSession
    /// They came with the identity, in one grant or one record.
    private(set) var secrets: SecretRef
    /// When the newest record of the session was written. A wall clock that reads earlier is wrong.
    private(set) var writtenAt: WallTime
    /// The renewal time as the wall clock reads now; the record keeps what was drawn.
    private(set) var renewAt: WallTime?
    /// The same by the monotonic clock.
    private var renewsAt: Uptime?
    /// When the token was obtained; `nil` if a restart could not believe the wall clock.
    private(set) var obtainedAt: Uptime?
    /// When the token ends by the monotonic clock; `nil` if a restart could not believe the wall clock.
    private(set) var endsAt: Uptime?
    /// When the first refusal without a reason came.
    private var refusedSince: Uptime?

    /// A record's session, with the secrets that were sealed in that record.
    init(restored stored: StoredSession, secrets: SecretRef, writtenAt: WallTime, at now: Moment) {
        self.stored = stored
        self.secrets = secrets
        self.writtenAt = writtenAt
        renewAt = stored.renewAt
        guard isTrustworthy(now) else { return }
        refusedSince = stored.unexplainedRefusals.map { now.uptime + (.zero - max(now.wall - $0.firstAt, .zero)) }
        renewsAt = stored.renewAt.map { now.uptime + ($0 - now.wall) }
        if hasEnd { endsAt = stored.token.map { now.uptime + ($0.expiresAt - now.wall) } }
        obtainedAt = stored.token.map { now.uptime + min($0.issuedAt - now.wall, .zero) }
    }

    /// A session that was granted.
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
        renewAt = stored.renewAt
        renewsAt = stored.renewAt.map { now.uptime + ($0 - now.wall) }
        writtenAt = now.wall
        obtainedAt = now.uptime
        endsAt = granted.life?.end
    }

    /// The same user's session, one rotation on.
    func renewed(_ granted: Granted, generation: UInt64, at now: Moment, using random: inout Randomness) -> Session {
        var next = Session(
            granted,
            externalUserId: stored.externalUserId,
            generation: generation,
            at: now,
            using: &random
        )
        (next.stored.identity, next.stored.scheme) = (stored.identity, stored.scheme)
        return next
    }

    /// The same session with the successor of its refresh token, which came without a usable access token. The old access token
    /// is served while it lives.
    func succeeded(by secrets: SecretRef) -> Session {
        var next = self
        next.secrets = secrets
        // The provider has granted something, so what it refused before counts no more.
        (next.stored.reauthenticationPending, next.stored.unexplainedRefusals) = (false, nil)
        next.stored.postponedUntil = nil
        next.refusedSince = nil
        next.renewalAnswered()
        return next
    }

    /// The same session under an app's own name for the user.
    func bound(to externalUserId: ExternalUserId?) -> Session {
        var next = self
        next.stored.externalUserId = externalUserId
        return next
    }

    /// The wall clock was set: the renewal keeps its place in the life of the token, and pauses keep their length.
    mutating func clockJumped(_ now: Moment, postponedUntil: WallTime?, demandedUntil: WallTime?) {
        if let postponedUntil { stored.postponedUntil = postponedUntil }
        stored.demandedUntil = demandedUntil
        if let renewsAt { renewAt = min(now.wall(at: renewsAt), stored.renewAt ?? .never) }
        if endsAt == nil, hasEnd, isTrustworthy(now) {
            endsAt = stored.token.map { now.uptime + ($0.expiresAt - now.wall) }
        }
        if let refusedSince { stored.unexplainedRefusals?.firstAt = now.wall(at: refusedSince) }
    }

    // MARK: The renewal

    /// A renewal is about to be sent.
    ///
    /// A postponement and a demanded pause stay in the record until a grant.
    ///
    /// - Parameters:
    ///   - usesAnswer: it uses what an app's server made, which a restart cannot send again.
    ///   - isRefreshRetry: it sends the same refresh token again.
    /// - Returns: whether the record has to be written: it does not have this intent yet.
    mutating func renewalBegan(usesAnswer: Bool, isRefreshRetry: Bool) -> Bool {
        let isKnown = isRefreshRetry && stored.renewalUnderWay && !stored.renewalUsesAnswer
        (stored.renewalUnderWay, stored.renewalUsesAnswer) = (true, usesAnswer)
        return !isKnown
    }

    /// The provider has answered: a restart has nothing to replay.
    mutating func renewalAnswered() {
        (stored.renewalUnderWay, stored.renewalUsesAnswer) = (false, false)
    }

    /// No handler could help: none is asked before this, over a restart too.
    mutating func postponed(until time: WallTime) {
        (stored.postponedUntil, stored.demandedUntil) = (time, nil)
        renewalAnswered()
    }

    mutating func postponementEnded() {
        stored.postponedUntil = nil
    }

    /// The provider wants no request before this, over a restart either.
    mutating func delayed(until time: WallTime) {
        stored.demandedUntil = time
    }

    // MARK: Refusals without a reason

    /// A renewal was refused without a reason while the token was dead.
    ///
    /// After three of them over at least ten minutes reauthentication is required, and the session is tried once an hour.
    /// Before that each counts as a transient failure.
    mutating func refusedWithoutReason(_ now: Moment) {
        let since = refusedSince ?? now.uptime
        let count = (stored.unexplainedRefusals?.count ?? 0) + 1
        refusedSince = since
        stored.unexplainedRefusals = UnexplainedRefusals(count: count, firstAt: now.wall(at: since))
        if count >= RenewalPolicy.believedRefusals, now.uptime - since >= RenewalPolicy.believedRefusalSpan {
            stored.reauthenticationPending = true
        }
    }

    /// The provider says explicitly that it wants a new credential.
    mutating func reauthenticationDemanded() {
        stored.reauthenticationPending = true
        stored.unexplainedRefusals = nil
        refusedSince = nil
        renewalAnswered()
    }

    /// Whether the token is certainly dead. With a wrong wall clock that is not known.
    func isDead(_ now: Moment) -> Bool { lifeOfProof(now) <= .zero }

    // MARK: Life

    /// When the token may be served, if there is one.
    var window: ServableWindow? {
        stored.token.map {
            ServableWindow(believableFrom: believableFrom, until: $0.expiresAt, end: endsAt)
        }
    }

    /// Whether the token may be served.
    func isAlive(_ now: Moment) -> Bool { validity(now) > .zero }

    /// Whether the wall clock can be believed: it is not before the record's own write time.
    func isTrustworthy(_ now: Moment) -> Bool { now.wall >= believableFrom }

    /// From when on the wall clock is believed.
    var believableFrom: WallTime { writtenAt + (.zero - RenewalPolicy.clockTolerance) }

    /// What is left of the token's life; zero when it is dead.
    func validity(_ now: Moment) -> Duration { window?.remaining(now) ?? .zero }

    /// When the token ends, by the clock that says so first.
    func end(_ now: Moment) -> WallTime? {
        guard let token = stored.token else { return nil }
        guard let endsAt else { return token.expiresAt }
        return min(token.expiresAt, now.wall(at: endsAt))
    }

    /// Whether its token has an end, before which it has to be renewed.
    var hasEnd: Bool { stored.token.map { $0.expiresAt < .never } ?? false }

    /// How long the session's token can prove to the provider that its own user signs out.
    func lifeOfProof(_ now: Moment) -> Duration {
        guard hasEnd else { return RenewalPolicy.longestRevocation }
        if isTrustworthy(now) { return validity(now) }
        // With a wrong wall clock after a restart the provider's answer to the token decides.
        return endsAt.map { $0 - now.uptime } ?? RenewalPolicy.longestRevocation
    }
}

extension TokenFacts {
    /// A life as it reads on the wall clock now.
    init(_ life: Life, generation: UInt64, _ now: Moment) {
        self.init(
            issuedAt: now.wall(at: life.start),
            expiresAt: life.end.map { now.wall(at: $0) } ?? .never,
            generation: generation
        )
    }
}
