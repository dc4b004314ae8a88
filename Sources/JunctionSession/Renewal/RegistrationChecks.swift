/// Decides when the daemon asks the provider whether it still knows the present session.
///
/// | a check | until |
/// |---|---|
/// | does not exist | a session is in force that the provider may forget, and whose token has not expired |
/// | waits | its time comes, and neither a renewal nor a change is under way |
/// | is under way | the provider answers |
///
/// Each new session and each renewal restart the wait. A later answer to an earlier check is ignored.
struct RegistrationChecks: Hashable, Sendable {
    private(set) var secrets: SecretRef?
    /// The time of the next check. `nil` while one is under way.
    private(set) var dueAt: Uptime?
    private var request: AttemptID?

    /// Follows the session with these secrets. With `nil`, there is no session to check.
    ///
    /// - Parameter delay: the range of the time until the first check.
    mutating func follow(
        _ secrets: SecretRef?,
        after delay: ClosedRange<Duration> = RenewalPolicy.checkPause,
        _ now: Moment,
        using random: inout Randomness
    ) {
        guard secrets != self.secrets else { return }
        (self.secrets, request) = (secrets, nil)
        dueAt = secrets.map { _ in now.uptime + random.uniform(in: delay) }
    }

    func isDue(_ now: Moment) -> Bool { dueAt.map { $0 <= now.uptime } ?? false }

    mutating func begin(_ attempt: AttemptID) {
        (request, dueAt) = (attempt, nil)
    }

    /// Handles the provider's answer or a failed request.
    ///
    /// - Returns: whether the answer is about the present session.
    mutating func ended(_ attempt: AttemptID, _ now: Moment, using random: inout Randomness) -> Bool {
        guard request == attempt else { return false }
        (request, dueAt) = (nil, now.uptime + random.uniform(in: RenewalPolicy.checkPause))
        return true
    }
}
