import Testing

@testable import JunctionSession

/// A provider may forget a session without ending it. The daemon detects that without a caller.
struct RegistrationCheckTests {
    private func registered(mode: RenewalMode = .handler, life: Duration = .seconds(864_000)) -> Bench {
        var bench = Bench(mode: mode)
        bench.life = life
        bench.signIn(CredentialFacts(scheme: .registration, subject: .user(.user("alice"))))
        bench.grantExchange(scheme: .registration)
        return bench
    }

    @Test func `the provider is asked about once an hour, and soon after a start`() {
        var bench = registered()
        bench.pass(.seconds(2_999))
        #expect(bench.checks.isEmpty)
        for count in 1...5 {
            bench.pass(.seconds(1_201))
            #expect(bench.checks.count == count)
            bench.endCheck(isKnown: count.isMultiple(of: 2) ? nil : true)
            bench.pass(.seconds(2_999))
            #expect(bench.checks.count == count)
        }
        #expect(bench.renewals.isEmpty)

        var restarted = bench.restarted(mode: .handler)
        #expect(restarted.checks.isEmpty)
        restarted.pass(.seconds(60))
        #expect(restarted.checks.count == 1)
    }

    @Test func `a session that the provider does not forget is not checked`() {
        var bench = Bench.signedIn(life: .seconds(864_000))
        bench.pass(.seconds(7_200))
        #expect(bench.checks.isEmpty)
    }

    @Test func `a handler is asked at once when the provider has forgotten the registration`() {
        var bench = registered()
        bench.register(1)
        bench.pass(.seconds(4_200))

        bench.endCheck(isKnown: false)

        #expect(bench.reports.last == .registrationForgotten)
        #expect(bench.questions.last?.question.reason == .rejected)
        bench.answerQuestion(.credential)
        bench.grantRenewal()
        #expect(bench.facts.renewal.phase == .scheduled)
        #expect(bench.facts.renewal.lastError == nil)
    }

    @Test func `without a handler the renewal waits for one, and a sign-in of the same user brings a registration`() {
        var bench = registered()
        bench.pass(.seconds(4_200))
        bench.endCheck(isKnown: false)
        #expect(bench.facts.renewal.phase == .waitingForHandler)
        #expect(bench.facts.renewal.lastError?.contains("forgotten") == true)

        var again = bench
        again.signIn(CredentialFacts(scheme: .registration, subject: .user(.user("alice"))))
        #expect(again.exchanges.count == 1)

        bench.register(1)
        #expect(bench.questions.count == 1)
    }

    @Test func `an answer that arrives after a renewal is ignored`() {
        var bench = registered()
        bench.register(1)
        bench.pass(.seconds(4_200))
        bench.renew()
        bench.answerQuestion(.credential)
        bench.grantRenewal()

        bench.endCheck(isKnown: false)

        #expect(bench.questions.isEmpty)
        #expect(bench.facts.renewal.phase == .scheduled)
    }

    @Test func `no check is made while a renewal is under way or the token has expired`() {
        var bench = registered(life: .seconds(9_000))
        bench.pass(.seconds(4_200))
        bench.endCheck(isKnown: nil)
        bench.pass(.seconds(86_400))
        #expect(bench.state == .tokenExpired)
        #expect(bench.checks.count == 1)
        bench.register(1)
        bench.pass(.seconds(30))
        #expect(bench.checks.count == 1)
    }
}
