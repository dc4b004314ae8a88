import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// Sign-ins that need a handler, and sign-ins beside a session that waits for one.
struct HandlerSignInTests {
    @Test func `a sign-in without a token asks a handler for the missing one`() {
        var bench = Bench(mode: .handler)
        bench.register(1)
        let request = bench.signIn(.registration(of: "alice"))
        #expect(bench.state == .establishing)
        #expect(bench.questions.last?.question.reason == .missing)
        #expect(bench.questions.last?.question.userId == "alice")
        bench.answerQuestion(.credential)
        bench.grantExchange(scheme: .registration)
        #expect(bench.reply(to: request) == .done)
        #expect(bench.state == .established)
    }

    @Test func `when a registration token is refused, the next handler is asked`() {
        var (bench, request) = Bench.withRefusedToken()
        #expect(bench.questions.map(\.handler.number) == [1])
        #expect(bench.questions.last?.question.reason == .missing)
        bench.answerQuestion(.unable)
        #expect(bench.refusal(of: request) == .invalidCredential)
    }

    @Test func `a sign-in behind one whose handler is silent begins when that handler's deadline has passed`() {
        var bench = Bench(mode: .handler)
        bench.register(1)
        let silent = bench.signIn(.registration(of: "alice"))
        let next = bench.signIn(.signInToken("bob"))
        #expect(bench.exchanges.isEmpty)

        bench.pass(.seconds(60))

        #expect(bench.refusal(of: silent) == .providerUnavailable)
        bench.grantExchange(of: "bob")
        #expect(bench.reply(to: next) == .done)
    }

    @Test func `only the answer to the open question continues a sign-in`() {
        var bench = Bench(mode: .handler)
        bench.register(1)
        bench.register(2)
        bench.signIn(.registration(of: "alice"))
        let attempt = bench.questions.last!.question.attempt

        bench.say(.credential, from: 2, to: AttemptID(number: attempt.number + 1))
        bench.say(.credential, from: 1, to: attempt)
        #expect(bench.exchanges.isEmpty)

        bench.say(.credential, from: 2, to: attempt)
        bench.say(.credential, from: 2, to: attempt)
        #expect(bench.exchanges == [attempt])
    }

    @Test func `a handler's answer for a renewal survives a sign-in whose handler's answer was refused`() {
        let bench = OwnerBench(tokenLife: .seconds(60), rules: RenewalRules(mode: .handler)).start().signIn()
        let handler = bench.register()
        bench.provider.failRenewals(.unavailable(Unavailability("No network")))
        bench.pass(.seconds(61))
        handler.answer(.authToken(SharedSecret(text: "for alice")))
        #expect(bench.provider.renewalCalls == 1)

        // A caller requests bob, and the provider refuses the token for him.
        bench.provider.failExchanges(.refused("It is used up"))
        bench.identify("ext-bob", answering: .registration(userId: "bob", token: nil))
        #expect(handler.questions.last?.reason == .missing)
        handler.answer(.authToken(SharedSecret(text: "for bob")))
        #expect(bench.provider.exchangeCalls == 2)

        bench.pass(.seconds(60))

        let tokens: [String] = bench.provider.renewalAnswers.map { answer in
            guard case .authToken(let token) = answer else { return "none" }
            return token.text
        }
        #expect(tokens == ["for alice", "for alice"])
        #expect(bench.snapshot().facts.state == .established)
    }

    @Test(arguments: [0, 1] as [UInt64])
    func `a sign-in renews an expired session that waits for a handler, and a failed sign-in changes nothing`(
        handlers: UInt64
    ) {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(61))
        if handlers > 0 {
            bench.register(1)
            bench.answerQuestion(.unable)
        }
        let waiting = bench.facts
        #expect(waiting.renewal.phase == (handlers > 0 ? .postponed : .waitingForHandler))

        let vain = bench.signIn(.signInToken("alice"))
        bench.failExchange(.unavailable(Unavailability("No network")))
        #expect(bench.refusal(of: vain) == .providerUnavailable)
        #expect(bench.facts == waiting)
        #expect(bench.refusal { $0.signIn(.signInToken("bob")) } == .alreadySignedIn)

        let request = bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        #expect(bench.reply(to: request) == .done)
        #expect(bench.state == .established)
        #expect(bench.facts.renewal.phase == .scheduled)
    }

    @Test func `a sign-in beside a valid token makes no call while the renewal is postponed`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.unable)
        let request = bench.signIn(.signInToken("alice"))
        #expect(bench.reply(to: request) == .done)
        #expect(bench.exchanges.isEmpty)
        #expect(bench.facts.renewal.phase == .postponed)
    }

    @Test func `a sign-in does not replace an expired session while a handler can be asked`() {
        var bench = Bench.longBackoff(life: .seconds(60), mode: .handler)
        #expect(bench.state == .tokenExpired)
        #expect(bench.reply { $0.signIn(.signInToken("alice")) } == .done)
        #expect(bench.exchanges.isEmpty)
    }

    @Test func `an expired session without a handler accepts a token from a sign-in of its user`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(120))
        #expect(bench.state == .tokenExpired)
        let facts = CredentialFacts(scheme: .tokenExchange, subject: .unnamed)
        let request = bench.signIn(facts)
        bench.grantExchange(scheme: .tokenExchange)
        #expect(bench.reply(to: request) == .done && bench.state == .established)
        bench.pass(.seconds(120))
        let other = bench.signIn(facts)
        bench.grantExchange(of: "bob", scheme: .tokenExchange)
        #expect(bench.refusal(of: other) == .alreadySignedIn)
    }
}
