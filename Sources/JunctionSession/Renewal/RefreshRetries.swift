/// Decides when the same refresh token is sent again after a request whose outcome is unknown (a refresh retry).
///
/// While the window is open, the outcome of a request is unknown. An ambiguous outcome opens the window, and so does an
/// open intent that a start finds. After each ambiguous outcome, the token is sent again within two seconds. After any
/// other outcome, one late refresh retry is left. Once that was made, an outcome that is not ambiguous closes the
/// window.
///
/// Each of these events closes the window, too:
/// - a grant, or a verdict;
/// - a new refresh token that came without a usable access token;
/// - a round of questions to session handlers;
/// - a failure after six refresh retries in ten minutes, or when the time for the late one has passed;
/// - an event that ends the renewal, such as a sign-out.
struct RefreshRetries: Hashable, Sendable {
    private var window: Window?
    /// The send times of the refresh retries in the last ten minutes.
    private var times: [Uptime] = []

    private struct Window: Hashable, Sendable {
        /// The send time of the first request whose outcome is unknown.
        var sentAt: Uptime
        /// Whether the late refresh retry has been made.
        var isUsedUp = false
    }

    /// Whether the outcome of a request is unknown.
    var isOpen: Bool { window != nil }

    /// Closes the window. The refresh retries still count for ten minutes.
    mutating func close() {
        window = nil
    }

    /// Counts a refresh retry that is being sent.
    mutating func sent(_ now: Moment) {
        times = recent(now) + [now.uptime]
        // If a caller causes a refresh retry earlier, the late one is still sent.
        guard let current = window else { return }
        if now.uptime >= current.sentAt + RenewalPolicy.lateRefreshRetry.lowerBound { window?.isUsedUp = true }
    }

    /// Handles a request whose outcome is unknown.
    mutating func lost(sentAt: Uptime, _ now: Moment) {
        // The answer may be lost twice. While the first request is inside the provider's grace, the window keeps its
        // send time.
        let first = window.map(\.sentAt).flatMap {
            $0 + RenewalPolicy.lateRefreshRetry.lowerBound > now.uptime ? $0 : nil
        }
        window = Window(sentAt: first ?? sentAt)
    }

    /// Returns the delay until the next refresh retry. `nil` if the provider's grace is over or all retries are used
    /// up.
    func delay(isAmbiguous: Bool, _ now: Moment, using random: inout Randomness) -> Duration? {
        guard let window, recent(now).count < RenewalPolicy.mostRefreshRetries else { return nil }
        if isAmbiguous { return random.uniform(in: RenewalPolicy.promptRefreshRetry) }
        guard !window.isUsedUp else { return nil }
        let target = window.sentAt + random.uniform(in: RenewalPolicy.lateRefreshRetry)
        let delay = max(target - now.uptime, RenewalPolicy.shortestBackoff)
        return now.uptime + delay <= window.sentAt + RenewalPolicy.latestRefreshRetry ? delay : nil
    }

    /// Returns the send deadline of a refresh retry that begins now. `nil` if the grace is over: a retry that begins so late,
    /// after a restart, has no deadline.
    func sendDeadline(_ now: Uptime) -> Uptime? {
        window.map { $0.sentAt + RenewalPolicy.latestSend }.flatMap { $0 > now ? $0 : nil }
    }

    private func recent(_ now: Moment) -> [Uptime] {
        times.filter { now.uptime - $0 < RenewalPolicy.refreshRetryPeriod }
    }
}
