import Testing

@testable import JunctionSession

/// What is told of a renewal that failed: why, whose fault it is, and when it goes on.
struct TroubleTests {
    private func trouble(_ failure: RenewalFailure) -> (Trouble?, Bench) {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(failure)
        guard case .renewalEnded(_, let trouble)? = bench.reports.last else { return (nil, bench) }
        return (trouble, bench)
    }

    @Test func `a provider that cannot be reached is told with its host, and when it is asked again`() {
        var failure = Unavailability("No answer from auth.example.com within 10 s")
        (failure.cause, failure.host) = (.timeout, "auth.example.com")

        let (trouble, bench) = trouble(.unavailable(failure))

        #expect(trouble?.cause == .timeout)
        #expect(trouble?.host == "auth.example.com")
        #expect(trouble?.message == failure.message)
        #expect(trouble?.nextAttempt != nil)
        #expect(trouble?.nextAttempt == bench.facts.renewal.notBefore)
    }

    @Test(arguments: [
        (RenewalFailure.terminated(code: "invalid_token", message: "Deleted"), Trouble.Cause.termination),
        (.reauthenticationRequired, .reauthentication), (.answerRefused("None"), .handler),
        (.unavailable(Unavailability("Odd")), .other),
    ])
    func `every failure has a cause, and what is over has no next attempt`(
        failure: RenewalFailure,
        cause: Trouble.Cause
    ) {
        let (trouble, _) = trouble(failure)

        #expect(trouble?.cause == cause)
        let isOver = cause == .termination || cause == .reauthentication
        #expect((trouble?.nextAttempt == nil) == isOver)
    }

    @Test func `a renewal that succeeds reports no failure`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.grantRenewal()

        #expect(bench.reports.last == .renewalEnded(.succeeded))
    }
}
