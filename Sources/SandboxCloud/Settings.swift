/// What can be set at start by a flag, and later by `POST /sandbox/settings`.
package struct Settings: Codable, Sendable {
    /// How long an access token lives, in seconds; without it, as long as the vendor's usually do.
    package var accessTokenLifetime: Double?
    /// How long a replaced refresh token may be used again, in seconds.
    package var rotationGrace = 30.0
    /// Whether a Sign-In Token is good for one exchange only.
    package var singleUseSignInTokens = true

    /// What a duration may be, in seconds: up to a year.
    package static let durations = 0.0...31_536_000

    /// The vendor's usual terms.
    package init() {}
}
