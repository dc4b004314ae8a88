import Testing

@testable import JunctionSession

/// A credential of the service manager that waits for its next try.
struct EnrolmentTests {
    /// A device whose credential could not be exchanged yet.
    private func waiting(retryAfter: Duration? = nil) -> Bench {
        var bench = Bench()
        bench.perform(bench.machine.enrolmentBegan(now: bench.now))
        bench.signIn(.signInToken("alice"))
        bench.failExchange(.unavailable(Unavailability("Busy", retryAfter: retryAfter)))
        bench.perform(bench.machine.enrolmentFailed(retryAfter: retryAfter, now: bench.now))
        return bench
    }

    @Test func `it is tried again when it is time, once`() throws {
        var bench = waiting(retryAfter: .seconds(60))
        let due = try #require(bench.machine.nextAlarm(now: bench.now))
        #expect(due - bench.now.wall >= .seconds(60) && due - bench.now.wall <= .seconds(66))

        bench.pass(.seconds(59))
        #expect(bench.enrolments == 0)
        bench.pass(.seconds(7))
        bench.pass(.seconds(3_600))

        #expect(bench.enrolments == 1)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
    }

    @Test func `its pauses grow to ten minutes, and no further`() throws {
        var bench = waiting()
        for _ in 0..<30 {
            let due = try #require(bench.machine.nextAlarm(now: bench.now))
            #expect(due - bench.now.wall <= .seconds(600))
            bench.pass(due - bench.now.wall)
            bench.perform(bench.machine.enrolmentFailed(retryAfter: nil, now: bench.now))
        }
        #expect(bench.enrolments == 30)
    }

    @Test func `time in suspend counts, and so does none that the wall clock is set by`() {
        var bench = waiting(retryAfter: .seconds(600))
        bench.stepWall(.seconds(86_400))
        #expect(bench.enrolments == 0)
        bench.stepWall(.seconds(-86_400 * 2))
        #expect(bench.machine.nextAlarm(now: bench.now).map { $0 - bench.now.wall <= .seconds(660) } == true)

        bench.now = Moment(wall: bench.now.wall + .seconds(700), uptime: bench.now.uptime + .seconds(700))
        bench.perform(bench.machine.clockJumped(now: bench.now))

        #expect(bench.enrolments == 1)
    }

    /// A device whose credential has failed so often that its pauses are long.
    private func waitingLong() throws -> Bench {
        var bench = waiting()
        for _ in 0..<12 {
            let due = try #require(bench.machine.nextAlarm(now: bench.now))
            bench.pass(due - bench.now.wall)
            bench.perform(bench.machine.enrolmentFailed(retryAfter: nil, now: bench.now))
        }
        let due = try #require(bench.machine.nextAlarm(now: bench.now))
        try #require(due - bench.now.wall > .seconds(20))
        return bench
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a network that comes back tries it within a tenth of the time it was missed, ten seconds after a try`(
        seed: UInt64
    ) throws {
        let began = Bench().now.uptime
        var bench = try waitingLong()
        bench.machine.random = Randomness(seed: seed)
        bench.pass(.seconds(5))
        let spread = max((bench.now.uptime - began) / 10, .seconds(10))
        for _ in 0..<10 { bench.perform(bench.machine.networkChanged(now: bench.now)) }

        let due = try #require(bench.machine.nextAlarm(now: bench.now))
        #expect((.seconds(5)...(.seconds(5) + spread)).contains(due - bench.now.wall))
    }

    @Test func `a network that comes back after hours does not bring a region at once`() throws {
        var bench = waiting()
        for _ in 0..<60 {
            let due = try #require(bench.machine.nextAlarm(now: bench.now))
            if bench.now.uptime - Bench().now.uptime > .seconds(3_600), due - bench.now.wall > .seconds(400) { break }
            bench.pass(due - bench.now.wall)
            bench.perform(bench.machine.enrolmentFailed(retryAfter: nil, now: bench.now))
        }

        let waits = try (0..<100 as Range<UInt64>).map { seed -> Duration in
            var other = bench
            other.machine.random = Randomness(seed: seed)
            other.perform(other.machine.networkChanged(now: other.now))
            return try #require(other.machine.nextAlarm(now: other.now)) - other.now.wall
        }
        let most = try #require(waits.max())
        #expect(most > .seconds(200))
        #expect(most <= .seconds(310))
    }

    @Test func `a resume tries it sooner, once in ten seconds`() throws {
        var bench = try waitingLong()
        let tried = bench.enrolments

        bench.resume(after: .milliseconds(9_999))
        #expect(bench.enrolments == tried)
        bench.resume(after: .milliseconds(1))

        #expect(bench.enrolments == tried + 1)
    }

    @Test func `a resume does not pass what the provider asked for`() {
        var bench = waiting(retryAfter: .seconds(600))

        bench.resume(after: .seconds(60))
        #expect(bench.enrolments == 0)
        bench.resume(after: .seconds(600))

        #expect(bench.enrolments == 1)
    }

    @Test func `the pauses of another credential begin short`() throws {
        var bench = try waitingLong()

        bench.perform(bench.machine.enrolmentBegan(now: bench.now))
        bench.perform(bench.machine.enrolmentFailed(retryAfter: nil, now: bench.now))

        let due = try #require(bench.machine.nextAlarm(now: bench.now))
        #expect(due - bench.now.wall <= .seconds(2))
    }

    @Test func `a sign-out ends it, and is written although nobody was signed in`() {
        var bench = waiting(retryAfter: .seconds(60))

        let signOut = bench.signOut()
        bench.pass(.seconds(3_600))

        #expect(bench.reply(to: signOut) == .done)
        #expect(bench.droppedEnrolments == 1 && bench.enrolments == 0)
        #expect(bench.written.map(\.content) == [.signedOut])
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
        bench.signOut()
        #expect(bench.droppedEnrolments == 1 && bench.written.count == 1)
    }

    @Test func `a sign-out ends one that is being tried, and nobody is identified just the same`() {
        for begin in [{ (bench: inout Bench) in _ = bench.signOut() }, { _ = $0.identify(nil) }] {
            var bench = Bench()
            bench.perform(bench.machine.enrolmentBegan(now: bench.now))
            let signIn = bench.signIn(.signInToken("alice"))

            begin(&bench)

            #expect(bench.refusal(of: signIn) == .notSignedIn)
            #expect(bench.droppedEnrolments == 1)
            bench.perform(bench.machine.enrolmentFailed(retryAfter: nil, now: bench.now))
            #expect(bench.machine.nextAlarm(now: bench.now) == nil || bench.telling != nil)
        }
    }

    @Test func `one that has ended waits for nothing`() {
        var bench = waiting(retryAfter: .seconds(60))

        bench.perform(bench.machine.enrolmentEnded(now: bench.now))
        bench.signOut()

        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
        #expect(bench.droppedEnrolments == 0 && bench.written.isEmpty)
    }

    @Test func `a sign-out ends one that is looked up, held back or of no use yet, and is written`() {
        for known in [{ $0.enrolmentKnown(now: $1) }, { $0.enrolmentHeldBack(now: $1) }]
            as [(inout SessionMachine, Moment) -> [Effect]]
        {
            for begin in [{ Bench() }, { Bench.signedIn() }, { Bench.terminated() }] as [() -> Bench] {
                var bench = begin()
                bench.perform(known(&bench.machine, bench.now))
                let written = bench.written.count

                let signOut = bench.signOut()

                #expect(bench.reply(to: signOut) == .done)
                #expect(bench.droppedEnrolments == 1)
                #expect(bench.written.dropFirst(written).map(\.content) == [.signedOut])
            }
        }
    }

    @Test func `one that was held back is looked at again when nobody is signed in any more, once`() {
        var bench = Bench.signedIn()
        bench.perform(bench.machine.enrolmentHeldBack(now: bench.now))
        bench.pass(.seconds(60))
        #expect(bench.enrolments == 0)

        bench.renew()
        bench.failRenewal(.terminated(code: "invalid_token", message: "The user was deleted"))
        bench.pass(.seconds(60))

        #expect(bench.state == .terminated)
        #expect(bench.enrolments == 1)
    }

    @Test func `while somebody is being signed in it waits, and goes on when that fails`() {
        var bench = waiting(retryAfter: .seconds(60))
        bench.signIn(.signInToken("bob"))
        bench.pass(.seconds(3_600))
        #expect(bench.enrolments == 0)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil, "or the alarm would ring for ever")

        bench.failExchange(.refused("Expired"))

        #expect(bench.enrolments == 1)
    }

    @Test func `one that is held back waits for whoever is being signed in, too`() {
        var bench = Bench()
        bench.signIn(.signInToken("bob"))
        bench.perform(bench.machine.enrolmentHeldBack(now: bench.now))
        #expect(bench.enrolments == 0)

        bench.failExchange(.refused("Expired"))

        #expect(bench.enrolments == 1)
    }
}

extension Bench {
    /// The machine was suspended for so long.
    fileprivate mutating func resume(after duration: Duration) {
        now = Moment(wall: now.wall + duration, uptime: now.uptime + duration)
        perform(machine.clockJumped(now: now))
    }
}
