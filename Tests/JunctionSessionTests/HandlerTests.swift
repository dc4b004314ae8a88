import Testing

@testable import JunctionSession

/// Session handlers: local apps that are asked when a session is to be renewed (the vendor's document 003).
struct HandlerTests {
    // MARK: Asking

    @Test func `a renewal that is due waits for a handler and begins when one registers`() {
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

    @Test(arguments: [Said.renew, .credential])
    func `an answer leads to one renewal, and the session goes on`(answer: Said) {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(answer)
        #expect(bench.renewals.count == 1)
        bench.grantRenewal()
        #expect(bench.state == .established)
        #expect(bench.facts.accessToken?.generation == 2)
        #expect(bench.facts.renewal.phase == .scheduled)
    }

    @Test func `silence past the deadline moves on to the next`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.pass(.seconds(59))
        #expect(bench.everAsked.map(\.number) == [2])
        bench.pass(.seconds(1))
        #expect(bench.everAsked.map(\.number) == [2, 1])
    }

    // MARK: Rounds

    @Test func `each local user is asked once in a round, by the handler that registered last`() {
        var bench = Bench.signedIn(mode: .handler)
        for (handler, uid) in [(1, 7), (2, 7), (3, 8), (4, 7)] as [(UInt64, UInt32)] {
            bench.register(handler, of: uid)
        }

        let request = bench.renew()
        bench.answerQuestion(.unable)
        bench.answerQuestion(.unable)

        #expect(bench.everAsked.map(\.number) == [4, 3])
        #expect(bench.message(of: request)?.contains("(2 were asked)") == true)
        #expect(bench.facts.renewal.phase == .postponed)
    }

    @Test func `a handler that goes or says nothing is its user's only one in this round`() {
        for isSilent in [false, true] {
            var bench = Bench.signedIn(mode: .handler)
            for handler in [1, 2] as [UInt64] { bench.register(handler, of: 7) }
            bench.renew()

            if isSilent { bench.pass(.seconds(60)) } else { bench.unregister(2) }

            #expect(bench.everAsked.map(\.number) == [2])
            #expect(bench.facts.renewal.phase == .postponed)
        }
    }

    @Test(arguments: [Said.unable, .credential, nil])
    func `a handler that could not help goes behind its user's others, and the user keeps the place`(said: Said?) {
        var bench = Bench.signedIn(mode: .handler)
        for (handler, uid) in [(1, 7), (2, 8), (3, 7), (4, 7)] as [(UInt64, UInt32)] {
            bench.register(handler, of: uid)
        }
        bench.renew()
        if let said { bench.answerQuestion(said) } else { bench.pass(.seconds(60)) }
        if said == .credential { bench.failRenewal(.answerRefused("It is used up")) }
        #expect(bench.everAsked.map(\.number) == [4, 2])
        bench.answerQuestion(.unable)

        bench.pass(.seconds(10))
        bench.renew()
        bench.answerQuestion(.unable)

        // A user who said nothing has lost the place.
        #expect(bench.everAsked.map(\.number) == (said == nil ? [4, 2, 2, 3] : [4, 2, 3, 2]))
    }

    @Test func `a user whose handler was silent is asked last, also by a new handler, until one answers`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.pass(.seconds(60))
        bench.answerQuestion(.unable)
        #expect(bench.everAsked.map(\.number) == [2, 1])

        bench.unregister(2)
        bench.register(3, of: 2)
        bench.renew()
        bench.answerQuestion(.unable)
        #expect(bench.everAsked.map(\.number) == [2, 1, 1, 3])
        bench.answerQuestion(.unable)

        bench.pass(.seconds(10))
        bench.renew()
        #expect(bench.everAsked.map(\.number) == [2, 1, 1, 3, 3])
    }

    @Test(
        arguments: [
            (3_600, 60, 120), (240, 60, 120), (200, 60, 100), (100, 60, 60), (100, 10, 50), (0, 60, 60), (0, 1, 1),
            (3_600, 600, 120), (60, 600, 120), (0, 120, 120),
        ] as [(Int, Int, Int)]
    )
    func `a round takes half of the token's remaining life, at least one handler's time, and two minutes at most`(
        left: Int,
        handlerTimeout: Int,
        limit: Int
    ) {
        let allowed = RenewalPolicy.roundLimit(left: .seconds(left), handlerTimeout: .seconds(handlerTimeout))
        #expect(allowed == .seconds(limit))
    }

    @Test(arguments: [3_600, 120, 30] as [Int])
    func `however many are silent, a round ends in its time, and everybody was asked`(life: Int) {
        var bench = Bench(mode: .handler, handlerTimeout: .seconds(10))
        bench.life = .seconds(life)
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        for handler in 1...500 as ClosedRange<UInt64> { bench.register(handler) }
        // The first round is that of a living token, the second one that of a dead one.
        for round in 1...2 {
            while bench.everAsked.count <= (round - 1) * 500 { bench.passToAlarm() }
            let began = bench.now.uptime
            let left = max(bench.facts.accessToken!.expiresAt - bench.now.wall, .zero)
            while bench.facts.renewal.phase != .postponed { bench.passToAlarm() }

            let limit = min(.seconds(120), max(left / 2, .seconds(10)))
            #expect(bench.now.uptime - began <= limit)
            #expect(bench.everAsked.count == round * 500)
            #expect(Set(bench.everAsked.suffix(500)).count == 500)
            if life == 30, round == 2 { #expect(left == .zero) }
        }
    }

    @Test func `each question says by when it has to be answered: an equal share of what is left of the round`() {
        var bench = Bench.signedIn(mode: .handler)
        for handler in 1...4 as ClosedRange<UInt64> { bench.register(handler) }
        bench.renew()
        #expect(bench.questions.last?.question.deadline == bench.now.wall + .seconds(30))
        bench.answerQuestion(.unable)
        #expect(bench.questions.last?.question.deadline == bench.now.wall + .seconds(40))
        bench.pass(.seconds(40))
        #expect(bench.questions.last?.question.deadline == bench.now.wall + .seconds(40))
        bench.answerQuestion(.unable)
        #expect(bench.questions.last?.question.deadline == bench.now.wall + .seconds(60))
    }

    @Test func `what an app gave is tried again much later, and refused: the others are asked all the same`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.answerQuestion(.credential)
        bench.failRenewal(.unavailable(Unavailability("Busy", retryAfter: .seconds(500))))
        while bench.renewals.isEmpty { bench.passToAlarm() }

        bench.failRenewal(.answerRefused("It is used up"))

        #expect(bench.everAsked.map(\.number) == [2, 1])
    }

    @Test func `a handler that dies while it is asked harms nobody`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.unregister(2)
        #expect(bench.questions.map(\.handler.number) == [1])
        bench.unregister(1)
        #expect(bench.facts.renewal.phase == .postponed)
    }

    @Test func `a token for another user moves on to the next, then counts as unable`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.answerQuestion(.credential)
        bench.failRenewal(.answerRefused("The token is for another user"))
        #expect(bench.questions.map(\.handler.number) == [1])
        bench.answerQuestion(.credential)
        bench.failRenewal(.answerRefused("The token is for another user"))
        #expect(bench.facts.renewal.phase == .postponed)
        #expect(bench.facts.userId == "alice")
    }

    @Test func `an auth token that met a transient failure is used again by the retry`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.credential)
        bench.failRenewal(.unavailable(Unavailability("No answer")))
        #expect(bench.facts.renewal.phase == .backingOff)
        bench.passToNextAttempt()
        #expect(bench.everAsked.count == 1)
        #expect(bench.renewals.count == 1)
    }

    @Test func `a signature that may have arrived is not sent again: the retry asks for another one, at once`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.signature)
        bench.failRenewal(.unavailable(Unavailability("No answer", ambiguous: true)))
        #expect(bench.facts.renewal.phase == .backingOff)
        bench.pass(.seconds(2))
        #expect(bench.renewals.isEmpty)
        #expect(bench.everAsked.count == 2)
        bench.answerQuestion(.signature)
        bench.failRenewal(.registrationForgotten)
        bench.pass(.seconds(60))
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

    @Test func `a handler that has gone is not asked after another one's answer was refused`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.answerQuestion(.credential)
        bench.unregister(1)
        bench.failRenewal(.answerRefused("The token is for another user"))
        #expect(bench.everAsked.map(\.number) == [2])
        #expect(bench.facts.renewal.phase == .postponed)
    }

    @Test func `a provider that forgot the registration has it asked for again, the session kept`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.answerQuestion(.renew)
        bench.failRenewal(.registrationForgotten)
        #expect(bench.questions.map(\.handler.number) == [1])
        #expect(bench.facts.userId == "alice")
    }

    @Test func `a token that met a forgotten registration is not spent: it registers anew at once`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.credential)
        bench.failRenewal(.registrationForgotten)
        #expect(bench.facts.renewal.phase == .backingOff)
        bench.pass(.seconds(2))
        #expect(bench.everAsked.count == 1)
        bench.grantRenewal()
        #expect(bench.state == .established)
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
        var bench = Bench.renewalDue(handlers: 1)
        let waiting = bench.renew()
        bench.holdsWrites = true
        bench.answerQuestion(.unable)
        #expect(bench.reply(to: waiting) == nil)
        bench.endWrite()
        #expect(bench.refusal(of: waiting) == .tokenExpired)
    }

    @Test func `a postponement is kept over a restart`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.unable)
        let until = bench.facts.renewal.notBefore

        var restarted = bench.restarted(mode: .handler)
        restarted.register(1)

        #expect(restarted.questions.isEmpty)
        #expect(restarted.facts.renewal.phase == .postponed)
        #expect(restarted.facts.renewal.notBefore == until)
        restarted.pass(.seconds(661))
        #expect(restarted.questions.count == 1)
    }

    @Test func `a wall clock that is set cannot shorten a postponement, nor make it endless`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.unable)
        bench.stepWall(.seconds(10_000))
        #expect(bench.everAsked.count == 1)
        bench.stepWall(.seconds(-5_000_000))
        bench.pass(.seconds(661))
        #expect(bench.everAsked.count == 2)
    }

    @Test func `session renew passes a postponement`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.unable)
        let request = bench.renew()
        #expect(bench.questions.last?.question.reason == .requested)
        bench.answerQuestion(.renew)
        bench.grantRenewal()
        #expect(bench.reply(to: request) == .done)
    }

    @Test func `session renew without anybody to ask leaves the postponement as it is`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.unable)
        let until = bench.facts.renewal.notBefore
        bench.unregister(1)
        #expect(bench.refusal { $0.renew() } == .tokenExpired)
        bench.register(1)
        #expect(bench.questions.isEmpty)
        #expect(bench.facts.renewal.notBefore == until)
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

    @Test(arguments: [0, 1] as [UInt64])
    func `a sign-in brings what a dead session waits for, and a failure leaves it as it is`(handlers: UInt64) {
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

    @Test func `a sign-in beside a living token makes no call, postponed or not`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.unable)
        let request = bench.signIn(.signInToken("alice"))
        #expect(bench.reply(to: request) == .done)
        #expect(bench.exchanges.isEmpty)
        #expect(bench.facts.renewal.phase == .postponed)
    }

    // MARK: Reauthentication and restarts

    // MARK: Signing in through a handler

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

    @Test(arguments: [0, 1] as [UInt64])
    func `a sign-in that no handler can help is refused, and nothing is postponed`(handlers: UInt64) {
        var bench = Bench(mode: .handler)
        if handlers > 0 { bench.register(1) }
        let request = bench.signIn(.registration(of: "alice"))
        if handlers > 0 { bench.answerQuestion(.unable) }
        #expect(bench.refusal(of: request) == .providerUnavailable)
        #expect(bench.state == .notLoggedIn)
    }

    @Test func `a refused registration token has the next handler asked`() {
        var bench = Bench(mode: .handler)
        bench.register(1)
        bench.register(2)
        let request = bench.signIn(.registration(of: "alice"))
        bench.answerQuestion(.credential)
        bench.failExchange(.refused("The token has expired"))
        #expect(bench.questions.map(\.handler.number) == [1])
        #expect(bench.questions.last?.question.reason == .missing)
        bench.answerQuestion(.unable)
        #expect(bench.refusal(of: request) == .invalidCredential)
    }

    @Test func `a sign-in that fails for want of an app passes, in the app's own words`() {
        var bench = Bench(mode: .handler)
        bench.register(1)
        let request = bench.signIn(.registration(of: "alice"))
        let open = bench.questions[0].question.attempt
        bench.perform(
            bench.machine.handlerAnswered(
                HandlerID(number: 1, uid: 1),
                open,
                .failed("the token server is away"),
                now: bench.now
            )
        )

        #expect(bench.refusal(of: request) == .providerUnavailable)
        #expect(bench.message(of: request)?.contains("the last one said: the token server is away") == true)
    }

    @Test func `a sign-in behind one whose handler is silent begins when that one's time is over`() {
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

    @Test func `a sign-in whose token was refused does not push a renewal's question aside`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.register(2)
        let request = bench.identify("ext-bob")
        bench.answer(request, .success(.registration(of: "bob")))
        bench.answerQuestion(.credential)
        bench.renew()
        #expect(bench.questions.last?.question.reason == .requested)

        bench.failExchange(.refused("The token has expired"))
        #expect(bench.questions.last?.question.reason == .requested)
        bench.answerQuestion(.renew)
        bench.grantRenewal()

        #expect(bench.questions.map(\.handler.number) == [1])
        #expect(bench.questions.last?.question.reason == .missing)
        bench.answerQuestion(.credential)
        bench.grantExchange(of: "bob", scheme: .registration)
        #expect(bench.reply(to: request) == .identified(.switched))
    }

    @Test func `a sign-in asks when the time of a renewal's silent handler is over`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(61))
        bench.register(1)
        let request = bench.identify("ext-bob")
        bench.answer(
            request,
            .success(.registration(of: "bob"))
        )
        #expect(bench.questions.last?.question.reason == .expired)

        bench.pass(.seconds(60))

        #expect(bench.questions.last?.question.reason == .missing)
        #expect(bench.questions.last?.question.userId == "bob")
    }

    // MARK: The words of a refusal

    @Test func `who asks for a renewal hears how many could not, when they are asked again, and what to do`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        let request = bench.renew()
        bench.answerQuestion(.unable)
        bench.answerQuestion(.unable)

        let seconds = bench.retryAfter(of: request).map { ($0.wholeMilliseconds + 999) / 1_000 }
        #expect(bench.refusal(of: request) == .tokenExpired)
        #expect(
            bench.message(of: request)
                == "The session cannot be renewed now: no session handler could help (2 were asked). It is kept, and they "
                + "are asked again in \(seconds ?? 0) s, or sooner by session.renew (junctionctl renew). See why the "
                + "app has no token, or sign in again"
        )
        #expect(
            bench.facts.renewal.lastError
                == "unableToRetrieveAuthToken: no session handler could help (2 were asked)"
        )
    }

    @Test func `an answer that was refused is given as the reason`() {
        var bench = Bench.renewalDue(handlers: 1)
        let request = bench.renew()
        bench.answerQuestion(.credential)
        bench.failRenewal(.answerRefused("The token is for another user"))
        #expect(
            bench.message(of: request)?.contains(
                "no session handler could help (1 was asked); the last answer was refused: The token is for another user."
            ) == true
        )
    }

    @Test func `a dead token while postponed is refused with the same words, over a restart without the count`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(61))
        bench.register(1)
        bench.answerQuestion(.unable)
        bench.pass(.seconds(100))
        let request = bench.token()
        #expect(bench.message(of: request)?.contains("no session handler could help (1 was asked). It is kept") == true)
        #expect((bench.retryAfter(of: request) ?? .zero) >= .seconds(500))

        var restarted = bench.restarted(mode: .handler)
        let again = restarted.token()
        #expect(restarted.message(of: again)?.contains("no session handler could help. It is kept") == true)
        #expect(restarted.retryAfter(of: again) == bench.retryAfter(of: request))
    }

    @Test func `without a handler it is said that none is registered, and how to register one`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(61))
        #expect(bench.facts.renewal.phase == .waitingForHandler)
        for request in [bench.token(), bench.renew()] {
            #expect(bench.refusal(of: request) == .tokenExpired)
            #expect(bench.retryAfter(of: request) == nil)
            #expect(
                bench.message(of: request)
                    == "The session cannot be renewed now: no session handler is registered. Register one "
                    + "(handler.register, or junctionctl handle-renewals --exec COMMAND), and the renewal begins"
            )
        }
    }

    @Test func `while the handlers are asked for a sign-in, a renewal waits for its turn to ask`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        let request = bench.identify("ext-bob")
        bench.answer(request, .success(.registration(of: "bob")))
        let renewal = bench.renew()
        #expect(bench.everAsked.count == 1)
        #expect(bench.reply(to: renewal) == nil)

        bench.answerQuestion(.unable)
        #expect(bench.questions.last?.question.reason == .requested)
        bench.answerQuestion(.renew)
        bench.grantRenewal()
        #expect(bench.reply(to: renewal) == .done)
    }

    @Test(
        arguments: [
            (
                0,
                "The sign-in brings no token, and no session handler is registered. Register one (handler.register, or "
                    + "junctionctl handle-renewals --exec COMMAND), or hand the token in"
            ),
            (
                1,
                "The sign-in brings no token, and no session handler could help (1 was asked). See why the app has none, or "
                    + "hand the token in"
            ),
        ] as [(UInt64, String)]
    )
    func `a sign-in without a token hears who was asked for it`(handlers: UInt64, message: String) {
        var bench = Bench(mode: .handler)
        if handlers > 0 { bench.register(1) }
        let request = bench.signIn(.registration(of: "alice"))
        if handlers > 0 { bench.answerQuestion(.unable) }
        #expect(bench.message(of: request) == message)
    }
}
