/// Who decides about renewals, and how long apps may take.
package struct RenewalRules: Equatable, Sendable {
    package var mode: RenewalMode
    /// How long one session handler may take to answer.
    package var handlerTimeout: Duration
    /// How long none is asked again after none could help; never less than ten minutes.
    package var postponement: Duration

    package init(
        mode: RenewalMode = .automatic,
        handlerTimeout: Duration = .seconds(60),
        postponement: Duration = RenewalPolicy.shortestPostponement
    ) {
        self.mode = mode
        self.handlerTimeout = handlerTimeout
        self.postponement = postponement
    }
}
