import Testing

@testable import JunctionSession

/// Session handlers: local apps that are asked when a session is to be renewed (the vendor's document 003), and every
/// defect that was found in the vendor's own SDKs, as a test that we do not have it.
struct HandlerTests {
    private func due(handlers: UInt64...) -> Bench {
        var bench = Bench.signedIn(mode: .handler)
        for handler in handlers { bench.register(handler) }
        bench.pass(.seconds(3_000))
        return bench
    }

    // MARK: Asking

    @Test func `a renewal that is due waits for a handler and begins when one registers`() {
        var bench = due()
        #expect(bench.facts.renewal.phase == .waitingForHandler)
        #expect(bench.renewals.isEmpty)
        #expect(bench.machine.nextAlarm(now: bench.now).map { $0 > bench.now.wall } ?? true)

        bench.register(1)

        #expect(bench.questions.map(\.handler.number) == [1])
        #expect(bench.questions.last?.question.reason == .expiring)
        #expect(bench.facts.renewal.phase == .inFlight)
    }

    @Test func `handlers are asked one at a time, the latest registered first`() {
        var bench = due(handlers: 1, 2, 3)
        #expect(bench.everAsked.map(\.number) == [3])
        bench.answerQuestion(.unable)
        #expect(bench.everAsked.map(\.number) == [3, 2])
        bench.answerQuestion(.unable)
        #expect(bench.everAsked.map(\.number) == [3, 2, 1])
        bench.answerQuestion(.renew)
        #expect(bench.renewals.count == 1)
    }

    @Test(arguments: [HandlerAnswer.renew, .credential])
    func `an answer leads to one renewal, and the session goes on`(answer: HandlerAnswer) {
        var bench = due(handlers: 1)
        bench.answerQuestion(answer)
        #expect(bench.renewals.count == 1)
        bench.grantRenewal()
        #expect(bench.state == .established)
        #expect(bench.facts.accessToken?.generation == 2)
        #expect(bench.facts.renewal.phase == .scheduled)
    }

    @Test func `silence past the deadline moves on to the next`() {
        var bench = due(handlers: 1, 2)
        bench.pass(.seconds(59))
        #expect(bench.everAsked.map(\.number) == [2])
        bench.pass(.seconds(1))
        #expect(bench.everAsked.map(\.number) == [2, 1])
    }

    @Test func `a handler that dies while it is asked harms nobody`() {
        var bench = due(handlers: 1, 2)
        bench.unregister(2)
        #expect(bench.questions.map(\.handler.number) == [1])
        bench.unregister(1)
        #expect(bench.facts.renewal.phase == .postponed)
    }

    @Test func `a token for another user moves on to the next, then counts as unable`() {
        var bench = due(handlers: 1, 2)
        bench.answerQuestion(.credential)
        bench.failRenewal(.answerRefused("The token is for another user"))
        #expect(bench.questions.map(\.handler.number) == [1])
        bench.answerQuestion(.credential)
        bench.failRenewal(.answerRefused("The token is for another user"))
        #expect(bench.facts.renewal.phase == .postponed)
        #expect(bench.facts.userId == "alice")
    }

    @Test func `an auth token that met a transient failure is used again by the retry`() {
        var bench = due(handlers: 1)
        bench.answerQuestion(.credential)
        bench.failRenewal(.unavailable(Unavailability("No answer")))
        #expect(bench.facts.renewal.phase == .backingOff)
        bench.pass(bench.facts.renewal.notBefore! - bench.now.wall)
        #expect(bench.everAsked.count == 1)
        #expect(bench.renewals.count == 1)
    }

    @Test func `a provider that forgot the registration has it asked for again, the session kept`() {
        var bench = due(handlers: 1, 2)
        bench.answerQuestion(.renew)
        bench.failRenewal(.registrationForgotten)
        #expect(bench.questions.map(\.handler.number) == [1])
        #expect(bench.facts.userId == "alice")
    }

    @Test func `a token that met a forgotten registration is not spent: it registers anew at once`() {
        var bench = due(handlers: 1)
        bench.answerQuestion(.credential)
        bench.failRenewal(.registrationForgotten)
        #expect(bench.facts.renewal.phase == .backingOff)
        bench.pass(.seconds(2))
        #expect(bench.everAsked.count == 1)
        bench.grantRenewal()
        #expect(bench.state == .established)
    }

    @Test func `a session without an end sets no alarm that no timer takes`() {
        var bench = Bench()
        bench.life = WallTime.never - bench.now.wall
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        let alarm = bench.machine.nextAlarm(now: bench.now)
        #expect(alarm == bench.now.wall + .seconds(30 * 86_400))
        let served = bench.reply { $0.token(validFor: .seconds(86_400)) }
        guard case .token? = served else {
            Issue.record("not served")
            return
        }
    }

    // MARK: Postponement

    @Test func `after unable nobody is asked for ten minutes, and a little more`() {
        for seed in 0..<50 {
            var bench = Bench.signedIn(seed: UInt64(seed), mode: .handler)
            bench.register(1)
            bench.pass(.seconds(3_000))
            bench.answerQuestion(.unable)
            let wait = bench.facts.renewal.notBefore! - bench.now.wall
            #expect(bench.facts.renewal.phase == .postponed)
            #expect(wait >= .seconds(600) && wait <= .seconds(660))

            bench.register(2)
            bench.unregister(1)
            bench.register(1)
            bench.pass(.seconds(599))
            _ = bench.token()
            #expect(bench.everAsked.count == 1)

            bench.pass(.seconds(61))
            #expect(bench.everAsked.count == 2)
        }
    }

    @Test func `whoever is told of a postponement is told when it is durable`() {
        var bench = due(handlers: 1)
        let waiting = bench.renew()
        bench.holdsWrites = true
        bench.answerQuestion(.unable)
        #expect(bench.reply(to: waiting) == nil)
        bench.endWrite()
        #expect(bench.refusal(of: waiting) == .tokenExpired)
    }

    @Test func `a postponement is kept over a restart`() {
        var bench = due(handlers: 1)
        bench.answerQuestion(.unable)
        let until = bench.facts.renewal.notBefore

        var restarted = Bench(
            at: bench.now,
            mode: .handler,
            .restored(bench.written.last!, SessionSecrets(), damaged: nil)
        )
        restarted.register(1)

        #expect(restarted.questions.isEmpty)
        #expect(restarted.facts.renewal.phase == .postponed)
        #expect(restarted.facts.renewal.notBefore == until)
        restarted.pass(.seconds(661))
        #expect(restarted.questions.count == 1)
    }

    @Test func `a wall clock that is set cannot shorten a postponement, nor make it endless`() {
        var bench = due(handlers: 1)
        bench.answerQuestion(.unable)
        bench.stepWall(.seconds(10_000))
        #expect(bench.everAsked.count == 1)
        bench.stepWall(.seconds(-5_000_000))
        bench.pass(.seconds(661))
        #expect(bench.everAsked.count == 2)
    }

    @Test func `session renew passes a postponement`() {
        var bench = due(handlers: 1)
        bench.answerQuestion(.unable)
        let request = bench.renew()
        #expect(bench.questions.last?.question.reason == .requested)
        bench.answerQuestion(.renew)
        bench.grantRenewal()
        #expect(bench.reply(to: request) == .done)
    }

    @Test func `a dead token while postponed or waiting is said to be expired, and when to come back`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(61))
        #expect(bench.state == .tokenExpired)
        #expect(bench.refusal { $0.token() } == .tokenExpired)

        bench.register(1)
        bench.answerQuestion(.unable)
        let request = bench.token()
        #expect(bench.refusal(of: request) == .tokenExpired)
        #expect((bench.retryAfter(of: request) ?? .zero) >= .seconds(600))
    }

    // MARK: Reauthentication and restarts

    @Test func `session renew heals a pending reauthentication with a fresh token, and with nothing else`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.renew()
        bench.answerQuestion(.renew)
        bench.failRenewal(.reauthenticationRequired)
        #expect(bench.facts.flags.contains(.pendingReauthentication))

        let vain = bench.renew()
        bench.answerQuestion(.renew)
        #expect(bench.refusal(of: vain) == .reauthenticationRequired)
        #expect(bench.renewals.isEmpty)

        let healing = bench.renew()
        bench.answerQuestion(.credential)
        bench.grantRenewal()
        #expect(bench.reply(to: healing) == .done)
        #expect(!bench.facts.flags.contains(.pendingReauthentication))
    }

    @Test func `after a restart only a refresh token is replayed; what an app gave is asked for again`() {
        var bench = due(handlers: 1)
        bench.answerQuestion(.renew)
        let replayed = Bench(
            at: bench.now,
            mode: .handler,
            .restored(bench.written.last!, SessionSecrets(), damaged: nil)
        )
        #expect(replayed.renewals.count == 1)

        bench = due(handlers: 1)
        bench.answerQuestion(.credential)
        var asking = Bench(
            at: bench.now,
            mode: .handler,
            .restored(bench.written.last!, SessionSecrets(), damaged: nil)
        )
        #expect(asking.renewals.isEmpty)
        asking.register(1)
        #expect(asking.questions.count == 1)
    }

    // MARK: Signing in through a handler

    private let registration = CredentialFacts(
        scheme: .registration,
        subject: .user(Identity(userId: "alice")),
        needsHandler: true
    )

    @Test func `a sign-in without a token asks a handler for the missing one`() {
        var bench = Bench(mode: .handler)
        bench.register(1)
        let request = bench.signIn(registration)
        #expect(bench.state == .establishing)
        #expect(bench.questions.last?.question.reason == .missing)
        #expect(bench.questions.last?.question.userId == "alice")
        bench.answerQuestion(.credential)
        bench.grantExchange(scheme: .registration)
        #expect(bench.reply(to: request) == .done)
        #expect(bench.state == .established)
    }

    @Test(arguments: [0, 1] as [UInt64])
    func `a sign-in that no handler can help is refused, and nothing is postponed`(handlers: UInt64) {
        var bench = Bench(mode: .handler)
        if handlers > 0 { bench.register(1) }
        let request = bench.signIn(registration)
        if handlers > 0 { bench.answerQuestion(.unable) }
        #expect(bench.refusal(of: request) == .invalidCredential)
        #expect(bench.state == .notLoggedIn)
    }

    @Test func `a refused registration token has the next handler asked`() {
        var bench = Bench(mode: .handler)
        bench.register(1)
        bench.register(2)
        let request = bench.signIn(registration)
        bench.answerQuestion(.credential)
        bench.failExchange(.refused("The token has expired"))
        #expect(bench.questions.map(\.handler.number) == [1])
        bench.answerQuestion(.unable)
        #expect(bench.refusal(of: request) == .invalidCredential)
    }

    // MARK: The defects of the vendor's SDKs (facts A3), which we do not have

    @Test func `A3 no second question while one is outstanding`() {
        var bench = due(handlers: 1)
        for _ in 0..<5 {
            bench.pass(.seconds(5))
            bench.renew()
            bench.token()
        }
        #expect(bench.everAsked.count == 1)
    }

    @Test func `A3 answering twice makes one request`() {
        var bench = due(handlers: 1)
        let attempt = bench.questions.last!.question.attempt
        bench.answerQuestion(.renew)
        bench.say(.renew, from: 1, to: attempt)
        bench.say(.credential, from: 1, to: attempt)
        #expect(bench.renewals.count == 1)
    }

    @Test func `A3 an app that ignores the question is asked again later, not never and not at once`() {
        var bench = due(handlers: 1)
        bench.pass(.seconds(60))
        #expect(bench.facts.renewal.phase == .postponed)
        bench.pass(.seconds(661))
        #expect(bench.everAsked.count == 2)
    }

    @Test func `A3 unable does not pile up timers`() {
        var bench = due(handlers: 1)
        for _ in 0..<10 {
            bench.answerQuestion(.unable)
            bench.pass(.seconds(661))
        }
        #expect(bench.everAsked.count == 11)
    }

    @Test func `A3 a late answer after a sign-out signs nobody in`() {
        var bench = due(handlers: 1)
        let attempt = bench.questions.last!.question.attempt
        bench.signOut()
        bench.say(.renew, from: 1, to: attempt)
        bench.say(.credential, from: 1, to: attempt)
        #expect(bench.state == .notLoggedIn)
        #expect(bench.renewals.isEmpty)
        #expect(bench.revoked == [.user("alice")])
    }

    @Test func `A3 a failed proactive renewal leaves the living session as it is`() {
        var bench = due(handlers: 1)
        bench.answerQuestion(.renew)
        bench.failRenewal(.unavailable(Unavailability("No network")))
        #expect(bench.state == .established)
        let served = bench.reply { $0.token() }
        guard case .token? = served else {
            Issue.record("a living token is served")
            return
        }
    }

    @Test func `A3 a ban that a proactive renewal finds ends the session, terminated`() {
        var bench = due(handlers: 1)
        bench.answerQuestion(.renew)
        bench.failRenewal(.terminated(code: "400312", message: "Banned"))
        #expect(bench.state == .terminated)
        #expect(bench.facts.termination?.code == "400312")
    }

    @Test func `A3 an expired token is still renewed`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(120))
        #expect(bench.state == .tokenExpired)
        bench.register(1)
        #expect(bench.questions.last?.question.reason == .expired)
        bench.answerQuestion(.renew)
        bench.grantRenewal()
        #expect(bench.state == .established)
    }

    @Test func `A3 a repeated sign-in adds no second schedule`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        for _ in 0..<5 { bench.signIn(.signInToken("alice")) }
        bench.pass(.seconds(3_000))
        #expect(bench.everAsked.count == 1)
    }

    @Test func `A3 a short-lived token is renewed before anybody sees it expire`() {
        var bench = Bench.signedIn(life: .seconds(20), mode: .handler)
        bench.register(1)
        bench.pass(.seconds(17))
        #expect(bench.state == .established)
        #expect(bench.questions.count == 1)
    }
}
