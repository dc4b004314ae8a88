import JunctionSession

/// The owner's reports to its observer. They show when a sign-in takes effect.
extension Simulation {
    func changed(_ snapshot: Snapshot) {
        if snapshot.facts.renewal.phase != .inFlight { model.isRenewalRequested = false }
    }

    func happened(_ event: SessionEvent) {
        log("reported: \(event)")
        switch event {
        case .exchangeEnded(.succeeded, _):
            guard let login = model.granted?.named(after: model.held) else {
                return fail("a sign-in succeeded that nobody granted")
            }
            coverage.note(.signInsWritten)
            (model.held, model.granted, model.grantedTo, model.renewed) = (login, nil, nil, nil)
            (model.isDemanded, model.isPresumed, model.isEnding, model.mayEnd) = (false, false, false, false)
            (model.quietUntil, model.window, model.renewBarredUntil) = (nil, nil, .min)
            // A handler may have been asked for the earlier session while the grant waited for the disk.
            if model.open?.question.reason != .missing { model.open = nil }
            model.demanded[.renewal] = nil
            for (number, call) in calls where call.kind == .renewal { calls[number]?.isOvertaken = true }
            model.era += 1
        case .exchangeEnded:
            (model.hasRefused, model.isWithdrawing) = (true, false)
        case .renewalEnded(.succeeded, _, _):
            guard let login = model.renewed?.named(after: model.held) else {
                return fail("a renewal succeeded that nobody granted")
            }
            coverage.note(.rotations)
            if let spent = model.held?.refresh { model.succeeded.insert(spent) }
            (model.held, model.renewed, model.isDemanded, model.isPresumed) = (login, nil, false, false)
            model.demanded[.renewal] = nil
            (model.quietUntil, model.window, model.renewBarredUntil) = (nil, nil, .min)
        case .renewalEnded(.terminated, _, _): coverage.note(.terminations)
        case .signedOut:
            (model.held, model.isDemanded, model.isPresumed) = (nil, false, false)
            (model.renewBarredUntil, model.demanded[.renewal]) = (.min, nil)
        case .registrationForgotten: coverage.note(.registrationsForgotten)
        case .authorizationPageFailed: break
        case .revocationGivenUp: model.hasGivenUp = true
        case .renewalEnded, .writeFailed: break
        }
    }
}
