extension SessionMachine {
    mutating func answerCallers(_ now: Moment) -> [Effect] {
        var callers = callers
        let replies = callers.takeAnswered { outcome(for: $0, now) }
        self.callers = callers
        return replies.map { .reply($0) }
    }

    private func outcome(for caller: Callers.Caller, _ now: Moment) -> Reply.Outcome? {
        switch caller.wait {
        case .answer(let outcome):
            return outcome
        case .update(let update, let outcome):
            return persistence.hasEnded(update) ? outcome : nil
        case .codes(let codes, let update):
            // The codes may have expired or been dropped since they were written.
            guard signIn.device?.codes == codes else {
                let words = signIn.deviceError ?? SessionError.approvalExpired.message
                return .failure(SessionError(.invalidCredential, words))
            }
            return persistence.hasEnded(update) ? caller.done().map { .success($0) } : nil
        case .name(let name, let update, _):
            guard persistence.hasEnded(update) else { return nil }
            // The provider may have ended the session meanwhile, or a device sign-in may have been approved.
            if case .terminated(let termination, _) = installation { return .failure(.terminated(termination)) }
            guard installation.session?.externalUserId == name else { return .failure(alreadySignedIn()) }
            return caller.done().map { .success($0) }
        case .token(let hasHadRenewal):
            if case .answer(let outcome) = decision(for: caller.kind, hasHadRenewal, now) { return outcome }
            return nil
        case .retry(var retry):
            // A sign-in under way may fail, so the attempt waits for its end.
            guard retry.isDue(now), state(now) != .establishing else { return nil }
            retry.begin(now)
            return .success(.retry(retry))
        case .queued, .credential, .session, .approval, .renewal, .signOut:
            return nil
        }
    }
}
