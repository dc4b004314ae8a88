import FoundationEssentials

/// The event log of one login, the oldest event first. The page draws it as a timeline, which shows why a login ended.
struct LoginEvents: Codable, Sendable {
    enum Kind: String, Codable, Sendable, CaseIterable {
        case opened
        case rotated
        /// A renewal replaced no refresh token.
        case renewed
        /// A replaced refresh token was used again within its grace.
        case replayed
        /// An invalid refresh token was used, which ended the family.
        case reused
        /// A refresh token was refused, and the login did not change.
        case refused
        case signedOut
        /// An operator ended it.
        case ended
        case deleted
        /// The authorization code of the login was used twice.
        case codeReused
        case accessTokensExpired
        case accessTokensRevoked
    }

    /// A refresh token as the page shows it: its number within the family and the start of its fingerprint.
    struct Token: Codable, Equatable, Sendable {
        /// `nil` if the token is older than the stored log.
        let number: Int?
        let fingerprint: String
    }

    struct Entry: Codable, Sendable {
        let at: Date
        let kind: Kind
        let shown: Token?
        let issued: Token?
        /// Until when the token in the request stays usable.
        let graceEndsAt: Date?
    }

    /// The largest number of entries. The limit exists because each change rewrites the whole state file.
    static let longest = 60

    private(set) var entries: [Entry] = []
    /// The number of entries that were removed after the first one.
    private(set) var dropped = 0
    private var issuedCount = 0

    /// Adds an event. Tokens are given by their fingerprints.
    mutating func add(
        _ kind: Kind,
        at time: Date,
        shown: String? = nil,
        issued: String? = nil,
        graceEndsAt: Date? = nil
    ) {
        let shownToken = shown.map { known($0) ?? Token(number: nil, fingerprint: Self.short($0)) }
        let issuedToken = issued.map { known($0) ?? next($0) }
        entries.append(
            Entry(at: time, kind: kind, shown: shownToken, issued: issuedToken, graceEndsAt: graceEndsAt)
        )
        if entries.count > Self.longest {
            entries.remove(at: 1)
            dropped += 1
        }
    }

    private func known(_ fingerprint: String) -> Token? {
        let short = Self.short(fingerprint)
        return entries.reversed().lazy.compactMap(\.issued).first { $0.fingerprint == short }
    }

    private mutating func next(_ fingerprint: String) -> Token {
        issuedCount += 1
        return Token(number: issuedCount, fingerprint: Self.short(fingerprint))
    }

    private static func short(_ fingerprint: String) -> String { String(fingerprint.prefix(8)) }
}
