/// What is stored of the session, without its secrets: one record holds all of it, so nothing can disagree.
package struct SessionRecord: Hashable, Sendable {
    /// Counts what the installation has held, and never restarts: a higher generation is always the newer truth.
    package var generation: UInt64
    /// Counts the rewrites of one generation (a note that a renewal is under way, a bound external id, …).
    package var edition: UInt32
    package var writtenAt: WallTime
    package var provider: String
    package var content: Content
    /// A sign-in that awaits approval, beside whatever stands.
    package var approval: StoredApproval?
    /// What sign-ins that are not complete have been granted; the secrets of each are sealed in the same order.
    package var partialGrants: [StoredPartialGrant]

    package enum Content: Hashable, Sendable {
        /// Nobody is signed in: the tombstone of a sign-out, honoured without the key.
        case signedOut
        /// A team API key without a user.
        case configured(environment: String, region: String)
        case session(StoredSession)
        case terminated(Termination, Identity?)
    }

    package init(
        generation: UInt64,
        edition: UInt32 = 0,
        writtenAt: WallTime,
        provider: String,
        content: Content,
        approval: StoredApproval? = nil,
        partialGrants: [StoredPartialGrant] = []
    ) {
        self.generation = generation
        self.edition = edition
        self.writtenAt = writtenAt
        self.provider = provider
        self.content = content
        self.approval = approval
        self.partialGrants = partialGrants
    }

    /// Whether this record is the newer truth of the two.
    package func supersedes(_ other: SessionRecord) -> Bool {
        (generation, edition) > (other.generation, other.edition)
    }
}

/// A sign-in that awaits approval, as stored; its codes are sealed beside it.
package struct StoredApproval: Hashable, Sendable {
    package var expiresAt: WallTime
    /// The pause between two polls.
    package var interval: Duration
    /// The provider wants no poll before this (`Retry-After`).
    package var notBefore: WallTime?
    /// The app's own name for the user who is to be signed in, where `identify` began it.
    package var externalUserId: ExternalUserId?
    /// The only user who may come of it, where one was wanted when the codes were requested.
    package var wanted: Identity?
    /// Who requested the codes; a record of an earlier release does not say it.
    package var caller: LocalCaller?

    package init(
        expiresAt: WallTime,
        interval: Duration,
        notBefore: WallTime? = nil,
        externalUserId: ExternalUserId? = nil,
        wanted: Identity? = nil,
        caller: LocalCaller? = nil
    ) {
        self.expiresAt = expiresAt
        self.interval = interval
        self.caller = caller
        self.notBefore = notBefore
        self.externalUserId = externalUserId
        self.wanted = wanted
    }
}

/// What a sign-in that is not complete has been granted, without its secrets.
package struct StoredPartialGrant: Hashable, Sendable {
    /// Until when the next try of its credential is waited for.
    package var expiresAt: WallTime
    /// It belongs to the sign-in that awaits approval, whose polls go on with it.
    package var isOfApproval: Bool

    package init(expiresAt: WallTime, isOfApproval: Bool) {
        self.expiresAt = expiresAt
        self.isOfApproval = isOfApproval
    }
}

/// One signed-in user, as stored.
package struct StoredSession: Hashable, Sendable {
    package var identity: Identity
    package var scheme: Scheme
    package var externalUserId: ExternalUserId?
    /// Absent with an API key.
    package var token: TokenFacts?
    /// When the token is to be renewed: drawn once per token, never again after a restart.
    package var renewAt: WallTime?
    /// A handler could not help: no renewal before this time.
    package var postponedUntil: WallTime?
    /// The last renewal failed, and none is made before this: the provider said so (`Retry-After`), or has refused for so long
    /// that one an hour is enough.
    package var demandedUntil: WallTime?
    /// The provider wants a new credential; a living token is still served.
    package var reauthenticationPending: Bool
    /// Refusals without a reason that the dead session has met. Beside `reauthenticationPending`: they alone are why a new
    /// credential is wanted.
    package var unexplainedRefusals: UnexplainedRefusals?
    /// The intent: a renewal of this generation was about to be sent, and may have reached the provider.
    package var renewalUnderWay: Bool
    /// The renewal under way uses what an app's server made, which only a handler can give again.
    package var renewalUsesAnswer: Bool

    package init(
        identity: Identity,
        scheme: Scheme,
        externalUserId: ExternalUserId? = nil,
        token: TokenFacts?,
        renewAt: WallTime? = nil,
        postponedUntil: WallTime? = nil,
        demandedUntil: WallTime? = nil,
        reauthenticationPending: Bool = false,
        unexplainedRefusals: UnexplainedRefusals? = nil,
        renewalUnderWay: Bool = false,
        renewalUsesAnswer: Bool = false
    ) {
        self.identity = identity
        self.scheme = scheme
        self.externalUserId = externalUserId
        self.token = token
        self.renewAt = renewAt
        self.postponedUntil = postponedUntil
        self.demandedUntil = demandedUntil
        self.reauthenticationPending = reauthenticationPending
        self.unexplainedRefusals = unexplainedRefusals
        self.renewalUnderWay = renewalUnderWay
        self.renewalUsesAnswer = renewalUsesAnswer
    }
}

extension StoredSession {
    /// Whether a new credential is wanted only because the provider has refused for long without a reason: the session is
    /// still tried, and a success heals it.
    package var isReauthenticationPresumed: Bool { reauthenticationPending && unexplainedRefusals != nil }
    /// Whether the provider itself has said that it wants a new credential.
    package var isReauthenticationDemanded: Bool { reauthenticationPending && unexplainedRefusals == nil }
}

/// Refusals without a reason: how many renewals met one while the token was dead, and when the first did.
package struct UnexplainedRefusals: Hashable, Sendable {
    package var count: Int
    package var firstAt: WallTime

    package init(count: Int, firstAt: WallTime) {
        self.count = count
        self.firstAt = firstAt
    }
}

/// An access token without the token: its life, and the generation that brought it.
package struct TokenFacts: Hashable, Sendable {
    package var issuedAt: WallTime
    package var expiresAt: WallTime
    package var generation: UInt64

    package init(issuedAt: WallTime, expiresAt: WallTime, generation: UInt64) {
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.generation = generation
    }

    package var life: Duration { expiresAt - issuedAt }
}

/// Why the provider ended the session, in its own words.
package struct Termination: Hashable, Sendable {
    /// The provider's code, as a string: `invalid_token`, `400312`, …
    package var code: String
    package var message: String
    package var at: WallTime

    package init(code: String, message: String, at: WallTime) {
        self.code = code
        self.message = message
        self.at = at
    }
}
