import JunctionSession

/// The owner's reports to its observer. They show when a sign-in takes effect.
extension Simulation {
    func happened(_ event: SessionEvent) {
        log("reported: \(event)")
        switch event {
        case .exchangeEnded(.succeeded, _):
            guard let login = books.granted?.named(after: books.held) else {
                return fail("a sign-in succeeded that nobody granted")
            }
            coverage.note(.signInsWritten)
            (books.held, books.granted, books.grantedTo, books.renewed) = (login, nil, nil, nil)
            (books.isDemanded, books.isPresumed, books.isEnding, books.mayEnd) = (false, false, false, false)
            (books.quietUntil, books.window, books.renewBarredUntil) = (nil, nil, .min)
            // A handler may have been asked for the earlier session while the grant waited for the disk.
            if books.open?.question.reason != .missing { books.open = nil }
            books.demanded[.renewal] = nil
            for (number, call) in calls where call.kind == .renewal { calls[number]?.isOvertaken = true }
            books.era += 1
        case .exchangeEnded:
            books.hasRefused = true
        case .renewalEnded(.succeeded, _, _):
            guard let login = books.renewed?.named(after: books.held) else {
                return fail("a renewal succeeded that nobody granted")
            }
            coverage.note(.rotations)
            if let spent = books.held?.refresh { books.succeeded.insert(spent) }
            (books.held, books.renewed, books.isDemanded, books.isPresumed) = (login, nil, false, false)
            books.demanded[.renewal] = nil
            (books.quietUntil, books.window, books.renewBarredUntil) = (nil, nil, .min)
        case .renewalEnded(.terminated, _, _): coverage.note(.terminations)
        case .signedOut:
            (books.held, books.isDemanded, books.isPresumed) = (nil, false, false)
            (books.renewBarredUntil, books.demanded[.renewal]) = (.min, nil)
        case .registrationForgotten: coverage.note(.registrationsForgotten)
        case .revocationGivenUp: books.hasGivenUp = true
        case .renewalEnded, .writeFailed: break
        }
    }
}
