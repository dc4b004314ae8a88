/// An access token that the daemon serves without a request, during a fixed period: the wall clock is trusted, and
/// neither clock has reached the end.
package struct ServableToken: Hashable, Sendable {
    package let facts: TokenFacts
    /// The earliest trusted reading of the wall clock.
    let trustedFrom: WallTime
    /// The end on the monotonic clock, if it is known.
    let end: Uptime?

    /// Whether the token may be served now to a caller that needs it for at least `validity`. The token is never served
    /// to a caller that needs more than 80 % of its lifetime.
    package func isValid(for validity: Duration, _ now: Moment) -> Bool {
        let remaining = remaining(now)
        guard validity > .zero else { return remaining > .zero }
        return remaining >= validity && validity <= facts.life * RenewalPolicy.largestValidity
    }

    /// Returns the time for which the token may still be served. Zero if it may not be served now.
    func remaining(_ now: Moment) -> Duration {
        // A wrong clock ends no token that has no end.
        guard now.wall >= trustedFrom || facts.expiresAt == .never else { return .zero }
        let byWall = facts.expiresAt - now.wall
        return max(end.map { min(byWall, $0 - now.uptime) } ?? byWall, .zero)
    }
}
