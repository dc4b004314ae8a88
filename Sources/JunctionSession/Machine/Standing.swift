/// Who is signed in, as far as it has been made durable (or durability was refused).
///
/// A record is written from a standing and from nothing else, so what a record says and the secrets that are sealed with
/// it come from one value.
enum Standing: Hashable, Sendable {
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

    /// What is sealed beside the record.
    var secrets: SecretRef? {
        switch self {
        case .signedIn(let session): session.secrets
        case .configured(_, _, let key): key
        case .signedOut, .terminated, .unreadable: nil
        }
    }

    /// What a record of this standing holds; nothing while the present record cannot even be read.
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

extension Standing {
    /// Makes `next` stand; returns the session that stood before, if there was one.
    mutating func replace(with next: Standing) -> DepartedSession? {
        defer { self = next }
        return session.map { DepartedSession($0) }
    }
}

/// The signed-in user, as stored, the secrets that are theirs, and what only this process knows.
struct Session: Hashable, Sendable {
    var stored: StoredSession
    /// The secrets of this user and of nobody else: they came with the identity, in one grant or one record.
    private(set) var secrets: SecretRef
    /// When the newest record of the session was written, as far as a clock could be believed: one before that is wrong.
    private(set) var writtenAt: WallTime
    /// When its token is to be renewed, as the wall clock reads now; what is stored is what was drawn.
    private(set) var renewAt: WallTime?
    /// The same by the clock that never steps; unknown after a restart.
    private var renewsAt: Uptime?
    /// When this process obtained the token; unknown after a restart.
    private(set) var obtainedAt: Uptime?
    /// When the token ends by the clock that never steps; unknown after a restart.
    private(set) var endsAt: Uptime?
    /// When the first of the refusals without a reason came.
    private var refusedSince: Uptime?

    /// As a record had it, with the secrets that were sealed in that record.
    init(restored stored: StoredSession, secrets: SecretRef, writtenAt: WallTime, at now: Moment) {
        self.stored = stored
        self.secrets = secrets
        self.writtenAt = writtenAt
        renewAt = stored.renewAt
        guard isTrustworthy(now) else { return }
        refusedSince = stored.unexplainedRefusals.map { now.uptime + (.zero - max(now.wall - $0.firstAt, .zero)) }
        renewsAt = stored.renewAt.map { now.uptime + ($0 - now.wall) }
        if hasEnd { endsAt = stored.token.map { now.uptime + ($0.expiresAt - now.wall) } }
    }

    /// As a sign-in brought it.
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

    /// The same session with the refresh token that replaced its own in an answer without a usable access token. Its access
    /// token is served on while it lives, and no request with the new refresh token is under way.
    func succeeded(by secrets: SecretRef) -> Session {
        var next = self
        next.secrets = secrets
        // The provider has granted something: it did not mean its refusals.
        if next.stored.isReauthenticationPresumed { next.stored.reauthenticationPending = false }
        next.stored.unexplainedRefusals = nil
        next.refusedSince = nil
        next.stored.closeIntent()
        return next
    }

    /// The wall clock was set: the renewal stays where it is in the life of its token.
    mutating func clockJumped(_ now: Moment) {
        if let renewsAt { renewAt = min(now.wall(at: renewsAt), stored.renewAt ?? .never) }
        if let refusedSince { stored.unexplainedRefusals?.firstAt = now.wall(at: refusedSince) }
    }

    // MARK: Refusals without a reason

    /// A renewal was refused without a reason while the token was dead.
    ///
    /// | refusals | over | and then |
    /// |---|---|---|
    /// | fewer than three | | it counts as a transient failure |
    /// | three or more | less than ten minutes | the same |
    /// | three or more | ten minutes or more | reauthentication is required, and the session is tried once an hour |
    mutating func refusedWithoutReason(_ now: Moment) {
        let since = refusedSince ?? now.uptime
        let count = (stored.unexplainedRefusals?.count ?? 0) + 1
        refusedSince = since
        stored.unexplainedRefusals = UnexplainedRefusals(count: count, firstAt: now.wall(at: since))
        if count >= RenewalPolicy.believedRefusals, now.uptime - since >= RenewalPolicy.believedRefusalSpan {
            stored.reauthenticationPending = true
        }
    }

    /// The provider says in so many words that it wants a new credential.
    mutating func reauthenticationDemanded() {
        stored.reauthenticationPending = true
        stored.unexplainedRefusals = nil
        refusedSince = nil
    }

    /// Whether the token is dead for certain. By a wall clock that is wrong nobody knows.
    func isDead(_ now: Moment) -> Bool { lifeOfProof(now) <= .zero }

    // MARK: Life

    /// When the token may be served, if there is one.
    var window: ServableWindow? {
        stored.token.map {
            ServableWindow(believableFrom: believableFrom, until: $0.expiresAt, end: endsAt)
        }
    }

    /// Whether the token may be served.
    func isAlive(_ now: Moment) -> Bool { window?.contains(now) ?? false }

    /// A wall clock before the record's own write time is wrong, and so is every lifetime read off it.
    func isTrustworthy(_ now: Moment) -> Bool { now.wall >= believableFrom }

    /// The wall clock is believed from this time on.
    var believableFrom: WallTime { writtenAt + (.zero - RenewalPolicy.clockTolerance) }

    /// How long the token is good for; zero when it is dead.
    func validity(_ now: Moment) -> Duration {
        guard let token = stored.token, isAlive(now) else { return .zero }
        let byWall = token.expiresAt - now.wall
        guard let endsAt else { return byWall }
        return min(byWall, endsAt - now.uptime)
    }

    /// When the token ends by the wall clock, if nobody sets it: by whichever clock that is earlier.
    func end(_ now: Moment) -> WallTime? {
        guard let token = stored.token else { return nil }
        guard let endsAt else { return token.expiresAt }
        return min(token.expiresAt, now.wall(at: endsAt))
    }

    /// Whether its token ends by itself, so that it has to be renewed before that.
    var hasEnd: Bool { stored.token.map { $0.expiresAt < .never } ?? false }

    /// For how long the session's token can prove to the provider that it is its own user who signs out.
    func lifeOfProof(_ now: Moment) -> Duration {
        guard hasEnd else { return RenewalPolicy.longestRevocation }
        if isTrustworthy(now) { return validity(now) }
        // By a wall clock that is wrong, and after a restart, nobody knows; what the provider makes of the token decides.
        return endsAt.map { $0 - now.uptime } ?? RenewalPolicy.longestRevocation
    }
}

extension TokenFacts {
    /// The life on the wall clock as it reads now: a clock that was set since the request was sent changes no life.
    init(_ life: Life, generation: UInt64, _ now: Moment) {
        self.init(
            issuedAt: now.wall(at: life.start),
            expiresAt: life.end.map { now.wall(at: $0) } ?? .never,
            generation: generation
        )
    }
}
