/// The settings of the OAuth server, changed by `POST /sandbox/oauth/settings`.
///
/// Settings that end in `Members` or `Claims` add to or replace members of the original answer. `null` removes a
/// member.
struct OAuthSettings: SettingsGroup {
    /// The well-known addresses that answer.
    enum Discovery: String, Codable, Sendable {
        case both
        /// OpenID Connect Discovery: the well-known part follows the issuer.
        case openid
        /// RFC 8414: the issuer's path follows the well-known part.
        case oauth
        case none
    }

    enum RefreshTokens: String, Codable, Sendable {
        case always
        /// Only if the scope `offline_access` was requested and granted.
        case offlineAccess
        case never
    }

    /// The id_token in the answer to a refresh.
    enum RefreshIdToken: String, Codable, Sendable {
        case absent
        case same
        /// An id_token for another user.
        case other
    }

    /// The audience that a client assertion must have.
    enum AssertionAudience: String, Codable, Sendable {
        case issuer
        /// The URL of the called endpoint.
        case endpoint
        case either
    }

    enum Notation: String, Codable, Sendable {
        case json
        /// A form, as GitHub sends it.
        case form
        /// No body, as glewlwyd sends for errors.
        case empty
        case html
    }

    // Discovery.

    var discovery = Discovery.both
    /// The `max-age` of the discovery document in seconds. Without it, the answer has no cache lifetime.
    var discoveryMaxAge: Int? = 3_600
    var discoveryMembers: [String: JSONValue] = [:]

    // The device authorization grant.

    /// The seconds between two polls. The server announces and enforces this interval.
    var interval = 5
    /// The lifetime of a device code, in seconds.
    var deviceCodeLifetime = 600
    /// Whether a poll reports that the code has expired. Otherwise the code stays pending.
    var tellsExpiry = true
    var deviceMembers: [String: JSONValue] = [:]

    // Tokens.

    var refreshTokens = RefreshTokens.offlineAccess
    var rotation = Rotation.grace
    /// Whether the use of an invalid refresh token ends its family.
    var reuseRevokes = true
    var tokenMembers: [String: JSONValue] = [:]
    /// Scopes that cause an error.
    var refusedScopes: [String] = []
    /// Scopes that the server does not grant, without an error.
    var withheldScopes: [String] = []
    var unsupportedGrants: [GrantType] = []
    var unauthorizedGrants: [GrantType] = []

    // Token exchange.

    var exchangeRefreshToken = true
    var exchangeIdToken = false
    /// The error for an invalid subject token. RFC 8693 requires `invalid_request`, some servers send `invalid_grant`.
    var badSubjectToken = TokenError.invalidRequest

    // Identity.

    var signInIdToken = true
    var refreshIdToken = RefreshIdToken.absent
    var idTokenAlgorithm = IdTokenIssuer.Algorithm.es256
    var idTokenClaims: [String: JSONValue] = [:]
    var userinfoClaims: [String: JSONValue] = [:]
    /// Whether the logins of disabled users, and of deleted users, stay valid.
    var disabledRenews = false
    var deletedRenews = false

    // Clients.

    var assertionAudience = AssertionAudience.issuer
    /// Whether `client_id` is required in the body even if the client authenticates otherwise.
    var wantsClientId = false
    /// Whether a client without credentials may revoke.
    var publicClientsRevoke = true

    // Answers.

    var answers = Notation.json
    var errors = Notation.json
    /// Members that are `null` in answers and errors unless they have a value.
    var nullMembers: [String] = []
    /// The HTTP status of every error of the token and device authorization endpoints, in place of the RFC's.
    var errorStatus: Int?

    var durations: [Double] { [Double(interval), Double(deviceCodeLifetime), Double(discoveryMaxAge ?? 0)] }
}

extension OAuthSettings {
    /// Returns the granted scopes of the requested ones.
    func granted(_ asked: [String]) throws(TokenRefusal) -> [String] {
        if let refused = asked.first(where: refusedScopes.contains) {
            throw TokenError.invalidScope.because("the scope '\(refused)' is not for this client")
        }
        return asked.filter { !withheldScopes.contains($0) }
    }

    func allowsRefresh(_ scopes: [String]) -> Bool {
        switch refreshTokens {
        case .always: true
        case .offlineAccess: scopes.contains("offline_access")
        case .never: false
        }
    }
}

extension Settings {
    /// The default lifetime of an access token in seconds: an hour, as on most servers.
    private static let usualLifetime = 3_600.0

    /// The token rules of the OAuth server.
    var oauthTerms: TokenTerms {
        TokenTerms(
            lifetime: general.accessTokenLifetime ?? Self.usualLifetime,
            grace: general.rotationGrace,
            rotation: oauth.rotation,
            reuseRevokes: oauth.reuseRevokes
        )
    }
}
