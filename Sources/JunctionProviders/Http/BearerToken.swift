import JunctionSecret

/// What an access token has to be like, whichever vendor grants it.
enum BearerToken {
    /// A token that dies at once could never be used; one that outlives a year was not meant so.
    static let lives = Duration.seconds(1)...Duration.seconds(366 * 86_400)
    /// It has to fit into a header, together with the others.
    static let longest = 1 << 14

    /// Whether the token can stand in a header: printable, without spaces, not too long.
    static func fitsHeader(_ token: SharedSecret) -> Bool {
        (1...longest).contains(token.count)
            && token.withUnsafeBytes { $0.allSatisfy { (0x21...0x7E).contains($0) } }
    }

    /// The header that shows it. Headers are strings in every HTTP library: this copy cannot be wiped.
    static func header(_ token: SharedSecret) -> (name: String, value: String) {
        ("authorization", token.withUnsafeBytes { "Bearer \(String(decoding: $0, as: UTF8.self))" })
    }
}
