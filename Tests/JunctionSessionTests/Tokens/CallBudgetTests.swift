import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// The limit of calls that each local user may cause at the provider.
struct CallBudgetTests {
    @Test func `a sign-in without budget is refused before a handler is asked`() {
        var bench = Bench(mode: .handler, callsPerMinute: 1)
        bench.register(1)
        let facts = CredentialFacts.registration(of: "bob")
        let request = bench.signIn(facts)
        bench.answerQuestion(.credential)
        bench.failExchange(.refused("It is used up"))
        #expect(bench.refusal(of: request) == .invalidCredential)

        let late = bench.signIn(facts)
        #expect(bench.refusal(of: late) == .busy)
        #expect(bench.questions.isEmpty)
    }

    @Test func `a sign-in is refused when the budget is used up while the handler answers`() {
        var bench = Bench(mode: .handler, callsPerMinute: 1)
        bench.register(1)
        let facts = CredentialFacts.registration(of: "bob")
        let request = bench.signIn(facts)
        bench.machine.budget.charge(1_000, now: bench.now)
        bench.answerQuestion(.credential)
        #expect(bench.refusal(of: request) == .busy)
        #expect(bench.exchanges.isEmpty)
        #expect(bench.state == .notLoggedIn)
    }

    @Test func `a renewal is charged to the caller that requested it, when the request is sent`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.machine.budget = CallBudget(callsPerMinute: 1)
        bench.register(1)
        bench.renew()
        #expect(bench.machine.budget.remembered == 0)
        bench.answerQuestion(.renew)
        #expect(bench.machine.budget.remembered == 1)
        bench.grantRenewal()
        #expect(bench.refusal { $0.renew() } == .busy)
    }

    @Test func `a caller that uses up its budget while the app is asked does not stop the renewal`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.machine.budget = CallBudget(callsPerMinute: 1)
        bench.register(1)
        let request = bench.renew()
        #expect(bench.machine.budget.spend(1_000, now: bench.now) == nil)

        bench.answerQuestion(.credential)
        #expect(bench.renewals.count == 1)
        bench.grantRenewal()

        #expect(bench.reply(to: request) == .done)
        #expect(bench.machine.budget.spend(1_000, now: bench.now)?.kind == .busy)
    }

    @Test func `a scheduled renewal is charged to no caller`() {
        var bench = Bench.signedIn()
        bench.machine.budget = CallBudget(callsPerMinute: 1)
        bench.pass(.seconds(3_000))
        #expect(bench.renewals.count == 1)
        #expect(bench.machine.budget.remembered == 0)
    }

    @Test func `a caller that joins a renewal in flight needs no budget`() {
        var bench = Bench.signedIn()
        bench.machine.budget = CallBudget(callsPerMinute: 1)
        let first = bench.renew()
        let second = bench.renew()
        #expect(bench.reply(to: second) == nil)
        bench.grantRenewal()
        #expect(bench.reply(to: first) == .done)
        #expect(bench.reply(to: second) == .done)
    }

    @Test func `a caller with an expired token and no budget gets busy`() {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        for _ in 0..<8 {
            bench.failRenewal(.unavailable(Unavailability("Busy")))
            bench.passToNextAttempt()
        }
        bench.failRenewal(.unavailable(Unavailability("Busy")))
        bench.machine.budget = CallBudget(callsPerMinute: 0)
        bench.now.uptime = bench.now.uptime + .seconds(10)
        bench.machine.budget.charge(1_000, now: bench.now)
        #expect(bench.refusal { $0.token() } == .busy)
        #expect(bench.renewals.isEmpty)
    }

    @Test func `handlers with refused answers do not exceed the budget`() {
        var bench = Bench(mode: .handler, callsPerMinute: 2)
        bench.signIn(.signInToken("alice"), by: 1)
        bench.grantExchange()
        for n in 1...10 as ClosedRange<UInt64> { bench.register(n) }
        bench.pass(.seconds(100))
        bench.renew()
        var calls = 0
        while !bench.questions.isEmpty, calls < 20 {
            bench.answerQuestion(.credential)
            guard !bench.renewals.isEmpty else { break }
            calls += 1
            bench.failRenewal(.answerRefused("no"))
            if bench.facts.renewal.phase == .postponed { break }
        }
        #expect(calls <= 2, "\(calls)")
    }

    @Test func `a sign-in with an API key is not charged`() {
        var bench = Bench(callsPerMinute: 1)
        bench.signIn(.apiKey("alice"))
        #expect(bench.machine.budget.remembered == 0)
    }

    @Test func `a device sign-in is charged as one call, and its polls as none`() {
        var bench = Bench(callsPerMinute: 1)
        bench.signIn(.device)
        bench.giveCodes()
        bench.passToAlarm()
        bench.failPoll(.denied)
        let second = bench.signIn(.device)
        #expect(bench.refusal(of: second) == .busy)
    }

    @Test func `a user who makes no further call is forgotten`() {
        var budget = CallBudget(callsPerMinute: 2)
        let start = Uptime(milliseconds: 0)
        func at(_ seconds: Int) -> Moment {
            Moment(wall: WallTime(milliseconds: 0), uptime: start + .seconds(seconds))
        }
        for uid in 0..<1_000 as Range<UInt32> { budget.charge(uid, now: at(0)) }
        budget.charge(5, now: at(61))
        #expect(budget.remembered == 1)
        budget.charge(5, now: at(62))
        #expect(budget.refusal(of: 5, now: at(63))?.retryAfter == .seconds(58))
    }

    @Test func `only requests that reach the provider are charged to a caller`() {
        let bench = OwnerBench(callsPerMinute: 2).start()

        let signIns = ["alice", "alice", "alice", "bob"].map { bench.signIn(.signInToken(SharedSecret(text: $0))) }
        let renewals = [1_000, 1_000, 2_000].map { bench.renew(by: $0) }

        #expect(signIns.map(\.error?.kind) == [nil, nil, nil, .alreadySignedIn])
        #expect(renewals.map(\.error?.kind) == [nil, .busy, nil])

        bench.clock.advance(by: .seconds(60))
        #expect(bench.renew().error == nil)
    }

    @Test func `sign-ins that wait for their turn do not exceed the budget`() {
        let bench = OwnerBench(callsPerMinute: 2).start()
        for number in 1...6 { bench.provider.failExchanges(.refused("\(number)")) }
        bench.owner.assumeIsolated { owner in
            for user in 0..<6 { owner.signIn(.signInToken(SharedSecret(text: "u\(user)")), by: 1_000) { _ in } }
        }
        bench.executor.runUntilIdle()
        #expect(bench.provider.exchangeCalls == 2)
    }

    @Test func `API calls that reach no network are not charged`() {
        let bench = OwnerBench(callsPerMinute: 2).start()

        for _ in 0..<3 { #expect(bench.call().error?.kind == .notSignedIn) }

        #expect(bench.signIn(.signInToken(SharedSecret(text: "alice"))).error == nil)
        #expect(bench.provider.apiCalls.isEmpty)
    }

    @Test func `the retry of an API call after a 401 is not charged, and the next call exceeds the budget`() {
        let bench = OwnerBench(callsPerMinute: 1).start().signIn()
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))

        #expect(bench.call(by: 7).words == ["200"])
        let error = bench.call(by: 7).error

        #expect(error?.kind == .busy)
        #expect(error?.retryAfter == .seconds(60))
        #expect(bench.provider.apiCalls.count == 2)
        #expect(bench.provider.renewalCalls == 1)
    }

    @Test func `a 401 whose renewal would exceed the budget is reported as busy, with retryAfter`() {
        let bench = OwnerBench(callsPerMinute: 1).start().signIn()
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))

        let error = bench.call().error

        #expect(error?.kind == .busy)
        #expect(error?.retryAfter == .seconds(60))
        #expect(bench.provider.renewalCalls == 0)
    }

    @Test func `API calls and calls of the session have separate budgets`() {
        // The sign-in counts as a call of the session.
        let bench = OwnerBench(callsPerMinute: 3).start().signIn()

        #expect((0..<4).map { _ in bench.call().error?.kind } == [nil, nil, nil, .busy])
        #expect((0..<3).map { _ in bench.renew().error?.kind } == [nil, nil, .busy])
    }

    @Test func `a registration that no handler could complete is not charged`() {
        let bench = OwnerBench(callsPerMinute: 1).start()

        for _ in 0..<2 {
            #expect(bench.signIn(.registration(userId: "bob", token: nil)).error?.kind == .providerUnavailable)
        }

        #expect(bench.provider.exchangeCalls == 0)
    }
}
