/// The provider's verdict on the user ends the session, whichever request it is the answer to.
extension SessionMachine {
    /// The answer to an API call was a verdict on the user for whom it was made.
    ///
    /// It ends the session whose credential the call was made with. Where that has been replaced meanwhile, by a renewal, a
    /// sign-in or a sign-out, the provider has judged the user since, or nobody is concerned.
    package mutating func apiCallJudged(_ verdict: Verdict, generation: UInt64, now: Moment) -> [Effect] {
        guard let session = standing.session, ledger.change == nil, servedGeneration == generation else { return [] }
        end(session, verdict, now)
        return settle(now)
    }

    /// The session is over as soon as that has been written; a renewal under way has nothing to renew any more.
    mutating func end(_ session: Session, _ verdict: Verdict, _ now: Moment) {
        let termination = Termination(code: verdict.code, message: verdict.message, at: now.wall)
        rounds.drop(.renewal)
        renewal.store()
        ledger.begin(.ending(termination)) { _ in .terminated(termination, session.stored.identity) }
    }
}
