/// When the provider is asked whether it still knows the session that stands.
///
/// | a check | until |
/// |---|---|
/// | does not exist | a session stands that the provider may forget, and whose token lives |
/// | waits | its time has come, and neither a renewal nor a change is under way |
/// | is under way | the provider's answer |
///
/// Each new session and each renewal begin the wait anew. An answer that arrives after that means nothing.
struct RegistrationChecks: Hashable, Sendable {
    /// The secrets of the session that is checked.
    private(set) var secrets: SecretRef?
    /// When the next check is due; `nil` while one is under way.
    private(set) var dueAt: Uptime?
    private var request: Attempt?

    init() {}

    /// The session comes from a record: the provider may have forgotten it while the daemon was stopped.
    init(restored secrets: SecretRef, _ now: Moment, using random: inout Randomness) {
        self.secrets = secrets
        dueAt = now.uptime + random.uniform(in: RenewalPolicy.checkAfterStart)
    }

    /// The session to check is the one with these secrets; with `nil`, there is none.
    mutating func follow(_ secrets: SecretRef?, _ now: Moment, using random: inout Randomness) {
        guard secrets != self.secrets else { return }
        (self.secrets, request) = (secrets, nil)
        dueAt = secrets.map { _ in now.uptime + random.uniform(in: RenewalPolicy.checkPause) }
    }

    func isDue(_ now: Moment) -> Bool { dueAt.map { $0 <= now.uptime } ?? false }

    mutating func begin(_ attempt: Attempt) {
        (request, dueAt) = (attempt, nil)
    }

    /// The provider has answered, or the request has failed.
    ///
    /// - Returns: whether the answer is about the session that stands.
    mutating func ended(_ attempt: Attempt, _ now: Moment, using random: inout Randomness) -> Bool {
        guard request == attempt else { return false }
        (request, dueAt) = (nil, now.uptime + random.uniform(in: RenewalPolicy.checkPause))
        return true
    }
}
