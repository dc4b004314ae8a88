import FoundationEssentials

/// A sign-in, and what came of it: what vendors call a session, a family of refresh tokens, or an instance. The `/sandbox` endpoints show
/// it as it is.
struct Login: Codable, Sendable {
    var id = TokenText.identifier()
    let vendor: VendorName
    let userId: String
    var clientId: String?
    var deviceId: String?
    var openedBy: GrantType?
    let openedAt: Date
    /// When the login ends by itself, where the vendor says so.
    var expiresAt: Date?
    /// What is granted now: a refresh that names less leaves less for good.
    var scopes: [String] = []
    var resources: [String] = []
    /// The parameters by which refreshes narrowed the login; none for a client that behaves.
    var narrowedBy: [String] = []
    var refreshes = 0
    var replays = 0
    /// What ended the login, if something did.
    var ending: LoginStory.Kind?
    var story = LoginStory()
    /// The fingerprint of what renews the login: its refresh token, or Sinch's credential.
    var current: String?
    /// Fingerprints of tokens that were replaced since the last refresh that was no replay, with the end of each one's grace.
    var replaced: [String: Date] = [:]

    func isOver(_ now: Date) -> Bool { ending != nil || (expiresAt.map { $0 <= now } ?? false) }
}

/// What a vendor does with the tokens of a login.
struct TokenTerms: Sendable {
    /// How long an access token lives, in seconds.
    let lifetime: Double
    /// How long a replaced refresh token may be used again, in seconds.
    var grace = 0.0
    var rotation = Rotation.reissue
    /// Whether a refresh token that is over ends its login.
    var reuseRevokes = true
}

/// What a refresh does to the refresh token.
enum Rotation: String, Codable, Sendable {
    /// Nothing; the answer has none.
    case none
    /// Nothing; the answer repeats it.
    case same
    /// It is replaced, and over at once.
    case single
    /// It is replaced; until the grace ends or the successor is used, it gets the same pair again.
    case grace
    /// It is replaced; within the grace it gets a new pair, and the successor that nobody heard of is replaced in turn, with the
    /// same deadline.
    case reissue
}

/// What a client is handed, and the login that it belongs to.
struct IssuedTokens: Sendable {
    let accessToken: String
    var refreshToken: String?
    /// Seconds.
    let lifetime: Double
    let login: Login
    /// A refresh token that was replaced was used again within its grace.
    var isReplay = false

    /// A success of a token endpoint.
    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "access_token": .string(accessToken), "token_type": "Bearer", "expires_in": .integer(Int64(lifetime)),
        ]
        members["refresh_token"] = refreshToken.map { .string($0) }
        return members
    }
}
