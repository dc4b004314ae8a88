import Testing

@testable import JunctionSession

/// The order and the time limits of questions to handlers, and the interaction of two rounds.
struct HandlerRoundTests {
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

    @Test func `after a handler disconnects or is silent, no other handler of its user is asked in this round`() {
        for isSilent in [false, true] {
            var bench = Bench.signedIn(mode: .handler)
            for handler in [1, 2] as [UInt64] { bench.register(handler, of: 7) }
            bench.renew()

            if isSilent { bench.pass(.seconds(60)) } else { bench.unregister(2) }

            #expect(bench.everAsked.map(\.number) == [2])
            #expect(bench.facts.renewal.phase == .postponed)
        }
    }

    @Test(arguments: [HandlerReply.unable, .credential, nil])
    func `a handler that could not help is asked last among its user's handlers, and the user's order is unchanged`(
        said: HandlerReply?
    ) {
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

        // A user whose handler was silent has lost the place.
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
    func `a round of 500 silent handlers asks each of them and ends in its time`(life: Int) {
        var bench = Bench(mode: .handler, handlerTimeout: .seconds(10))
        bench.life = .seconds(life)
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        for handler in 1...500 as ClosedRange<UInt64> { bench.register(handler) }
        // The first round has a valid token, the second one an expired one.
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

    @Test func `the deadline of each question is an equal share of what is left of the round`() {
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

    @Test func `after eight refused answers no other handler is asked`() {
        var bench = Bench.signedIn(mode: .handler)
        for handler in 1...20 as ClosedRange<UInt64> { bench.register(handler) }
        bench.pass(.seconds(3_000))
        while bench.facts.renewal.phase != .postponed {
            bench.answerQuestion(.credential)
            bench.failRenewal(.answerRefused("It is used up"))
        }
        #expect(bench.everAsked.count == RenewalPolicy.mostRefusedAnswers)
    }

    @Test func `a renewal asks at once when the sign-in with the open question has lost its right`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        let request = bench.identify("ext-bob", answering: .registration(of: "bob"))
        let dropped = bench.questions.last!.question
        bench.renew()
        #expect(dropped.reason == .missing)
        #expect(bench.everAsked.count == 1)

        bench.withdrawRight(from: request)

        #expect(bench.questions.last?.question.reason == .requested)
        bench.say(.credential, from: 1, to: dropped.attempt)
        #expect(bench.exchanges.isEmpty)
        bench.answerQuestion(.renew)
        #expect(bench.renewals.count == 1)
    }

    @Test func `of two rounds that have begun to ask, the one that ends earlier asks first`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.register(2)
        let request = bench.identify("ext-bob", answering: .registration(of: "bob"))
        bench.pass(.seconds(50))
        bench.answerQuestion(.credential)
        bench.renew()
        bench.failExchange(.refused("The token has expired"))
        #expect(bench.questions.last?.question.reason == .requested)

        // The handler is silent until its deadline. Ten seconds of the sign-in's round are left.
        bench.pass(.seconds(60))

        #expect(bench.questions.last?.question.reason == .missing)
        #expect(bench.questions.last?.handler.number == 1)
        bench.answerQuestion(.credential)
        #expect(bench.questions.last?.question.reason == .requested)
        bench.grantExchange(of: "bob", scheme: .registration)
        #expect(bench.reply(to: request) == .identified(.switched))
    }

    @Test func `a round keeps its turn after unable`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.register(2)
        bench.pass(.seconds(3_000))
        bench.identify("ext-bob", answering: .registration(of: "bob"))
        #expect(bench.questions.last?.question.reason == .expiring)
        bench.answerQuestion(.unable)
        #expect(bench.questions.last?.question.reason == .expiring)
    }

    @Test func `a refused renewal answer does not interrupt a sign-in's question`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.register(2)
        bench.pass(.seconds(3_000))
        bench.answerQuestion(.credential)
        let request = bench.identify("ext-bob")
        let facts = CredentialFacts.registration(of: "bob")
        bench.answer(request, .success(facts))
        let question = bench.questions.last!
        #expect(question.question.reason == .missing)

        bench.failRenewal(.answerRefused("The token is for another user"))
        #expect(bench.questions.last!.question == question.question)
        bench.answerQuestion(.credential)
        #expect(bench.exchanges.count == 1)
        // The renewal's next question leaves now.
        #expect(bench.questions.last?.question.reason == .expiring)
    }

    @Test func `a refused sign-in token does not interrupt a renewal's question`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.register(2)
        let request = bench.identify("ext-bob", answering: .registration(of: "bob"))
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

    @Test func `a sign-in asks when a renewal's silent handler has reached its deadline`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(61))
        bench.register(1)
        bench.identify("ext-bob", answering: .registration(of: "bob"))
        #expect(bench.questions.last?.question.reason == .expired)

        bench.pass(.seconds(60))

        #expect(bench.questions.last?.question.reason == .missing)
        #expect(bench.questions.last?.question.userId == "bob")
    }

    @Test func `a renewal asks after the handlers have answered for a sign-in`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.identify("ext-bob", answering: .registration(of: "bob"))
        let renewal = bench.renew()
        #expect(bench.everAsked.count == 1)
        #expect(bench.reply(to: renewal) == nil)

        bench.answerQuestion(.unable)
        #expect(bench.questions.last?.question.reason == .requested)
        bench.answerQuestion(.renew)
        bench.grantRenewal()
        #expect(bench.reply(to: renewal) == .done)
    }

    @Test func `a sign-out ends the round that waits for its turn`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        let request = bench.identify("ext-bob")
        let facts = CredentialFacts.registration(of: "bob")
        bench.answer(request, .success(facts))
        bench.renew()
        #expect(bench.everAsked.count == 1)
        bench.signOut()
        bench.pass(.seconds(120))
        #expect(bench.everAsked.count == 1)
    }

    @Test func `a sign-out ends the round of a sign-in`() {
        var bench = Bench(mode: .handler)
        bench.register(1)
        bench.register(2)
        bench.signIn(.registration(of: "alice"))
        let attempt = bench.questions.last!.question.attempt
        bench.signOut()
        bench.say(.unable, from: 2, to: attempt)
        #expect(bench.everAsked.map(\.number) == [2])
    }
}
