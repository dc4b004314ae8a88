import Testing

@testable import JunctionSession

/// After no handler could help, none is asked for ten minutes.
struct PostponementTests {
    @Test func `after unable, no alarm, registration or request makes the daemon ask that user for ten minutes`() {
        for seed in 0..<50 as Range<UInt64> {
            var bench = Bench.signedIn(life: .seconds(60), seed: seed, mode: .handler)
            bench.register(1)
            bench.pass(.seconds(61))
            bench.answerQuestion(.unable)
            let wait = bench.facts.renewal.notBefore! - bench.now.wall
            #expect(bench.facts.renewal.phase == .postponed)
            #expect(wait >= .seconds(600) && wait <= .seconds(660))

            for minute in 1..<10 {
                bench.pass(.seconds(60))
                bench.stepWall(.seconds(3_600))
                bench.register(UInt64(1 + minute), of: 1)
                bench.token()
                bench.rejected(1)
            }
            bench.pass(.seconds(59))
            #expect(bench.everAsked.count == 1)
            bench.pass(.seconds(61))
            #expect(bench.everAsked.count == 2)
        }
    }

    @Test func `a handler that ignores the question is asked again after ten minutes`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.pass(.seconds(60))
        #expect(bench.facts.renewal.phase == .postponed)
        bench.pass(.seconds(599))
        #expect(bench.everAsked.count == 1)
        bench.pass(.seconds(61))
        #expect(bench.everAsked.count == 2)
    }

    @Test func `a handler that ignored the question is asked again after the token has ended`() {
        var bench = Bench.renewalDue(handlers: 1, life: .seconds(600))
        bench.pass(.seconds(60))
        bench.pass(.seconds(660))
        #expect(bench.state == .tokenExpired)
        #expect(bench.everAsked.count == 2)
        #expect(bench.questions.last?.question.reason == .expired)
        bench.answerQuestion(.renew)
        bench.grantRenewal()
        #expect(bench.state == .established)
    }

    @Test func `repeated unable answers leave one timer`() {
        var bench = Bench.renewalDue(handlers: 1, life: .seconds(864_000))
        for round in 1...10 {
            #expect(bench.everAsked.count == round)
            bench.answerQuestion(.unable)
            // The only alarm is that of the end of the postponement, and it causes one question.
            #expect(bench.machine.nextAlarm(now: bench.now) == bench.facts.renewal.notBefore)
            bench.passToNextAttempt()
        }
        #expect(bench.everAsked.count == 11)
    }

    @Test func `a configured postponement that is longer than ten minutes is kept`() throws {
        var bench = Bench(mode: .handler, postponement: .seconds(1_800))
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        bench.register(1)
        bench.renew()
        bench.answerQuestion(.unable)
        let wait = try #require(bench.facts.renewal.notBefore) - bench.now.wall
        #expect(wait >= .seconds(1_800))
    }

    @Test func `a caller gets the postponement error after the postponement is on disk`() {
        var bench = Bench.renewalDue(handlers: 1)
        let waiting = bench.renew()
        bench.holdsWrites = true
        bench.answerQuestion(.unable)
        #expect(bench.reply(to: waiting) == nil)
        bench.endWrite()
        #expect(bench.refusal(of: waiting) == .providerUnavailable)
    }

    @Test func `session renew asks a handler during a postponement`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.unable)
        let request = bench.renew()
        #expect(bench.questions.last?.question.reason == .requested)
        bench.answerQuestion(.renew)
        bench.grantRenewal()
        #expect(bench.reply(to: request) == .done)
    }

    @Test func `session renew without a handler leaves the postponement as it is`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.unable)
        let until = bench.facts.renewal.notBefore
        bench.unregister(1)
        #expect(bench.refusal { $0.renew() } == .providerUnavailable)
        bench.register(1)
        #expect(bench.questions.isEmpty)
        #expect(bench.facts.renewal.notBefore == until)
    }

    @Test func `a renewal during a postponement leaves it in the record until a grant`() throws {
        var bench = Bench.postponed()
        #expect(try #require(bench.storedSession).postponement != nil)
        bench.pass(.seconds(11))
        bench.renew()
        bench.answerQuestion(.renew)
        #expect(try #require(bench.storedSession).renewalUnderWay)
        #expect(try #require(bench.storedSession).postponement != nil)
        bench.grantRenewal()
        #expect(try #require(bench.storedSession).postponement == nil)
    }

    /// A session whose provider demands a pause, and whose only handler was unable in a later attempt.
    private func postponed(life: Duration = .seconds(3_600), besidePause pause: Duration) -> Bench {
        var bench = Bench.signedIn(life: life, mode: .handler)
        bench.register(1)
        bench.renew()
        bench.answerQuestion(.renew)
        bench.failRenewal(.unavailable(Unavailability("Busy", retryAfter: pause)))
        bench.pass(.seconds(11))
        bench.renew()
        bench.answerQuestion(.unable)
        return bench
    }

    @Test func `a postponement does not shorten a pause that the provider demands, also after a restart`() {
        var bench = postponed(besidePause: .seconds(3_000))
        #expect((bench.facts.renewal.notBefore.map { $0 - bench.now.wall } ?? .zero) > .seconds(2_900))

        bench.pass(.seconds(700))
        #expect(bench.everAsked.count == 2)
        var restarted = bench.restarted(mode: .handler)
        restarted.register(2)
        restarted.pass(.seconds(700))
        #expect(restarted.everAsked.isEmpty)
        restarted.pass(.seconds(2_200))
        #expect(restarted.everAsked.count == 1)
    }

    @Test func `after a restart the later end counts, of a postponement and of a pause that the provider demands`() {
        let bench = postponed(besidePause: .seconds(60))

        var restarted = bench.restarted(mode: .handler)
        restarted.register(2)
        restarted.pass(.seconds(300))
        #expect(restarted.everAsked.isEmpty)
        #expect(restarted.facts.renewal.phase == .postponed)
    }

    @Test func `a new handler is not asked before the end of a pause that the provider demands`() {
        var bench = postponed(life: .seconds(60), besidePause: .seconds(300))
        bench.pass(.seconds(100))

        bench.register(2)
        #expect(bench.everAsked.count == 2)
        bench.pass(.seconds(300))
        #expect(bench.everAsked.count == 3)
    }

    @Test(arguments: [Duration.seconds(60), .seconds(3_000)])
    func `with an expired token, a sign-in during a postponement reaches the provider`(pause: Duration) {
        var bench = postponed(life: .seconds(60), besidePause: pause)
        bench.pass(.seconds(100))
        #expect(bench.state == .tokenExpired)

        let request = bench.signIn(.signInToken("alice"))

        #expect(bench.exchanges.count == 1)
        bench.grantExchange()
        #expect(bench.reply(to: request) == .done)
        #expect(bench.state == .established)
    }

    @Test func `a longer pause that the provider demands keeps the number of failures`() {
        let short = postponed(besidePause: .seconds(60)).facts.renewal
        let long = postponed(besidePause: .seconds(3_000)).facts.renewal

        #expect(long.failures == 1)
        #expect(long.failures == short.failures)
    }

    @Test(arguments: [Duration.seconds(3_600), .seconds(-3_600)])
    func `a step of the clock during a requested renewal changes no postponement`(step: Duration) {
        var bench = Bench.postponed()
        bench.pass(.seconds(60))
        bench.renew()
        bench.answerQuestion(.renew)
        bench.stepWall(step)
        bench.failRenewal(.unavailable(Unavailability("No network")))

        #expect(bench.facts.renewal.phase == .postponed)
        let rest = bench.facts.renewal.notBefore.map { $0 - bench.now.wall } ?? .zero
        #expect(rest > .seconds(530) && rest <= .seconds(601))
        bench.pass(.seconds(500))
        #expect(bench.everAsked.count == 2)
    }

    @Test func `an expired token while postponed is reported as tokenExpired, with retryAfter`() {
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

    @Test func `with an expired token, a new handler of a user who has not been asked is asked at once`() {
        var bench = Bench.expiredAndPostponed()

        bench.register(2, of: 1_001)

        #expect(bench.everAsked.map(\.number) == [1, 2])
        #expect(bench.questions.last?.question.reason == .expired)
        bench.answerQuestion(.credential)
        bench.grantRenewal()
        #expect(bench.state == .established)
    }

    @Test func `with an expired token, a new handler of a user who has been asked waits for the postponement`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.register(1, of: 1_000)
        bench.register(2, of: 1_001)
        bench.pass(.seconds(61))
        bench.answerQuestion(.unable)
        bench.unregister(1)
        #expect(bench.facts.renewal.phase == .postponed)

        bench.register(3, of: 1_000)
        bench.register(4, of: 1_001)
        bench.pass(.seconds(599))

        #expect(bench.everAsked.map(\.number) == [2, 1])
    }

    @Test func `a user who has not been asked is asked when the token ends during a postponement`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.unable)
        bench.register(2, of: 1_001)
        #expect(bench.everAsked.map(\.number) == [1])

        bench.pass(.seconds(599))
        #expect(bench.everAsked.map(\.number) == [1])
        bench.pass(.seconds(1))

        #expect(bench.state == .tokenExpired)
        #expect(bench.everAsked.last?.number == 2)
    }

    @Test func `a new handler that is unable restarts the postponement for every user`() {
        var bench = Bench.expiredAndPostponed()
        bench.pass(.seconds(300))

        bench.register(2, of: 1_001)
        bench.answerQuestion(.unable)
        bench.unregister(1)
        bench.register(3, of: 1_000)
        bench.pass(.seconds(599))
        #expect(bench.everAsked.map(\.number) == [1, 2])

        bench.pass(.seconds(61))
        #expect(bench.everAsked.last?.number == 3)
    }

    @Test func `a renewal that failed during a postponement does not have a user asked twice`() {
        var bench = Bench.expiredAndPostponed()
        bench.renew()
        bench.answerQuestion(.renew)
        bench.failRenewal(.unreachable)
        #expect(bench.facts.renewal.phase == .postponed)

        bench.register(2, of: 1_000)
        #expect(bench.everAsked.map(\.number) == [1, 1])
        bench.register(3, of: 1_001)
        #expect(bench.everAsked.last?.number == 3)
    }

    @Test func `a step of the wall clock neither shortens a postponement nor makes it endless`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.unable)
        bench.stepWall(.seconds(10_000))
        #expect(bench.everAsked.count == 1)
        #expect(bench.facts.renewal.phase == .postponed)
        #expect(bench.facts.renewal.notBefore! > bench.now.wall, "the shown time is in the future")
        bench.stepWall(.seconds(-5_000_000))
        bench.pass(.seconds(661))
        #expect(bench.everAsked.count == 2)
    }

    @Test func `a postponement that is over is not shown, whether or not a handler is registered`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(61))
        bench.register(1)
        bench.answerQuestion(.unable)
        bench.unregister(1)
        bench.pass(.seconds(661))

        #expect(bench.facts.renewal.phase == .waitingForHandler)
        #expect(bench.facts.renewal.notBefore == nil)
        let request = bench.token()
        #expect(bench.refusal(of: request) == .tokenExpired)
        #expect(bench.retryAfter(of: request) == nil)
        bench.register(2)
        #expect(bench.everAsked.count == 2)
    }

    // MARK: A step of the wall clock that another event precedes

    @Test(arguments: [3_600, -3_600] as [Int64])
    func `a step of the clock that is not reported yet does not let a user be asked again`(step: Int64) {
        var bench = Bench.expiredAndPostponed()
        bench.now.wall = bench.now.wall + .seconds(step)
        bench.register(2, of: 2_000)
        bench.answerQuestion(.unable)
        bench.stepWall(.zero)
        bench.pass(.seconds(599))

        #expect(bench.everAsked.map(\.uid) == [1_000, 2_000])
        #expect(bench.facts.renewal.phase == .postponed)
    }

    @Test(arguments: [3_600, -3_600] as [Int64])
    func `a renewal that fails before a step of the clock is reported does not end the postponement`(step: Int64) {
        var bench = Bench.postponed()
        let end = bench.facts.renewal.notBefore
        bench.pass(.seconds(11))
        bench.renew()
        bench.answerQuestion(.renew)
        bench.now.wall = bench.now.wall + .seconds(step)
        bench.failRenewal(.busy)
        bench.stepWall(.zero)

        #expect(bench.facts.renewal.phase == .postponed)
        #expect(bench.facts.renewal.notBefore == end.map { $0 + .seconds(step) })
        #expect(bench.everAsked.count == 2)
    }
}
