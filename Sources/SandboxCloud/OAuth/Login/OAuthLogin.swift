/// Who signed in, by which client, for what: a family's beginning.
struct OAuthLogin: Codable, Sendable {
    let client: String
    let subject: String
    let openedBy: GrantType
    let scopes: [String]
    let resources: [String]
    /// What an id_token repeats for the client that asked.
    var nonce: String?
}

/// What one call to the token endpoint hands out.
struct OAuthTokens: Equatable, Sendable {
    let accessToken: String
    let refreshToken: String?
    let lifetime: Double
    let scopes: [String]
    let subject: String
}

/// How long what is handed out will be good.
struct OAuthLifetimes: Sendable {
    let accessToken: Double
    let grace: Double

    /// An hour, which is what most servers give.
    static let usual = 3_600.0

    init(_ settings: Settings) {
        accessToken = settings.accessTokenLifetime ?? Self.usual
        grace = settings.rotationGrace
    }
}
