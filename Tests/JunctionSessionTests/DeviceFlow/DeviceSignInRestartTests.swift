import Testing

@testable import JunctionSession

/// A restart of the daemon, or a step of the wall clock, during a device sign-in.
struct DeviceSignInRestartTests {
    @Test func `starts with a wrong clock make the life of the codes no longer than it was`() {
        var before = Bench.withCodes()
        before.passToPoll()
        before.failPoll(.slowDown())
        var wrong = before.restarted(after: .seconds(10), clockSetBy: .seconds(-86_400), rebooted: true)
        wrong.passToPoll()
        wrong.failPoll(.slowDown())
        let again = wrong.restarted(after: .seconds(10), rebooted: true)

        #expect(again.facts.authorization!.expiresAt - again.now.wall <= .seconds(600))
    }

    @Test func `a wrong clock at a start makes a pause between polls no longer than it was`() {
        var before = Bench.withCodes()
        before.passToPoll()
        before.failPoll(.slowDown())
        var bench = before.restarted(after: .seconds(60), clockSetBy: .seconds(-86_400), rebooted: true)

        bench.pass(.seconds(20))

        #expect(bench.polls.count == 1)
    }

    @Test func `polls go on at once after a restart`() {
        var bench = Bench.withCodes().restarted(after: .seconds(2))
        #expect(bench.state == .establishing && bench.polls.count == 1)
        bench.failPoll(.pending())
        #expect(bench.state == .establishing)
        bench.passToAlarm()
        bench.grantPoll()
        #expect(bench.state == .established)
    }

    @Test func `no step of the clock shortens a demanded pause after a restart`() {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("Busy", retryAfter: .seconds(300))))
        var restarted = bench.restarted()
        restarted.pass(.seconds(100))
        restarted.stepWall(.seconds(1))
        restarted.networkReturns()
        restarted.pass(.seconds(199))
        #expect(restarted.polls.isEmpty)
        restarted.pass(.seconds(1))
        #expect(restarted.polls.count == 1)
    }

    @Test func `a restart keeps the interval between polls, also when the clock steps`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(interval: .seconds(30))
        var restarted = bench.restarted()
        restarted.failPoll(.unavailable(Unavailability("No route")))
        let before = restarted.now.uptime
        restarted.pass(.seconds(12))
        restarted.stepWall(.seconds(1))
        #expect(restarted.polls.isEmpty)
        restarted.passToAlarm()
        #expect(restarted.polls.count == 1 && restarted.now.uptime - before >= .seconds(30))
    }

    @Test func `a restart keeps the pause of a slow_down`() {
        var before = Bench.withCodes()
        before.passToPoll()
        before.failPoll(.slowDown())
        #expect(before.written.last?.deviceSignIn?.interval == .seconds(10))
        let bench = before.restarted(after: .seconds(1))
        #expect(bench.polls.isEmpty, "one second after slow_down, which demands ten")
    }

    @Test func `a restart keeps the user who may approve`() throws {
        var bench = Bench.pendingReauthentication()
        bench.signIn(.device)
        bench.giveCodes()
        let record = try #require(bench.written.last)
        #expect(record.deviceSignIn?.wanted == .user("alice"))

        var older = record
        older.deviceSignIn?.wanted = nil
        older.deviceSignIn?.caller = nil
        var restarted = Bench(at: bench.now, .restored(older, SessionSecrets(), damaged: nil))
        restarted.passToPoll()
        restarted.grantPoll(by: "bob")
        #expect(restarted.facts.userId == "alice" && restarted.revoked == [.user("bob")])
    }

    @Test func `identify binds the external id after a restart too`() {
        var before = Bench()
        before.identify("ext-alice", answering: .device)
        before.giveCodes()
        var bench = before.restarted(after: .seconds(2))
        bench.grantPoll()
        #expect(bench.facts.externalUserId == "ext-alice")
    }

    @Test func `a step of the wall clock moves the times in the record`() throws {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("Busy", retryAfter: .seconds(300))))
        let before = try #require(bench.written.last?.deviceSignIn)
        bench.stepWall(.seconds(1_000))
        let after = try #require(bench.written.last?.deviceSignIn)
        #expect(after.expiresAt - before.expiresAt == .seconds(1_000))
        #expect(try #require(after.notBefore) - (try #require(before.notBefore)) == .seconds(1_000))
    }

    @Test func `codes that have ended by the wall clock of a start are shown with a new end`() throws {
        var bench = Bench.withCodes()
        bench.now.wall = bench.now.wall + .seconds(86_400)
        let restarted = bench.restarted()
        let end = try #require(restarted.facts.authorization?.expiresAt)
        #expect(end > bench.now.wall && end <= bench.now.wall + .seconds(600))
    }

    @Test func `a step of the wall clock does not end the codes, over a restart too`() {
        var before = Bench.withCodes()
        before.stepWall(.seconds(86_400))
        var bench = before.restarted(after: .seconds(2))
        bench.failPoll(.pending())
        bench.passToAlarm()
        #expect(bench.polls.count == 1)
    }

    @Test func `codes that have ended by the wall clock are polled until the provider answers`() {
        var bench = Bench.withCodes().restarted(after: .seconds(3_600))
        bench.failPoll(.unavailable(Unavailability("No route to host")))
        bench.passToPoll()
        bench.failPoll(.unavailable(Unavailability("No route to host")))
        bench.passToPoll()
        bench.grantPoll()
        #expect(bench.state == .established)
    }

    @Test
    func `codes are polled after a restart no longer than they had left to live`() {
        var bench = Bench.withCodes().restarted(after: .seconds(3_600))
        let start = bench.now.uptime
        while bench.state == .establishing {
            bench.failPoll(.unavailable(Unavailability("No route to host")))
            bench.passToAlarm()
        }
        #expect(bench.now.uptime - start <= .seconds(600))
        #expect(bench.facts.renewal.lastError?.contains("interrupted by a restart") == true)
    }

    @Test func `a wall clock that was set back does not lengthen the life of the codes`() {
        var bench = Bench.withCodes().restarted(after: .seconds(2), clockSetBy: .seconds(-86_402))
        bench.failPoll(.pending())
        let start = bench.now.uptime
        while bench.state == .establishing {
            bench.passToAlarm()
            if !bench.polls.isEmpty { bench.failPoll(.pending()) }
        }
        #expect(bench.now.uptime - start <= .seconds(600))
    }

    @Test(arguments: [PollFailure.denied, .expired, .refused("invalid_grant")])
    func `a refusal after a restart is reported as a sign-in that has to be repeated`(verdict: PollFailure) {
        var bench = Bench.withCodes().restarted(after: .seconds(2))
        bench.failPoll(verdict)
        #expect(bench.state == .notLoggedIn)
        #expect(bench.facts.renewal.lastError?.contains("has to be repeated") == true)
    }

    @Test func `a restart, a slow_down and the end of the codes are reported as an interrupted sign-in`() {
        var bench = Bench.withCodes().restarted(after: .seconds(2))
        bench.failPoll(.slowDown())
        bench.passToPoll()
        bench.failPoll(.expired)
        #expect(bench.facts.renewal.lastError?.contains("interrupted by a restart") == true)
    }

    @Test func `codes whose secrets are missing are dropped at start`() throws {
        let record = try #require(Bench.withCodes().written.last)
        var machine = Bench().machine
        let now = Bench().now
        _ = machine.restored(
            .restored(record, SessionSecrets(), damaged: nil),
            secrets: SecretRef(number: 900),
            codes: nil,
            now: now
        )
        #expect(machine.signIn.device == nil)
    }
}
