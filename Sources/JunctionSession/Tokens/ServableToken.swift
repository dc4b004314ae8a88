/// An access token that is served without asking anybody, in the moments of its window.
package struct ServableToken: Hashable, Sendable {
    package let facts: TokenFacts
    package let window: ServableWindow

    /// Whether the token may be served now to a caller who needs it for at least `validity`. No token is served to a caller who
    /// wants more than 80 % of a token's life.
    package func isValid(for validity: Duration, _ now: Moment) -> Bool {
        let remaining = window.remaining(now)
        guard validity > .zero else { return remaining > .zero }
        return remaining >= validity && validity <= facts.life * RenewalPolicy.largestValidity
    }
}

/// The moments in which a token may be served: the wall clock is believable, and the end has not passed by either clock.
package struct ServableWindow: Hashable, Sendable {
    /// A wall clock before this is wrong.
    let believableFrom: WallTime
    /// The end by the wall clock.
    let until: WallTime
    /// The end by the clock that never steps, where it is known.
    let end: Uptime?

    /// How long the token may still be served; zero if it may not be served now.
    package func remaining(_ now: Moment) -> Duration {
        guard now.wall >= believableFrom else { return .zero }
        let byWall = until - now.wall
        return max(end.map { min(byWall, $0 - now.uptime) } ?? byWall, .zero)
    }
}
