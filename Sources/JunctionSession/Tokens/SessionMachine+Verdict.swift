/// The provider's verdict on the user ends the session, whichever request it is the answer to.
extension SessionMachine {
    /// The answer to an API call was a verdict on the user for whom it was made.
    ///
    /// It ends the session that the call was made with, however often that was renewed meanwhile; a rotation that is being
    /// written is written first. It ends no session of a later sign-in.
    ///
    /// - Parameter generation: of the credential that the call was made with.
    package mutating func apiCallJudged(_ verdict: Verdict, generation: UInt64, now: Moment) -> [Effect] {
        guard let session = installation.session, generation >= signedInSince else { return [] }
        switch persistence.change?.kind {
        case nil:
            return end(session, verdict, now) + settle(now)
        case .rotation, .signIn, .withdrawal: verdictToCome = verdict
        case .ending, .signOut: break
        }
        return []
    }

    /// A change counts: a verdict that came while it was being written ends the session that stays.
    mutating func applyVerdict(after change: PersistenceQueue.Change, _ now: Moment) -> [Effect] {
        let verdict = verdictToCome
        verdictToCome = nil
        switch change.kind {
        case .signIn: signedInSince = change.generation
        case .rotation, .withdrawal:
            if let verdict, let session = installation.session { return end(session, verdict, now) }
        case .ending, .signOut: break
        }
        return []
    }

    /// The session is over as soon as that has been written; a renewal under way has nothing to renew any more.
    mutating func end(_ session: Session, _ verdict: Verdict, _ now: Moment) -> [Effect] {
        // The provider may still grant a renewal that has left, and with an app's answer that is a login of its own.
        overtakeRenewal(of: session.stored.identity)
        let effects = renewal.granted.map { revoke($0, now) } ?? []
        let termination = Termination(code: verdict.code, message: verdict.message, at: now.wall)
        rounds.drop(.renewal)
        renewal.store()
        persistence.begin(.ending(termination)) { _ in .terminated(termination, session.stored.identity) }
        return effects
    }
}
