/// When the same refresh token is sent again after a request whose outcome is unknown.
///
/// | the window | opens by | closes by |
/// |---|---|---|
/// | is closed | an ambiguous outcome; an open intent that a start finds | |
/// | is open, the late replay to come | every further ambiguous outcome opens it anew | one of the events below |
/// | is open, the late replay made | the same | one of the events below; any outcome that is not ambiguous |
///
/// The window closes by each of these:
/// - a grant, or a verdict;
/// - a new refresh token that came without a usable access token;
/// - a round of questions;
/// - a failure after which no replay is allowed: six were sent in ten minutes, or the time for the late replay has passed;
/// - an event that ends the renewal, such as a sign-out.
struct RefreshRetries: Hashable, Sendable {
    private var window: Window?
    /// When refresh retries were sent, in the last ten minutes.
    private var times: [Uptime] = []

    private struct Window: Hashable, Sendable {
        /// When the first request was sent whose outcome is unknown.
        var sentAt: Uptime
        /// Its late replay has been made.
        var isUsedUp = false
    }

    init() {}

    /// The process before this one may have sent a request then.
    init(after sentAt: Uptime) {
        window = Window(sentAt: sentAt)
    }

    /// Whether a request is out whose outcome is unknown.
    var isOpen: Bool { window != nil }

    mutating func close() {
        window = nil
    }

    /// The same without the window: refresh retries count for ten minutes, whatever their outcome.
    var closed: RefreshRetries {
        var next = self
        next.close()
        return next
    }

    /// A replay leaves.
    mutating func sent(_ now: Moment) {
        times = recent(now) + [now.uptime]
        // A replay that a caller caused early leaves the late one as it is.
        guard let current = window else { return }
        if now.uptime >= current.sentAt + RenewalPolicy.secondRefreshRetry.lowerBound { window?.isUsedUp = true }
    }

    /// The outcome of a request is unknown.
    mutating func lost(sentAt: Uptime, _ now: Moment) {
        // The answer may be lost a second time: as long as the first request is inside its grace, that one counts.
        let first = window.map(\.sentAt).flatMap {
            $0 + RenewalPolicy.secondRefreshRetry.lowerBound > now.uptime ? $0 : nil
        }
        window = Window(sentAt: first ?? sentAt)
    }

    /// How long until the same refresh token is sent again; `nil` if the provider's grace is over or used up.
    func delay(isAmbiguous: Bool, _ now: Moment, using random: inout Randomness) -> Duration? {
        guard let window, recent(now).count < RenewalPolicy.mostRefreshRetries else { return nil }
        if isAmbiguous { return random.uniform(in: RenewalPolicy.firstRefreshRetry) }
        guard !window.isUsedUp else { return nil }
        let target = window.sentAt + random.uniform(in: RenewalPolicy.secondRefreshRetry)
        let delay = max(target - now.uptime, RenewalPolicy.shortestBackoff)
        return now.uptime + delay <= window.sentAt + RenewalPolicy.latestRefreshRetry ? delay : nil
    }

    /// The send deadline of a replay that begins now; `nil` if the grace is over.
    func sendDeadline(_ now: Uptime) -> Uptime? {
        window.map { $0.sentAt + RenewalPolicy.latestSend }.flatMap { $0 > now ? $0 : nil }
    }

    private func recent(_ now: Moment) -> [Uptime] {
        times.filter { now.uptime - $0 < RenewalPolicy.refreshRetryPeriod }
    }
}
