import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// Session handlers: local apps that the daemon asks when a session is to be renewed.
struct HandlerTests {
    @Test func `a due renewal waits for a handler and begins when one registers`() {
        var bench = Bench.renewalDue()
        #expect(bench.facts.renewal.phase == .waitingForHandler)
        #expect(bench.renewals.isEmpty)
        #expect(bench.machine.nextAlarm(now: bench.now).map { $0 > bench.now.wall } ?? true)

        bench.register(1)

        #expect(bench.questions.map(\.handler.number) == [1])
        #expect(bench.questions.last?.question.reason == .expiring)
        #expect(bench.facts.renewal.phase == .inFlight)
    }

    @Test func `handlers are asked one at a time, the latest registered first`() {
        var bench = Bench.renewalDue(handlers: 1, 2, 3)
        #expect(bench.everAsked.map(\.number) == [3])
        bench.answerQuestion(.unable)
        #expect(bench.everAsked.map(\.number) == [3, 2])
        bench.answerQuestion(.unable)
        #expect(bench.everAsked.map(\.number) == [3, 2, 1])
        bench.answerQuestion(.renew)
        #expect(bench.renewals.count == 1)
    }

    @Test(arguments: [HandlerReply.renew, .credential])
    func `an answer causes one renewal, and the session goes on`(answer: HandlerReply) {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(answer)
        #expect(bench.renewals.count == 1)
        bench.grantRenewal()
        #expect(bench.state == .established)
        #expect(bench.facts.accessToken?.generation == 2)
        #expect(bench.facts.renewal.phase == .scheduled)
    }

    @Test func `a handler that gives no token for a session without a refresh token is skipped`() {
        var bench = Bench(mode: .handler)
        bench.signIn(CredentialFacts(scheme: .tokenExchange, subject: .unnamed))
        bench.grantExchange(scheme: .tokenExchange)
        bench.register(1)
        bench.register(2)
        bench.pass(.seconds(3_000))
        bench.answerQuestion(.renew)
        bench.failRenewal(.reauthenticationRequired)
        #expect(!bench.facts.flags.contains(.pendingReauthentication) && bench.everAsked.map(\.number) == [2, 1])
        bench.answerQuestion(.credential)
        bench.grantRenewal(scheme: .tokenExchange)
        #expect(bench.state == .established && bench.facts.renewal.phase == .scheduled)
    }

    @Test func `a handler that is silent until its deadline is skipped`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.pass(.seconds(59))
        #expect(bench.everAsked.map(\.number) == [2])
        bench.pass(.seconds(1))
        #expect(bench.everAsked.map(\.number) == [2, 1])
    }

    @Test func `a handler that disconnects while it is asked is skipped`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.unregister(2)
        #expect(bench.questions.map(\.handler.number) == [1])
        bench.unregister(1)
        #expect(bench.facts.renewal.phase == .postponed)
    }

    @Test func `a handler that has gone is not asked after another handler's answer was refused`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.answerQuestion(.credential)
        bench.unregister(1)
        bench.failRenewal(.answerRefused("The token is for another user"))
        #expect(bench.everAsked.map(\.number) == [2])
        #expect(bench.facts.renewal.phase == .postponed)
    }

    @Test func `a handler that registers twice is asked once, as the latest`() {
        var bench = Bench.renewalDue(handlers: 1, 2, 1)
        bench.answerQuestion(.unable)
        bench.answerQuestion(.unable)
        #expect(bench.everAsked.map(\.number) == [1, 2])
        #expect(bench.facts.renewal.phase == .postponed)
    }

    @Test func `a handler that goes while another is asked changes nothing`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.unregister(1)
        #expect(bench.facts.renewal.phase == .inFlight)
        #expect(bench.everAsked.map(\.number) == [2])
        bench.answerQuestion(.renew)
        #expect(bench.renewals.count == 1)
    }

    @Test func `only the handler that was asked can answer`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        let attempt = bench.questions.last!.question.attempt
        bench.say(.renew, from: 1, to: attempt)
        #expect(bench.renewals.isEmpty)
        bench.say(.renew, from: 2, to: attempt)
        #expect(bench.renewals.count == 1)
    }

    @Test func `a question carries the reason of the renewal`() {
        var bench = Bench.signedIn(life: .seconds(1_000), mode: .handler)
        bench.register(1)
        bench.rejected(1)
        #expect(bench.questions.last?.question.reason == .rejected)
        bench.answerQuestion(.renew)
        bench.grantRenewal()
        bench.advance(by: .seconds(300))
        bench.token(validFor: .seconds(750))
        #expect(bench.questions.last?.question.reason == .expiring)
    }

    @Test func `an answer for another user is refused, and the next handler is asked`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.answerQuestion(.credential)
        bench.failRenewal(.answerRefused("The token is for another user"))
        #expect(bench.questions.map(\.handler.number) == [1])
        bench.answerQuestion(.credential)
        bench.failRenewal(.answerRefused("The token is for another user"))
        #expect(bench.facts.renewal.phase == .postponed)
        #expect(bench.facts.userId == "alice")
    }

    @Test func `when a retried answer is refused, the other handlers are asked`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.answerQuestion(.credential)
        bench.failRenewal(.unavailable(Unavailability("Busy", retryAfter: .seconds(500))))
        while bench.renewals.isEmpty { bench.passToAlarm() }

        bench.failRenewal(.answerRefused("It is used up"))

        #expect(bench.everAsked.map(\.number) == [2, 1])
    }

    @Test func `an auth token that met a transient failure is sent again by the retry`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.credential)
        bench.failRenewal(.unavailable(Unavailability("No answer")))
        #expect(bench.facts.renewal.phase == .backingOff)
        bench.passToNextAttempt()
        #expect(bench.everAsked.count == 1)
        #expect(bench.renewals.count == 1)
    }

    @Test func `a signature that may have arrived is not sent again, and the handler is asked for another one`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.signature)
        bench.failRenewal(.unavailable(Unavailability("No answer", ambiguous: true)))
        #expect(bench.facts.renewal.phase == .backingOff)
        bench.pass(.seconds(2))
        #expect(bench.renewals.isEmpty)
        #expect(bench.everAsked.count == 2)
        bench.answerQuestion(.signature)
        bench.failRenewal(.registrationForgotten)
        #expect(bench.everAsked.count == 3)
        bench.answerQuestion(.signature)
        bench.grantRenewal()
        #expect(bench.state == .established)
    }

    @Test func `a signature that never arrived is sent again`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.signature)
        bench.failRenewal(.unavailable(Unavailability("Connection refused")))
        bench.pass(.seconds(2))
        #expect(bench.renewals.count == 1)
        #expect(bench.everAsked.count == 1)
    }

    @Test func `a caller with an expired token causes no second question within ten seconds`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.register(1)
        bench.pass(.seconds(61))
        bench.answerQuestion(.renew)
        for _ in 0..<8 {
            bench.failRenewal(.unavailable(Unavailability("Busy")))
            bench.passToNextAttempt()
            bench.answerQuestion(.renew)
        }
        bench.failRenewal(.unavailable(Unavailability("Busy")))
        let asked = bench.everAsked.count
        #expect(bench.refusal { $0.token() } == .tokenExpired)
        #expect(bench.everAsked.count == asked)
        bench.now.uptime = bench.now.uptime + .seconds(10)
        bench.token()
        #expect(bench.everAsked.count == asked + 1)
    }

    @Test func `a refused answer is reported`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.credential)
        bench.failRenewal(.answerRefused("It is used up"))
        #expect(bench.reports.compactMap(\.renewalOutcome) == [.refused, .unavailable])
    }

    @Test func `an intent is on disk before a handler's answer is sent, also after a lost answer`() throws {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.renew()
        bench.answerQuestion(.renew)
        bench.failRenewal(.lost)
        while bench.machine.renewal.isRetryingRefresh {
            bench.passToNextAttempt()
            bench.failRenewal(.lost)
        }
        #expect(bench.facts.renewal.phase == .backingOff)
        #expect(try #require(bench.storedSession).renewalUnderWay)
        bench.passToNextAttempt()
        bench.holdsWrites = true
        bench.answerQuestion(.credential)
        #expect(bench.renewals.isEmpty)
        bench.endWrite()
        #expect(bench.renewals.count == 1)
        #expect(try #require(bench.storedSession).intentCannotBeResent)
    }

    @Test func `no second question is asked while one is open`() {
        var bench = Bench.renewalDue(handlers: 1)
        for _ in 0..<5 {
            bench.pass(.seconds(5))
            bench.renew()
            bench.token()
        }
        #expect(bench.everAsked.count == 1)
    }

    @Test func `no second question is asked while an answer is being tried`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.credential)
        for _ in 0..<5 {
            bench.pass(.seconds(600))
            bench.register(2)
            bench.renew()
        }
        #expect(bench.everAsked.count == 1)
        #expect(bench.renewals.count == 1)
    }

    @Test func `a handler that answers twice causes one request`() {
        var bench = Bench.renewalDue(handlers: 1)
        let attempt = bench.questions.last!.question.attempt
        bench.answerQuestion(.renew)
        bench.say(.renew, from: 1, to: attempt)
        bench.say(.credential, from: 1, to: attempt)
        #expect(bench.renewals.count == 1)
        bench.grantRenewal()
        bench.say(.renew, from: 1, to: attempt)
        #expect(bench.renewals.isEmpty)
        #expect(bench.facts.accessToken?.generation == 2)
    }

    @Test func `an answer after a sign-out signs no user in`() {
        var bench = Bench.renewalDue(handlers: 1)
        let attempt = bench.questions.last!.question.attempt
        bench.signOut()
        bench.say(.renew, from: 1, to: attempt)
        bench.say(.credential, from: 1, to: attempt)
        #expect(bench.state == .notLoggedIn)
        #expect(bench.renewals.isEmpty)
        #expect(bench.revoked == [.user("alice")])
    }

    @Test func `an answer to the previous user's question does not affect the next user's session`() {
        var bench = Bench.renewalDue(handlers: 1)
        let attempt = bench.questions.last!.question.attempt
        bench.signOut()
        bench.signIn(.signInToken("bob"))
        bench.grantExchange(of: "bob")
        bench.say(.credential, from: 1, to: attempt)
        #expect(bench.renewals.isEmpty)
        #expect(bench.facts.userId == "bob")
        #expect(bench.facts.renewal.phase == .scheduled)
    }

    @Test func `a session whose next renewal needs a handler shows needsHandler while none is registered`() {
        var bench = Bench.signedIn(mode: .handler)
        #expect(bench.facts.renewal.needsHandler)
        bench.register(1)
        #expect(!bench.facts.renewal.needsHandler)
        bench.unregister(1)
        #expect(bench.facts.renewal.needsHandler)
        bench.pass(.seconds(3_000))
        #expect(bench.facts.renewal.phase == .waitingForHandler)
        #expect(bench.facts.renewal.needsHandler)
        bench.signOut()
        #expect(!bench.facts.renewal.needsHandler)

        #expect(!Bench.signedIn(mode: .automatic).facts.renewal.needsHandler)
        var alone = Bench(mode: .handler)
        alone.signIn(CredentialFacts(scheme: .selfSigned, subject: .user(.user("alice"))))
        alone.grantExchange(scheme: .selfSigned)
        #expect(!alone.facts.renewal.needsHandler)
    }

    @Test(arguments: [Scheme.registration, .registrationSignature], [RenewalMode.automatic, .handler])
    func `a session that only an app can renew asks a handler in every mode`(scheme: Scheme, mode: RenewalMode) {
        var bench = Bench(mode: mode)
        bench.signIn(CredentialFacts(scheme: scheme, subject: .user(.user("alice"))))
        bench.grantExchange(scheme: scheme)
        #expect(bench.facts.renewal.needsHandler)
        bench.pass(.seconds(3_000))
        #expect(bench.facts.renewal.phase == .waitingForHandler)
        #expect(bench.renewals.isEmpty)

        bench.register(1)
        bench.answerQuestion(.credential)
        bench.grantRenewal()

        #expect(!bench.facts.renewal.needsHandler)
        #expect(bench.facts.renewal.phase == .scheduled)
    }

    @Test func `a handler that has unregistered is not asked`() {
        let bench = OwnerBench(tokenLife: .seconds(60), rules: RenewalRules(mode: .handler)).start().signIn()
        let handler = bench.register()
        bench.on { $0.unregister(handler.id) }
        bench.pass(.seconds(61))
        #expect(handler.questions.isEmpty)
        #expect(bench.snapshot().facts.renewal.phase == .waitingForHandler)
        // Unregistering twice has the effect of once.
        bench.on { $0.unregister(handler.id) }
    }
}
