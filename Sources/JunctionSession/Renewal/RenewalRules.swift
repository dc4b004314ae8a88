/// The settings of renewals: who decides about them, and the time limits for apps.
package struct RenewalRules: Hashable, Sendable {
    package var mode: RenewalMode
    /// The time limit for the answer of one session handler.
    package var handlerTimeout: Duration
    /// The time in which no handler is asked after none could help, at least ten minutes.
    package let postponement: Duration

    package init(
        mode: RenewalMode = .automatic,
        handlerTimeout: Duration = .seconds(60),
        postponement: Duration = RenewalPolicy.shortestPostponement
    ) {
        self.mode = mode
        self.handlerTimeout = handlerTimeout
        self.postponement = max(postponement, RenewalPolicy.shortestPostponement)
    }
}

/// Who decides about a renewal, and which secret it uses.
package enum RenewalMode: String, Hashable, Sendable {
    /// The daemon renews with the session's own secrets.
    case automatic
    /// The daemon asks a local app each time.
    case handler
}
