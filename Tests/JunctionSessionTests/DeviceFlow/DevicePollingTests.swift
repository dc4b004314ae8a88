import Testing

@testable import JunctionSession

/// When the provider is polled for the approval of a device sign-in, and when its codes expire.
struct DevicePollingTests {
    @Test func `polls leave a fifth later than the interval, and slow_down makes the interval longer permanently`() {
        var bench = Bench.withCodes()
        bench.pass(.milliseconds(5_999))
        #expect(bench.polls.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.polls.count == 1)
        bench.failPoll(.slowDown())
        bench.pass(.milliseconds(11_999))
        #expect(bench.polls.isEmpty)
        bench.pass(.milliseconds(1))
        bench.failPoll(.pending())
        bench.pass(.milliseconds(11_999))
        #expect(bench.polls.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.polls.count == 1)
    }

    @Test(arguments: [(0, 1_200), (3_600, 720_000)])
    func `an interval that is out of bounds is replaced by the nearest bound`(seconds: Int, pause: Int) {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(interval: .seconds(seconds), life: .seconds(86_400))
        bench.pass(.milliseconds(pause - 1))
        #expect(bench.polls.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.polls.count == 1)
    }

    @Test func `network failures keep the sign-in alive, and the polls back off to a minute`() {
        var bench = Bench.withCodes()
        var pauses: [Duration] = []
        for _ in 0..<6 {
            let before = bench.now.uptime
            bench.passToAlarm()
            pauses.append(bench.now.uptime - before)
            bench.failPoll(.unavailable(Unavailability("No route to host")))
            #expect(bench.facts.renewal.lastError == "No route to host" && bench.state == .establishing)
        }
        #expect(pauses == [.seconds(6), .seconds(6), .seconds(12), .seconds(24), .seconds(48), .seconds(60)])
        bench.passToAlarm()
        bench.failPoll(.pending())
        #expect(bench.facts.renewal.lastError == nil)
        let before = bench.now.uptime
        bench.passToAlarm()
        #expect(bench.now.uptime - before == .seconds(6))
    }

    @Test(arguments: [false, true])
    func `a poll waits for the Retry-After of the provider, also after a restart`(isRestarted: Bool) {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("Busy", retryAfter: .seconds(100))))
        if isRestarted { bench = bench.restarted() }
        #expect(bench.state == .establishing)
        bench.pass(.milliseconds(99_999))
        #expect(bench.polls.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.polls.count == 1)
    }

    @Test func `no poll leaves when Retry-After reaches beyond the end of the codes`() {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("Busy", retryAfter: .seconds(3_600))))
        bench.pass(.seconds(593))
        #expect(bench.polls.isEmpty && bench.state == .establishing)
        bench.pass(.seconds(1))
        #expect(bench.polls.isEmpty && bench.state == .notLoggedIn)
    }

    @Test func `one poll leaves before the codes end, however long the backoff is`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(life: .seconds(100))
        for _ in 0..<4 {
            bench.passToAlarm()
            bench.failPoll(.unavailable(Unavailability("No route to host")))
        }
        // The last poll left after 48 seconds, and the backoff is as long again.
        bench.pass(.milliseconds(41_999))
        #expect(bench.polls.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.polls.count == 1)
    }

    @Test func `a network that returns brings no two polls closer than slow_down allows`() {
        var bench = Bench.withCodes()
        for _ in 0..<4 {
            bench.passToAlarm()
            bench.failPoll(.slowDown())
        }
        // The interval is now 25 seconds.
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("No route")))
        bench.passToAlarm()
        let before = bench.now.uptime
        bench.failPoll(.unavailable(Unavailability("No route")))
        bench.stepWall(.seconds(1))
        bench.networkReturns()
        bench.passToAlarm()
        #expect(bench.polls.count == 1)
        #expect(bench.now.uptime - before >= .seconds(25))
    }

    @Test func `a resume after a suspend polls at once`() {
        var bench = Bench.withCodes()
        for _ in 0..<5 {
            bench.passToAlarm()
            bench.failPoll(.unavailable(Unavailability("No route to host")))
        }
        bench.pass(.seconds(7))
        #expect(bench.polls.isEmpty)
        bench.stepWall(.seconds(1))
        #expect(bench.polls.count == 1)
    }

    @Test func `neither a step of the clock nor a network that returns sends the first poll before its interval`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(interval: .seconds(60))
        bench.stepWall(.seconds(1))
        bench.networkReturns()
        bench.pass(.seconds(60))
        #expect(bench.polls.isEmpty)
        bench.pass(.seconds(13))
        #expect(bench.polls.count == 1)
    }

    @Test func `a poll waits for an exchange in flight, and an exchange for a poll in flight`() {
        var bench = Bench.withCodes()
        bench.signIn(.signInToken("bob"))
        bench.pass(.seconds(7))
        #expect(bench.polls.isEmpty)
        bench.failExchange(.unavailable(Unavailability("No answer")))
        #expect(bench.polls.count == 1)
        bench.signIn(.signInToken("bob"))
        #expect(bench.exchanges.isEmpty)
        bench.failPoll(.pending())
        #expect(bench.exchanges.count == 1)
    }

    @Test(arguments: [SessionMachine.Begin.signIn, .poll])
    func `a poll leaves between two sign-ins that follow one another`(first: SessionMachine.Begin) throws {
        var bench = Bench.withCodes()
        bench.machine.begins.removeAll { $0 == first }
        bench.machine.begins.insert(first, at: 0)
        bench.signIn(.signInToken("bob"))
        bench.signIn(.signInToken("carol"))
        bench.pass(.seconds(30))
        #expect(bench.polls.isEmpty)
        bench.failExchange(.refused("The provider does not take it"))
        try #require(bench.polls.count == 1 && bench.exchanges.isEmpty)
        bench.failPoll(.pending())
        #expect(bench.polls.isEmpty && bench.exchanges.count == 1)
    }

    @Test func `a longer interval is written, and no step of the clock shortens a demanded pause`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(interval: .seconds(5))
        bench.passToPoll()
        bench.failPoll(.slowDown())
        #expect(bench.written.last?.deviceSignIn?.interval == .seconds(10))

        bench.passToPoll()
        bench.failPoll(.unavailable(Unavailability("Too many requests", retryAfter: .seconds(120))))
        bench.pass(.seconds(60))
        bench.stepWall(.seconds(3_600))
        #expect(bench.polls.isEmpty)
        bench.pass(.seconds(61))
        #expect(bench.polls.count == 1)
    }

    @Test func `a long interval leaves time for a last poll before the codes end`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(interval: .seconds(30), life: .seconds(100))
        bench.passToPoll()
        bench.failPoll(.pending())
        // At 72 s. The next poll would leave at 108 s, after the end of the codes.
        bench.passToPoll()
        bench.failPoll(.slowDown())
        bench.passToAlarm()
        #expect(bench.state == .notLoggedIn, "no faster than the provider wants")

        bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(interval: .seconds(25), life: .seconds(100))
        for _ in 0..<3 {
            bench.passToPoll()
            bench.failPoll(.pending())
        }
        // Polls have left at 30, 60 and 90 s.
        #expect(bench.machine.nextAlarm(now: bench.now).map { $0 - bench.now.wall } == .seconds(10))
    }

    @Test func `codes that no user approves expire by the monotonic clock`() {
        var bench = Bench.withCodes()
        // The last poll leaves a little earlier than the others, just before the codes end.
        for _ in 0..<100 {
            bench.passToAlarm()
            bench.failPoll(.pending())
        }
        bench.passToAlarm()
        #expect(bench.polls.isEmpty && bench.state == .notLoggedIn)
        #expect(bench.facts.renewal.lastError?.contains("expired") == true)
    }

    @Test func `a poll in flight when the codes end can still sign the user in`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(life: .seconds(8))
        bench.passToAlarm()
        bench.pass(.seconds(60))
        #expect(bench.state == .establishing)
        bench.grantPoll()
        #expect(bench.state == .established)
    }

    @Test func `an answer ends the demanded pause, and a pending ends the doubt about a lost answer`() {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("Lost", retryAfter: .seconds(30), ambiguous: true)))
        #expect(bench.written.last?.deviceSignIn?.notBefore != nil)
        bench.passToAlarm()
        bench.failPoll(.slowDown())
        // The pause of `slow_down` replaces it: ten seconds, and a fifth more.
        #expect(bench.written.last?.deviceSignIn?.notBefore == bench.now.wall + .seconds(12))
        bench.passToPoll()
        bench.failPoll(.pending())
        bench.pass(.seconds(600))
        #expect(bench.facts.renewal.lastError?.contains("expired before anybody") == true)
    }

    @Test func `a denial after a lost answer is reported as a sign-in that has to be repeated`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        bench.failPoll(.unavailable(Unavailability("The connection was cut", ambiguous: true)))
        bench.passToPoll()
        bench.failPoll(.denied)
        #expect(bench.facts.renewal.lastError?.contains("has to be repeated") == true)
    }

    @Test func `a lost answer, a slow_down and the end of the codes are reported as an interrupted sign-in`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        bench.failPoll(.unavailable(Unavailability("The answer did not come", ambiguous: true)))
        bench.passToPoll()
        bench.failPoll(.slowDown())
        bench.passToPoll()
        bench.failPoll(.expired)
        #expect(bench.facts.renewal.lastError?.contains("an answer that was lost") == true)
    }

    @Test func `codes that expire after a lost answer are not reported as unapproved`() {
        var bench = Bench.withCodes()
        while bench.state == .establishing {
            bench.passToAlarm()
            if !bench.polls.isEmpty {
                bench.failPoll(.unavailable(Unavailability("The answer did not come", ambiguous: true)))
            }
        }
        #expect(bench.facts.renewal.lastError?.contains("an answer that was lost") == true)
    }

    @Test func `a pending answer that demands a pause is obeyed if it is longer, and is no failure`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        bench.failPoll(.pending(retryAfter: .seconds(1)))
        #expect(bench.facts.renewal.lastError == nil)
        bench.pass(.seconds(6))
        #expect(bench.polls.count == 1)
        bench.failPoll(.pending(retryAfter: .seconds(90)))
        bench.pass(.seconds(89))
        #expect(bench.polls.isEmpty && bench.facts.renewal.lastError == nil)
        bench.pass(.seconds(1))
        #expect(bench.polls.count == 1)
        bench.failPoll(.denied)
        #expect(bench.facts.renewal.lastError?.contains("denied on the other screen") == true)
    }

    @Test func `a slow_down that demands a longer pause is obeyed, also after a restart`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        bench.failPoll(.slowDown(retryAfter: .seconds(90)))
        var after = bench.restarted(after: .seconds(30))
        after.pass(.seconds(59))
        #expect(after.polls.isEmpty)
        after.pass(.seconds(1))
        #expect(after.polls.count == 1)
    }

    /// The pause of an interval of five seconds is six seconds.
    @Test(arguments: [5, 6])
    func `a Retry-After of an undecided poll survives a restart, also if it is not longer than the pause`(seconds: Int)
    {
        var bench = Bench.withCodes()
        bench.passToPoll()
        bench.failPoll(.pending(retryAfter: .seconds(seconds)))
        // A step of the clock writes the record.
        bench.stepWall(.seconds(1))
        let after = bench.restarted(after: .seconds(1))
        #expect(after.polls.isEmpty)
    }

    @Test func `no step of the clock shortens a Retry-After of an undecided poll that took some time`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        bench.advance(by: .seconds(5))
        bench.failPoll(.pending(retryAfter: .seconds(6)))
        bench.stepWall(.seconds(1))
        bench.pass(.milliseconds(5_999))
        #expect(bench.polls.isEmpty)
    }

    @Test func `each further failed poll doubles the pause, also if the provider demands a second`() {
        var bench = Bench.withCodes()
        var pauses: [Duration] = []
        for _ in 0..<5 {
            bench.passToPoll()
            let failed = bench.now.wall
            bench.failPoll(.unavailable(Unavailability("It answered 503", retryAfter: .seconds(1))))
            bench.passToPoll()
            pauses.append(bench.now.wall - failed)
        }
        #expect(pauses.last.map { $0 > .seconds(30) } == true, "\(pauses)")
    }
}
