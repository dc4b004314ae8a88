import Testing

@testable import JunctionSession

/// Callers that ask for a token, or whose token was rejected.
struct TokenRequestTests {
    @Test func `every caller that waits for a renewal gets its token`() {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        let waiters = (0..<50).map { _ in bench.token() }
        #expect(bench.renewals.count == 1)

        bench.grantRenewal()

        for waiter in waiters {
            #expect(bench.servedToken(to: waiter)?.generation == 2)
        }
        #expect(bench.renewals.isEmpty)
    }

    @Test func `every caller that waits gets the one failure, and no caller starts another attempt`() {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        let waiters = (0..<50).map { _ in bench.token() }

        bench.failRenewal(.unavailable(Unavailability("No answer")))

        for waiter in waiters {
            #expect(bench.refusal(of: waiter) == .providerUnavailable)
            #expect(bench.retryAfter(of: waiter) != nil)
        }
        #expect(bench.renewals.isEmpty)
    }

    @Test func `a valid token is served while the provider does not answer`() throws {
        var bench = Bench.signedIn()
        bench.renew()
        let request = bench.token()
        let token = try #require(bench.servedToken(to: request))
        #expect(token.generation == 1)
    }

    @Test func `a token request waits for a sign-in in flight`() {
        var bench = Bench()
        bench.signIn(.signInToken("alice"))
        let request = bench.token()
        #expect(bench.reply(to: request) == nil)
        bench.grantExchange()
        #expect(bench.servedToken(to: request) != nil)
    }

    @Test func `a longer validity renews early, once per call, and does not renew a new token`() throws {
        var bench = Bench.signedIn(life: .seconds(100))
        bench.pass(.seconds(9))
        let tooSoon = bench.token(validFor: .seconds(80))
        #expect(bench.servedToken(to: tooSoon) != nil)

        bench.pass(.seconds(21))
        let early = bench.token(validFor: .seconds(75))
        #expect(bench.renewals.count == 1)
        bench.grantRenewal()
        let token = try #require(bench.servedToken(to: early))
        #expect(token.generation == 2)
    }

    @Test func `a token less than ten seconds old gets busy instead of a renewal`() {
        var bench = Bench.signedIn(life: .seconds(20))
        bench.pass(.seconds(6))
        let request = bench.token(validFor: .seconds(16))
        #expect(bench.refusal(of: request) == .busy)
        #expect(bench.retryAfter(of: request) == .seconds(4))
        #expect(bench.renewals.isEmpty)
    }

    @Test func `a token less than ten seconds old is not renewed early, after a restart either`() {
        let bench = Bench.signedIn(life: .seconds(20))
        var after = bench.restarted(after: .seconds(2), rebooted: true)
        after.pass(.seconds(3))
        after.token(validFor: .seconds(16))
        #expect(after.renewals.isEmpty)
    }

    @Test func `a validity of more than four fifths of the life is refused with the maximum`() throws {
        var bench = Bench.signedIn(life: .seconds(100))
        let request = bench.token(validFor: .seconds(81))
        let refusal = try #require(bench.error(of: request))
        #expect(refusal.kind == .invalidParameters)
        #expect(refusal.maximum == .seconds(80))
    }

    @Test func `a token that is valid for exactly the requested time is served`() {
        var bench = Bench.signedIn(life: .seconds(100))
        bench.advance(by: .seconds(20))
        #expect(bench.reply { $0.token(validFor: .seconds(80)) } == .token(bench.facts.accessToken!))
        #expect(bench.renewals.isEmpty)
    }

    @Test func `a call renews once, also when the write takes most of the new token's life`() {
        var bench = Bench.signedIn(life: .seconds(120))
        bench.advance(by: .seconds(50))
        let request = bench.token(validFor: .seconds(90))
        bench.holdsWrites = true
        bench.grantRenewal()
        bench.advance(by: .seconds(40))
        bench.endWrite()
        #expect(bench.refusal(of: request) == .busy)
        #expect(bench.heldWrites.isEmpty)
        #expect(bench.renewals.isEmpty)
    }

    @Test func `a valid token that is too short is reported as busy while the renewal backs off`() {
        var bench = Bench.signedIn()
        bench.pass(.seconds(2_900))
        #expect(bench.renewals.count == 1)
        bench.failRenewal(.busyForAnHour)
        let request = bench.token(validFor: .seconds(2_000))
        #expect(bench.state == .established)
        #expect(bench.refusal(of: request) == .busy)
        #expect(bench.retryAfter(of: request) != nil)
    }

    @Test func `a valid token that is too short is reported as busy while the renewal is postponed`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(2_900))
        bench.answerQuestion(.unable)
        #expect(bench.facts.renewal.phase == .postponed)
        let request = bench.token(validFor: .seconds(2_000))
        #expect(bench.state == .established)
        #expect(bench.refusal(of: request) == .busy)
        #expect(bench.retryAfter(of: request) != nil)
    }

    @Test func `a new token that is too short is reported as busy, with retryAfter`() {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(15))
        let request = bench.token(validFor: .seconds(47))
        #expect(bench.renewals.count == 1)
        let start = bench.now
        bench.now = Moment(wall: start.wall + .seconds(14), uptime: start.uptime + .seconds(14))
        let granted = bench.granted("alice", from: start)
        bench.perform(bench.machine.renewalSucceeded(bench.renewals[0], granted, now: bench.now))
        #expect(bench.state == .established)
        #expect(bench.refusal(of: request) == .busy)
        #expect(bench.retryAfter(of: request) != nil)
    }

    @Test func `a rejected token is renewed only if it is still the current one`() {
        var bench = Bench.signedIn()
        let first = bench.rejected(1)
        let late = bench.rejected(1)
        #expect(bench.renewals.count == 1)
        bench.grantRenewal()
        #expect(bench.reply(to: first) == .authorized(generation: 2))
        #expect(bench.reply(to: late) == .authorized(generation: 2))

        #expect(bench.reply { $0.rejected(1) } == .authorized(generation: 2))
        #expect(bench.reply { $0.rejected(2) } == .rejectionStands)
        #expect(bench.renewals.isEmpty)
    }

    @Test func `a rejected token is renewed although another one was just obtained`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.grantRenewal()
        bench.rejected(2)
        #expect(bench.renewals.count == 1)
    }

    @Test func `a rejection does not shorten a backoff that has just begun`() {
        var bench = Bench.longBackoff(life: .seconds(360_000))
        #expect(bench.reply { $0.rejected(1) } == .rejectionStands)
        #expect(bench.renewals.isEmpty)
        bench.now.uptime = bench.now.uptime + .seconds(10)
        bench.rejected(1)
        #expect(bench.renewals.count == 1)
    }

    @Test func `a rejection while the token has expired is answered with tokenExpired`() {
        var bench = Bench.backingOff()
        #expect(bench.refusal { $0.rejected(0) } == .tokenExpired)
        #expect(bench.refusal { $0.rejected(1) } == .tokenExpired)
    }

    @Test func `while a renewal backs off, a request for a token gets its last error`() {
        var bench = Bench.backingOff()

        let request = bench.token()

        #expect(bench.refusal(of: request) == .tokenExpired)
        #expect(bench.message(of: request)?.hasSuffix(" (last error: providerUnavailable: No answer)") == true)
    }

    @Test func `a rejection is final while no handler can renew a valid token`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        #expect(bench.reply { $0.rejected(1) } == .rejectionStands)
        bench.pass(.seconds(61))
        #expect(bench.refusal { $0.rejected(1) } == .tokenExpired)
    }
}
