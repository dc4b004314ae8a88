/// The stored session without its secrets. One record holds everything, so its parts are always consistent.
package struct SessionRecord: Hashable, Sendable {
    /// Counts the states of the installation and never restarts. The record with the higher generation is the newer
    /// one.
    package var generation: UInt64
    /// Counts the rewrites of one generation (an intent, an app's name for the user, …).
    package var edition: UInt32
    package var writtenAt: WallTime
    package var provider: String
    package var content: Content
    package var deviceSignIn: StoredDeviceSignIn?
    /// The grants of incomplete sign-ins and renewals. The secrets are sealed in the same order.
    package var partialGrants: [StoredPartialGrant]
    /// Whether the stored record may hold sign-ins that the store did not read, because its key or its installation is
    /// another one. Not stored.
    package var mayHoldUnreadSignIns = false

    /// Whether the record has incomplete sign-ins or renewals.
    package var hasSignIns: Bool { deviceSignIn != nil || !partialGrants.isEmpty }

    package enum Content: Hashable, Sendable {
        /// No user is signed in. This tombstone of a sign-out is valid without the key.
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
        deviceSignIn: StoredDeviceSignIn? = nil,
        partialGrants: [StoredPartialGrant] = []
    ) {
        self.generation = generation
        self.edition = edition
        self.writtenAt = writtenAt
        self.provider = provider
        self.content = content
        self.deviceSignIn = deviceSignIn
        self.partialGrants = partialGrants
    }

    package func supersedes(_ other: SessionRecord) -> Bool {
        (generation, edition) > (other.generation, other.edition)
    }
}

/// A pending device sign-in as stored. Its codes are sealed in the same record.
package struct StoredDeviceSignIn: Hashable, Sendable {
    package var expiresAt: WallTime
    package var interval: Duration
    /// The earliest next poll that the provider allows (`Retry-After`).
    package var notBefore: WallTime?
    /// The app's own name for the wanted user, if `identify` began the sign-in.
    package var externalUserId: ExternalUserId?
    /// The only user who may sign in, if one was fixed when the codes were requested.
    package var wanted: Identity?
    /// The caller that requested the codes. Records of earlier releases do not have it.
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

/// The grant of an incomplete sign-in or renewal, without its secrets.
package struct StoredPartialGrant: Hashable, Sendable {
    /// The time until which the grant waits for the next attempt with its credential.
    package var expiresAt: WallTime
    package var purpose: Purpose

    /// What the grant will complete. The grant ends with it.
    package enum Purpose: Hashable, Sendable {
        case signIn, deviceSignIn, renewal
    }

    package init(expiresAt: WallTime, purpose: Purpose) {
        self.expiresAt = expiresAt
        self.purpose = purpose
    }
}

/// One signed-in user, as stored.
package struct StoredSession: Hashable, Sendable {
    package var identity: Identity
    package var scheme: Scheme
    package var externalUserId: ExternalUserId?
    /// `nil` with an API key.
    package var token: TokenFacts?
    /// The renewal time. It is drawn once per token, and not again after a restart.
    package var renewAt: WallTime?
    package var postponement: StoredPostponement?
    /// The earliest next renewal after a failure. The provider has set it (`Retry-After`), or has refused for so long
    /// that the daemon tries once an hour.
    package var demandedUntil: WallTime?
    /// Whether the provider demands a new credential. A token that has not expired is still served.
    package var reauthenticationPending: Bool
    /// The refusals without a reason after the token had expired. With `reauthenticationPending`, they alone are its
    /// cause.
    package var unexplainedRefusals: UnexplainedRefusals?
    /// The intent: a renewal of this generation was about to be sent, and may have reached the provider.
    package var renewalUnderWay: Bool
    /// Whether a restart cannot send the request again, because it does not use a refresh token.
    package var intentCannotBeResent: Bool

    package init(
        identity: Identity,
        scheme: Scheme,
        externalUserId: ExternalUserId? = nil,
        token: TokenFacts?,
        renewAt: WallTime? = nil,
        postponement: StoredPostponement? = nil,
        demandedUntil: WallTime? = nil,
        reauthenticationPending: Bool = false,
        unexplainedRefusals: UnexplainedRefusals? = nil,
        renewalUnderWay: Bool = false,
        intentCannotBeResent: Bool = false
    ) {
        self.identity = identity
        self.scheme = scheme
        self.externalUserId = externalUserId
        self.token = token
        self.renewAt = renewAt
        self.postponement = postponement
        self.demandedUntil = demandedUntil
        self.reauthenticationPending = reauthenticationPending
        self.unexplainedRefusals = unexplainedRefusals
        self.renewalUnderWay = renewalUnderWay
        self.intentCannotBeResent = intentCannotBeResent
    }
}

/// A postponement: no handler could help, and none is asked before its end.
package struct StoredPostponement: Hashable, Sendable {
    package var until: WallTime
    /// Why no handler could help, in at most 300 characters, so that the record stays small. Records of earlier
    /// releases do not have it.
    package let reason: String?

    package init(until: WallTime, reason: String? = nil) {
        self.until = until
        self.reason = reason.map { String($0.prefix(300)) }
    }
}

/// Refusals without a reason: the number of renewals that were refused after the token had expired, and the time of the
/// first.
package struct UnexplainedRefusals: Hashable, Sendable {
    package var count: Int
    package var firstAt: WallTime

    package init(count: Int, firstAt: WallTime) {
        self.count = count
        self.firstAt = firstAt
    }
}

/// The properties of an access token: its lifetime, and the generation that brought it.
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

/// The reason why the provider ended the session, in the provider's own words.
package struct Termination: Hashable, Sendable {
    /// The provider's code as a string: `invalid_token`, `400312`, …
    package var code: String
    package var message: String
    package var at: WallTime

    package init(code: String, message: String, at: WallTime) {
        self.code = code
        self.message = message
        self.at = at
    }
}
