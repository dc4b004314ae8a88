import Testing

@testable import JunctionSession

/// A provider that has forgotten the registration of a session when a handler's answer arrives.
struct ForgottenRegistrationTests {
    @Test func `when the provider has forgotten the registration, the next handler is asked and the session stays`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.answerQuestion(.renew)
        bench.failRenewal(.registrationForgotten)
        #expect(bench.questions.map(\.handler.number) == [1])
        #expect(bench.facts.userId == "alice")
    }

    @Test func `an auth token that met a forgotten registration is sent again immediately, and the caller succeeds`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        let request = bench.renew()
        bench.answerQuestion(.credential)
        bench.failRenewal(.registrationForgotten)
        #expect(bench.renewals.count == 1)
        #expect(bench.everAsked.count == 1)
        bench.grantRenewal()
        #expect(bench.reply(to: request) == .done)
    }

    @Test func `a signature that met a forgotten registration is spent, and another one is asked for at once`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        let request = bench.renew()
        bench.answerQuestion(.signature)
        bench.failRenewal(.registrationForgotten)
        #expect(bench.everAsked.map(\.number) == [1, 1])
        bench.answerQuestion(.signature)
        bench.grantRenewal()
        #expect(bench.reply(to: request) == .done)
    }

    @Test(arguments: [HandlerReply.credential, .signature])
    func `a provider that forgets every registration gets a bounded number of requests`(answer: HandlerReply) {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        let request = bench.renew()
        for _ in 0..<2 {
            if !bench.questions.isEmpty { bench.answerQuestion(answer) }
            bench.failRenewal(.registrationForgotten)
        }
        #expect(bench.refusal(of: request) == .providerUnavailable)
        #expect(bench.facts.renewal.phase == .backingOff)
    }

    @Test func `a forgotten registration with a spent signature waits for a handler if none is registered any more`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.signature)
        bench.perform(bench.machine.handlerGone(HandlerID(number: 1, uid: 1), now: bench.now))

        bench.failRenewal(.registrationForgotten)

        #expect(bench.facts.renewal.phase == .backingOff)
        bench.pass(.seconds(3))
        bench.register(2)
        #expect(bench.questions.count == 1, "no postponement keeps the new handler from being asked")
    }
}
