/// Detects that the provider has forgotten the session, before an app fails with its token.
extension SessionMachine {
    /// Handles the end of a registration check.
    ///
    /// - Parameter isKnown: `nil` if the provider answered neither yes nor no.
    package mutating func registrationChecked(_ attempt: AttemptID, isKnown: Bool?, now: Moment) -> [Effect] {
        guard checks.ended(attempt, now, using: &random) else { return [] }
        guard isKnown == false, persistence.change == nil, renewal.noticeForgottenRegistration() else {
            return settle(now)
        }
        return [.report(.registrationForgotten)] + settle(now)
    }

    mutating func checkRegistration(_ now: Moment) -> [Effect] {
        let session = installation.session.flatMap { isChecked($0, now) ? $0 : nil }
        checks.follow(session?.secrets, now, using: &random)
        guard let session, canCheckRegistration, checks.isDue(now) else { return [] }
        let attempt = nextAttempt()
        checks.begin(attempt)
        return [.checkRegistration(attempt, session.identity, with: session.secrets)]
    }

    /// The time of the next check. `nil` while a check, a renewal or a change of the session is under way.
    var registrationCheckDue: Uptime? { canCheckRegistration ? checks.dueAt : nil }

    private var canCheckRegistration: Bool { renewal.phase == .resting(.scheduled) && persistence.change == nil }

    private func isChecked(_ session: Session, _ now: Moment) -> Bool {
        traits(of: session.scheme).mayBeForgotten && session.isServable(now)
    }
}
