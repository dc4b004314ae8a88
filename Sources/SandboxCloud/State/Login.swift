import FoundationEssentials

/// A login: a session, a family of refresh tokens or an instance, depending on the vendor. The `/sandbox` endpoints
/// show it as it is.
struct Login: Codable, Sendable {
    var id = TokenText.identifier()
    let vendor: VendorName
    let userId: String
    var clientId: String?
    var deviceId: String?
    var openedBy: GrantType?
    let openedAt: Date
    /// When the login expires, if the vendor limits it.
    var expiresAt: Date?
    /// The granted scopes. A refresh with fewer scopes reduces them permanently.
    var scopes: [String] = []
    var resources: [String] = []
    /// The parameters by which refreshes reduced the login. Empty if the client sends none.
    var narrowedBy: [String] = []
    var refreshes = 0
    var replays = 0
    /// The reason why the login has ended, or `nil`.
    var ending: LoginEvents.Kind?
    var story = LoginEvents()
    /// The fingerprint of the refresh token, or of Sinch's credential.
    var current: String?
    /// The fingerprints of the replaced tokens with the end of each grace. A refresh that is not a replay clears the
    /// older ones.
    var replaced: [String: Date] = [:]

    func isOver(_ now: Date) -> Bool { ending != nil || (expiresAt.map { $0 <= now } ?? false) }
}

struct TokenTerms: Sendable {
    /// The lifetime of an access token, in seconds.
    let lifetime: Double
    /// How long a replaced refresh token stays usable, in seconds.
    var grace = 0.0
    var rotation = Rotation.reissue
    /// Whether the use of an invalid refresh token ends its login.
    var reuseRevokes = true
}

enum Rotation: String, Codable, Sendable {
    /// The refresh token stays. The answer does not contain it.
    case none
    /// The refresh token stays. The answer repeats it.
    case same
    /// The refresh token is replaced and becomes invalid immediately.
    case single
    /// The refresh token is replaced. Until the grace ends or the successor is used, the old token returns the same
    /// pair again.
    case grace
    /// The refresh token is replaced. Within the grace the old token returns a new pair. This replaces the unused
    /// successor, which keeps the same deadline.
    case reissue
}

/// The tokens for a client, and their login.
struct IssuedTokens: Sendable {
    let accessToken: String
    var refreshToken: String?
    /// Seconds.
    let lifetime: Double
    let login: Login
    /// Whether a replaced refresh token was used again within its grace.
    var isReplay = false

    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "access_token": .string(accessToken), "token_type": "Bearer", "expires_in": .integer(Int64(lifetime)),
        ]
        members["refresh_token"] = refreshToken.map { .string($0) }
        return members
    }
}
