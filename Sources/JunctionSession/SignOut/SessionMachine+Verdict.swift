/// The provider's verdict on the user. It ends the session, whichever request it answers.
extension SessionMachine {
    /// Handles an API answer that is a verdict on the user of the call.
    ///
    /// The verdict ends the session of the call, also after renewals. If a rotation is being written, that write ends
    /// first. The verdict does not end the session of a later sign-in.
    ///
    /// - Parameter generation: the generation of the credential with which the call was made.
    package mutating func apiCallJudged(_ verdict: Verdict, generation: UInt64, now: Moment) -> [Effect] {
        guard let session = installation.session, generation >= signedInSince else { return [] }
        switch persistence.change?.kind {
        case nil:
            end(session, verdict, now)
            return settle(now)
        case .rotation, .signIn, .withdrawal: verdictToCome = verdict
        case .ending, .signOut: break
        }
        return []
    }

    /// Applies a verdict that came while a change was being written, if the session stays after the change.
    mutating func applyVerdict(after change: PersistenceQueue.Change, _ now: Moment) {
        let verdict = verdictToCome
        verdictToCome = nil
        switch change.kind {
        case .rotation, .withdrawal:
            if let verdict, let session = installation.session { end(session, verdict, now) }
        case .signIn, .ending, .signOut: break
        }
    }

    /// Writes the end of the session. A renewal under way becomes pointless.
    mutating func end(_ session: Session, _ verdict: Verdict, _ now: Moment) {
        // The provider may still grant a renewal that has left. With an app's secret, the grant is a login of its own.
        overtakeRenewal(of: session.identity)
        if let granted = renewal.granted { revoke(granted, now) }
        let termination = Termination(code: verdict.code, message: verdict.message, at: now.wall)
        renewal.store()
        persistence.begin(.ending(termination), .terminated(termination, session.identity))
    }
}
