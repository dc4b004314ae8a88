/// An access token that is served without asking anybody, in the moments of its window.
package struct ServableToken: Hashable, Sendable {
    package let facts: TokenFacts
    package let window: ServableWindow
}

/// The moments in which a token may be served: the wall clock is believable, and the end has not passed by either clock.
package struct ServableWindow: Hashable, Sendable {
    /// A wall clock before this is wrong.
    let believableFrom: WallTime
    /// The end by the wall clock.
    let until: WallTime
    /// The end by the clock that never steps, where it is known.
    let end: Uptime?

    /// Whether it may be served now.
    package func contains(_ now: Moment) -> Bool {
        if let end, now.uptime >= end { return false }
        return now.wall >= believableFrom && now.wall < until
    }
}
