/// What can be chosen about the OAuth server, by `POST /sandbox/oauth/settings`.
///
/// Where there are *members* or *claims*, they replace or add to those of the true answer, and `null` leaves one out.
struct OAuthSettings: SettingsGroup {
    /// Which of the well-known addresses answer.
    enum Discovery: String, Codable, Sendable {
        case both
        /// OpenID Connect Discovery: the issuer with a suffix.
        case openid
        /// RFC 8414: the issuer's path behind the well-known one.
        case oauth
        case none
    }

    /// When a login has a refresh token.
    enum RefreshTokens: String, Codable, Sendable {
        case always
        /// Only where the scope `offline_access` was asked for and granted.
        case offlineAccess
        case never
    }

    /// Which id_token comes with a refresh.
    enum RefreshIdToken: String, Codable, Sendable {
        case absent
        case same
        /// One about somebody else.
        case other
    }

    /// Whom a client assertion has to be made out to.
    enum AssertionAudience: String, Codable, Sendable {
        case issuer
        /// The URL of the endpoint that is called.
        case endpoint
        case either
    }

    /// How an answer is written down.
    enum Notation: String, Codable, Sendable {
        case json
        /// As a form, which GitHub does.
        case form
        /// No body at all, which glewlwyd does with errors.
        case empty
        /// As a page for people.
        case html
    }

    // Discovery.

    var discovery = Discovery.both
    /// Seconds; without it, the document says nothing about how long it may be kept.
    var discoveryMaxAge: Int? = 3_600
    var discoveryMembers: [String: JSONValue] = [:]

    // The device authorization grant.

    /// Seconds between two polls: told, and insisted on.
    var interval = 5
    /// Seconds that a device code lives.
    var deviceCodeLifetime = 600
    /// Whether a poll learns that the code has expired; else it is pending for ever.
    var tellsExpiry = true
    var deviceMembers: [String: JSONValue] = [:]

    // Tokens.

    var refreshTokens = RefreshTokens.offlineAccess
    var rotation = Rotation.grace
    /// Whether a refresh token that is over ends its family.
    var reuseRevokes = true
    var tokenMembers: [String: JSONValue] = [:]
    /// Scopes that are refused.
    var refusedScopes: [String] = []
    /// Scopes that are silently not granted.
    var withheldScopes: [String] = []
    var unsupportedGrants: [GrantType] = []
    /// Grants that no client may use.
    var unauthorizedGrants: [GrantType] = []

    // Token exchange.

    var exchangeRefreshToken = true
    var exchangeIdToken = false
    /// What a bad subject token is answered with: RFC 8693 says `invalid_request`, some servers `invalid_grant`.
    var badSubjectToken = TokenError.invalidRequest

    // Who it is.

    var signInIdToken = true
    var refreshIdToken = RefreshIdToken.absent
    var idTokenAlgorithm = IdTokenMint.Algorithm.es256
    var idTokenClaims: [String: JSONValue] = [:]
    var userinfoClaims: [String: JSONValue] = [:]
    /// Whether logins of disabled and of deleted users go on.
    var disabledRenews = false
    var deletedRenews = false

    // Clients.

    var assertionAudience = AssertionAudience.issuer
    /// Whether `client_id` has to be in the body, whatever else says who the client is.
    var wantsClientId = false
    /// Whether a client without credentials may revoke.
    var publicClientsRevoke = true

    // How it answers.

    var answers = Notation.json
    var errors = Notation.json
    /// What answers and errors have as `null` where they have nothing else to say.
    var nullMembers: [String] = []
    /// The status of every error of the token and device authorization endpoints, instead of the RFC's.
    var errorStatus: Int?

    var durations: [Double] { [Double(interval), Double(deviceCodeLifetime), Double(discoveryMaxAge ?? 0)] }
}

extension OAuthSettings {
    /// What of the scopes asked for is granted.
    func granted(_ asked: [String]) throws(TokenRefusal) -> [String] {
        if let refused = asked.first(where: refusedScopes.contains) {
            throw TokenError.invalidScope.because("the scope '\(refused)' is not for this client")
        }
        return asked.filter { !withheldScopes.contains($0) }
    }

    /// Whether a login with these scopes has a refresh token.
    func allowsRefresh(_ scopes: [String]) -> Bool {
        switch refreshTokens {
        case .always: true
        case .offlineAccess: scopes.contains("offline_access")
        case .never: false
        }
    }
}

extension Settings {
    /// An hour, which is what most servers give.
    private static let usualLifetime = 3_600.0

    /// What the OAuth server does with the tokens of a login.
    var oauthTerms: TokenTerms {
        TokenTerms(
            lifetime: general.accessTokenLifetime ?? Self.usualLifetime,
            grace: general.rotationGrace,
            rotation: oauth.rotation,
            reuseRevokes: oauth.reuseRevokes
        )
    }
}
