import Testing

@testable import JunctionSession

/// The report of a failed renewal: its cause and the time of the next attempt.
struct FailedRenewalReportTests {
    private func report(_ failure: RenewalFailure) -> (Unavailability?, nextAttempt: WallTime?, Bench) {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(failure)
        guard case .renewalEnded(_, let why, let nextAttempt)? = bench.reports.last else { return (nil, nil, bench) }
        return (why, nextAttempt, bench)
    }

    @Test func `an unreachable provider is reported with its host and the time of the next attempt`() {
        let failure = Unavailability(
            "No answer from auth.example.com within 10 s",
            cause: .timeout,
            host: "auth.example.com"
        )

        let (why, nextAttempt, bench) = report(.unavailable(failure))

        #expect(why?.cause == .timeout)
        #expect(why?.host == "auth.example.com")
        #expect(why?.message == failure.message)
        #expect(nextAttempt != nil)
        #expect(nextAttempt == bench.facts.renewal.notBefore)
    }

    @Test(arguments: [
        (RenewalFailure.terminated(code: "invalid_token", message: "Deleted"), Unavailability.Cause.termination),
        (.reauthenticationRequired, .reauthentication), (.answerRefused("None"), .handler),
        (.registrationForgotten, .registration), (.unavailable(Unavailability("Odd")), .other),
    ])
    func `every failure has a cause, and no next attempt if the renewal is over or repeated at once`(
        failure: RenewalFailure,
        cause: Unavailability.Cause
    ) {
        let (why, nextAttempt, _) = report(failure)

        #expect(why?.cause == cause)
        // A renewal of a forgotten registration is already under way.
        let isOver = cause == .termination || cause == .reauthentication || cause == .registration
        #expect((nextAttempt == nil) == isOver)
        #expect((why?.message.contains("renewal.mode") == true) == (cause == .handler))
    }

    @Test(arguments: [true, false])
    func `a postponement is reported with the time of its end`(isRefused: Bool) {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.renew()
        if isRefused {
            bench.answerQuestion(.renew)
            bench.failRenewal(.answerRefused("The token is stale"))
        } else {
            bench.answerQuestion(.unable)
        }

        guard case .renewalEnded(.unavailable, let why?, let nextAttempt?)? = bench.reports.last else {
            Issue.record("Nothing is reported: \(bench.reports)")
            return
        }
        #expect(why.cause == .handler)
        #expect(why.message.hasPrefix("no session handler could help"))
        #expect(nextAttempt == bench.facts.renewal.notBefore)
    }

    @Test func `a renewal that succeeds reports no failure`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.grantRenewal()

        #expect(bench.reports.last == .renewalEnded(.succeeded))
    }
}
