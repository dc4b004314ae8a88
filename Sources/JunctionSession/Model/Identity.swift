/// The user as the provider names them.
///
/// An identity with an environment and region is a Junction user. Its UUIDs and words are kept in lower case, so that
/// two spellings of one user compare equal. At other providers the user id is the app's own, and `Anna` is not `anna`.
/// The user id of an issuer is its `sub` (OpenID Connect Core §2). Issuer and `sub` are kept exactly as written.
package struct Identity: Hashable, Sendable {
    package let userId: String
    package let teamId: String?
    package let environment: String?
    package let region: String?
    package let issuer: String?

    package init(
        userId: String,
        teamId: String? = nil,
        environment: String? = nil,
        region: String? = nil,
        issuer: String? = nil
    ) {
        let isOfSite = environment != nil || region != nil
        self.issuer = issuer
        self.userId = isOfSite ? userId.lowercased() : userId
        self.teamId = teamId?.lowercased()
        self.environment = environment?.lowercased()
        self.region = region?.lowercased()
    }

    /// Whether a text is this user's id, by the rules of this user's provider.
    package func isCalled(_ name: String) -> Bool {
        userId.hasSameBytes(
            as: Identity(userId: name, environment: environment, region: region, issuer: issuer).userId
        )
    }

    /// Whether both identities are one user: the same user id, issuer, team, environment and region. An API key names
    /// no team, so the team is compared only if both sides have one.
    package func isSameUser(as other: Identity) -> Bool {
        guard Self.isSame(userId, other.userId), Self.isSame(environment, other.environment),
            Self.isSame(region, other.region), Self.isSame(issuer, other.issuer)
        else { return false }
        guard let teamId, let otherTeam = other.teamId else { return true }
        return teamId.hasSameBytes(as: otherTeam)
    }

    package static func == (one: Identity, other: Identity) -> Bool {
        one.isSameUser(as: other) && isSame(one.teamId, other.teamId)
    }

    private static func isSame(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.hasSameBytes(as: other)
    }
}

extension StringProtocol {
    /// Whether both texts have the same bytes. To `==`, `é` in one code point and in two are the same text, but a
    /// provider has two ids.
    package func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}

/// The way in which the user signed in. The names are those of the wire.
package enum Scheme: String, Hashable, Sendable, CaseIterable {
    case signInToken
    case linkCode
    case apiKey
    case userLogin
    case registration
    case registrationSignature
    case selfSigned
    case device
    case authorizationCode
    case refreshToken
    case tokenExchange
}

/// The properties of a scheme, which its provider states.
package struct SchemeTraits: Hashable, Sendable {
    /// Whether a session of this scheme is renewed with a refresh token of its own. A request whose answer was lost can
    /// then be repeated.
    package var renewsByRefreshToken: Bool
    /// Whether session handlers are asked for the secret of a renewal.
    package var asksApps: AppQuestions
    /// Whether signing in needs a request to the provider.
    package var reachesProvider: Bool
    /// Whether the provider's demand for a new credential may become obsolete. Such a provider has one error for
    /// several causes, and a disabled user may be enabled again. A requested renewal then makes an attempt; the daemon
    /// makes none by itself.
    package var mayRetryAfterDemand: Bool
    /// Whether the sign-out can be authenticated after the access token has expired, so that there is still something
    /// to revoke.
    package var isRevocableAfterExpiry: Bool
    /// Whether the provider may forget such a session without ending it. The daemon asks about once an hour, and
    /// registers again.
    package var mayBeForgotten: Bool

    /// When session handlers are asked for the secret of a renewal.
    package enum AppQuestions: Hashable, Sendable {
        /// In the mode `handler`.
        case inHandlerMode
        /// In every mode: only an app's server has the secret.
        case always
        /// In no mode: the renewal needs no secret from an app's server.
        case never
    }

    package init(
        renewsByRefreshToken: Bool = false,
        asksApps: AppQuestions = .inHandlerMode,
        reachesProvider: Bool = true,
        mayRetryAfterDemand: Bool = false,
        isRevocableAfterExpiry: Bool = false,
        mayBeForgotten: Bool = false
    ) {
        self.renewsByRefreshToken = renewsByRefreshToken
        self.asksApps = asksApps
        self.reachesProvider = reachesProvider
        self.mayRetryAfterDemand = mayRetryAfterDemand
        self.isRevocableAfterExpiry = isRevocableAfterExpiry
        self.mayBeForgotten = mayBeForgotten
    }
}
