import FoundationEssentials

/// What happened to one login, the oldest first: what the page draws as a line, and where to look for why it ended.
struct LoginStory: Codable, Sendable {
    enum Kind: String, Codable, Sendable, CaseIterable {
        case opened
        /// A refresh replaced the refresh token.
        case rotated
        /// A renewal that replaced none.
        case renewed
        /// A replaced refresh token was used again within its grace.
        case replayed
        /// A refresh token was used that was over: the family ended with it.
        case reused
        /// A refresh token was shown in vain.
        case refused
        /// The client ended it.
        case signedOut
        /// An operator ended it.
        case ended
        /// Its user was deleted.
        case deleted
        /// The code that it came from was used twice.
        case codeReused
        case accessTokensExpired
        case accessTokensRevoked
    }

    /// A refresh token as it can be shown: the how manieth of its family, and how its fingerprint begins.
    struct Token: Codable, Equatable, Sendable {
        /// Not known of one that is older than what is kept of the story.
        let number: Int?
        let fingerprint: String
    }

    struct Entry: Codable, Sendable {
        let at: Date
        let kind: Kind
        /// The refresh token that was used.
        let shown: Token?
        /// The one that came of it.
        let issued: Token?
        /// Until when the one that was used may be used again.
        let graceEndsAt: Date?
    }

    /// How many entries are kept: the state is written whole at each change.
    static let longest = 60

    private(set) var entries: [Entry] = []
    /// How many were left out after the first one.
    private(set) var dropped = 0
    private var issuedCount = 0

    /// Adds what happened last; tokens are given by their fingerprints.
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
