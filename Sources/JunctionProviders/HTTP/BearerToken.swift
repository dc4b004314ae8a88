import JunctionSecret
import JunctionText

/// The requirements for an access token of any provider.
enum BearerToken {
    /// A token that expires at once cannot be used. A life of more than a year is assumed to be a mistake.
    static let lives = Duration.seconds(1)...Duration.seconds(366 * 86_400)
    /// The token must fit into the request headers, together with the others.
    static let longest = 1 << 14

    /// Returns whether the token can stand in a header: printable ASCII, without spaces, not too long.
    static func fitsHeader(_ token: SharedSecret) -> Bool {
        (1...longest).contains(token.count)
            && token.withUnsafeBytes { $0.allSatisfy(\.isVisibleASCII) }
    }

    static func header(_ token: SharedSecret) -> (name: String, value: SharedSecret) {
        ("authorization", SharedSecret(joining: [.text("Bearer "), .secret(token)]))
    }
}
