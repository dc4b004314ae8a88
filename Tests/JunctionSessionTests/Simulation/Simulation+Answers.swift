import JunctionSession
import JunctionTesting

/// The provider's answers. The model records each answer before the owner gets it, and the simulation checks the
/// result.
extension Simulation {
    func deliver(_ answer: Answer, to number: Int) {
        guard let call = calls.removeValue(forKey: number) else { return }
        var answer = answer
        if case .granted(let tokens) = answer, call.isKept, !call.isOvertaken, !isHealed,
            call.expected ?? tokens.user == tokens.user, chance(2) == 0
        {
            answer = .unnamed(tokens)
        }
        log("call \(number) is answered: \(answer)")
        let wasPending = isPending
        model.hears(answer, of: call, self)
        resume(call, answer)
        model.hasHeard(answer, of: call, self)
        guard call.kind == .renewal else { return }
        if case .unexplained = answer, isPending, !wasPending { judgePresumption(of: call) }
        model.expectsRefreshRetry(after: answer, of: call, self)
    }

    private func resume(_ call: Call, _ answer: Answer) {
        call.continuation?.resume(returning: answer)
        executor.runUntilIdle()
    }

    private var isPending: Bool { snapshot.facts.flags.contains(.pendingReauthentication) }

    /// Answers a userinfo request with a user or a failure.
    func answerUserinfo(_ number: Int) {
        guard let call = calls.removeValue(forKey: number), let tokens = call.tokens else { return }
        let answer: Answer
        switch call.isOvertaken ? 0 : isHealed ? 9 : chance(10) {
        case 0..<4:
            answer = .unavailable(isAmbiguous: false, retryAfter: nil)
            if let link = call.link { model.unfinishedLinks[call.user] = link }
        case 4:
            answer = call.kind == .renewal ? .answerRefused : .refused
        default: answer = .granted(tokens)
        }
        log("call \(number) is answered: \(answer)")
        model.hears(answer, of: call, self)
        resume(call, answer)
        model.hasHeard(answer, of: call, self)
    }

    func endRevocation(_ number: Int) {
        guard let call = calls.removeValue(forKey: number) else { return }
        coverage.note(.revocationsTold)
        let answer: Answer
        switch isHealed ? 0 : chance(4) {
        case 0:
            answer = .revoked
            guard let refresh = call.refresh else { break }
            model.unnamed.remove(refresh)
            if let family = provider.family(of: refresh) { provider.revoke(family) }
        case 1: answer = .unavailable(isAmbiguous: false, retryAfter: .seconds(90))
        default: answer = .unavailable(isAmbiguous: false, retryAfter: nil)
        }
        resume(call, answer)
    }

    /// Answers an API call: with a ban, which ends only the session of that call, or with a 401.
    func answerApiCall(_ number: Int) {
        guard let call = calls.removeValue(forKey: number) else { return }
        let before = snapshot
        switch isHealed ? 9 : chance(6) {
        case 0:
            let isOfSession = call.era == model.era && model.held != nil
            // A sign-in, a sign-out or a verdict that is being written takes precedence.
            let isStanding = isOfSession && model.granted == nil && !isSigningOut && !model.isEnding
            if isStanding {
                coverage.note(.apiVerdicts)
                model.isBanned(self)
            }
            if isOfSession, !isStanding {
                // The ban takes effect unless the change that is being written ends the session.
                model.mayEnd = true
                if let family = model.held?.family { model.ended.insert(family) }
                // A session that has ended leaves its name to no later session.
                if model.granted?.keepsName == true {
                    model.granted?.name = nil
                    model.granted?.keepsName = false
                }
            }
            resume(call, .status(403))
            if !isOfSession, snapshot.revision != before.revision {
                fail("a verdict on what is over has changed what stands")
            }
        case 1..<5: resume(call, .status(401))
        default: resume(call, .status(200))
        }
    }

    /// Checks that refusals without a reason require a new credential only after three attempts over ten minutes with
    /// an expired token.
    private func judgePresumption(of call: Call) {
        coverage.note(.presumedDemands)
        (model.isPresumed, model.isDemanded) = (true, false)
        let times = call.refresh.flatMap { model.unexplained[$0] } ?? []
        guard let first = times.first, times.count >= 3 else {
            return fail("reauthentication is presumed after \(times.count) refusals")
        }
        // After a restart the daemon knows the time only from a wall clock that may have been set.
        if time - first < 600_000, lastStep < first {
            fail("reauthentication is presumed after \(time - first) ms")
        }
        if snapshot.facts.state == .established { fail("reauthentication is presumed while the token lives") }
    }
}
