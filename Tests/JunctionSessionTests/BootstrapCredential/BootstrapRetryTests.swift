import JunctionTesting
import Testing

@testable import JunctionSession

/// The pause between two attempts with the bootstrap credential, and the sign-out that ends the credential.
struct BootstrapRetryTests {
    /// A bench whose bootstrap credential has failed once, and the request that waits for the next attempt.
    private func waiting(retryAfter: Duration? = nil) -> (bench: Bench, request: RequestID) {
        var bench = Bench()
        bench.signIn(.signInToken("alice"))
        bench.failExchange(.unavailable(Unavailability("Busy", retryAfter: retryAfter)))
        let request = bench.waitToRetry(after: Retry(), retryAfter: retryAfter)
        return (bench, request)
    }

    /// A bench whose bootstrap credential has failed so often that its pauses are at least ten seconds long.
    private func waitingLong() throws -> (bench: Bench, request: RequestID) {
        var (bench, request) = waiting()
        for _ in 0..<100 {
            let due = try #require(bench.machine.nextAlarm(now: bench.now))
            if bench.now.uptime - Bench().now.uptime > .seconds(600), due - bench.now.wall > .seconds(20) { break }
            bench.pass(due - bench.now.wall)
            request = bench.waitToRetry(after: try #require(bench.retry(of: request)))
        }
        return (bench, request)
    }

    @Test func `the next attempt begins after the pause that the provider demands, once`() throws {
        var (bench, request) = waiting(retryAfter: .seconds(60))
        let due = try #require(bench.machine.nextAlarm(now: bench.now))
        #expect(due - bench.now.wall >= .seconds(60) && due - bench.now.wall <= .seconds(66))

        bench.pass(.seconds(59))
        #expect(bench.reply(to: request) == nil)
        bench.pass(.seconds(7))

        #expect(bench.reply(to: request) == .retry)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
    }

    @Test func `pauses grow to ten minutes, and no further`() throws {
        var (bench, request) = waiting()
        for _ in 0..<30 {
            let due = try #require(bench.machine.nextAlarm(now: bench.now))
            #expect(due - bench.now.wall <= .seconds(600))
            bench.pass(due - bench.now.wall)
            request = bench.waitToRetry(after: try #require(bench.retry(of: request)))
        }
    }

    @Test func `time in suspend counts, and a step of the wall clock does not`() {
        var (bench, request) = waiting(retryAfter: .seconds(600))
        bench.stepWall(.seconds(86_400))
        #expect(bench.reply(to: request) == nil)
        bench.stepWall(.seconds(-86_400 * 2))
        #expect(bench.machine.nextAlarm(now: bench.now).map { $0 - bench.now.wall <= .seconds(660) } == true)

        bench.resume(after: .seconds(700))

        #expect(bench.reply(to: request) == .retry)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a network that returns shortens the pause to a tenth of the failing time, ten seconds after an attempt`(
        seed: UInt64
    ) throws {
        let began = Bench().now.uptime
        var (bench, _) = try waitingLong()
        bench.machine.random = Randomness(seed: seed)
        bench.pass(.seconds(5))
        let spread = min(max((bench.now.uptime - began) / 10, .seconds(10)), .seconds(300))

        for _ in 0..<10 { bench.networkReturns() }

        let due = try #require(bench.machine.nextAlarm(now: bench.now))
        #expect((.seconds(5)...(.seconds(5) + spread)).contains(due - bench.now.wall))
    }

    @Test func `a resume shortens the pause, once in ten seconds`() throws {
        var (bench, request) = try waitingLong()

        bench.resume(after: .milliseconds(9_999))
        #expect(bench.reply(to: request) == nil)
        bench.resume(after: .milliseconds(1))

        #expect(bench.reply(to: request) == .retry)
    }

    @Test func `a resume does not shorten the pause that the provider demands`() {
        var (bench, request) = waiting(retryAfter: .seconds(600))

        bench.resume(after: .seconds(60))
        #expect(bench.reply(to: request) == nil)
        bench.resume(after: .seconds(600))

        #expect(bench.reply(to: request) == .retry)
    }

    @Test func `the pauses of another credential begin short`() throws {
        var (bench, _) = try waitingLong()
        bench.pass(.seconds(700))

        bench.waitToRetry(after: Retry())

        let due = try #require(bench.machine.nextAlarm(now: bench.now))
        #expect(due - bench.now.wall <= .seconds(2))
    }

    @Test func `a sign-out ends the wait`() {
        var (bench, request) = waiting(retryAfter: .seconds(60))

        bench.signOut()

        #expect(bench.refusal(of: request) == .notSignedIn)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
    }

    @Test func `a sign-out that ends a credential is written although no user is signed in`() {
        for begin in [{ Bench() }, { Bench.signedIn() }, { Bench.terminated() }] as [() -> Bench] {
            var bench = begin()
            let written = bench.written.count

            let signOut = bench.signOut(endsBootstrapCredential: true)

            #expect(bench.reply(to: signOut) == .done)
            #expect(bench.written.dropFirst(written).map(\.content) == [.signedOut])
        }
    }

    @Test func `the next attempt waits for a sign-in under way, and begins when that fails`() {
        var (bench, request) = waiting(retryAfter: .seconds(60))
        bench.signIn(.signInToken("bob"))
        bench.pass(.seconds(3_600))
        #expect(bench.reply(to: request) == nil)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil, "or the alarm would ring for ever")

        bench.failExchange(.refused("Expired"))

        #expect(bench.reply(to: request) == .retry)
    }

    @Test func `the owner ends the bootstrap credentials before it writes a sign-out`() {
        let bench = OwnerBench().start()
        let written = Box<Int>()
        bench.on { [store = bench.store] owner in
            owner.beforeSignOut {
                written.put(store.written.count)
                return true
            }
        }

        bench.signOut()
        #expect(written.all == [0])
        #expect(bench.store.written.map(\.content) == [.signedOut])
        bench.on { $0.identify(externalUserId: nil, by: 1_000, ask: { _, _ in }) { _ in } }
        bench.on { $0.identify(externalUserId: "ext-alice", by: 1_000, ask: { _, _ in }) { _ in } }

        #expect(written.all == [0, 1])
    }

    @Test func `the owner answers when the pause is over`() throws {
        let bench = OwnerBench().start()
        let answers = Box<Result<Retry, SessionError>>()
        bench.on { $0.waitToRetry(after: Retry(), retryAfter: .seconds(60)) { answers.put($0) } }
        #expect(bench.alarm.setTo != nil && answers.all.isEmpty)

        bench.pass(.seconds(66))

        #expect(try answers.all.first?.get().failures == 1)
    }

    private func longBackoff() throws -> (bench: Bench, request: RequestID) {
        var bench = Bench()
        var request = bench.waitToRetry(after: Retry(), retryAfter: .seconds(1))
        for _ in 0..<200 {
            let due = try #require(bench.machine.nextAlarm(now: bench.now))
            if due - bench.now.wall > .seconds(300) { break }
            bench.pass(due - bench.now.wall)
            request = bench.waitToRetry(after: try #require(bench.retry(of: request)), retryAfter: .seconds(1))
        }
        return (bench, request)
    }

    @Test func `a resume shortens the backoff of a bootstrap credential after a demand of a second`() throws {
        var (bench, request) = try longBackoff()
        bench.advance(by: .seconds(15))
        bench.stepWall(.zero)
        #expect(bench.reply(to: request) == .retry)
    }

    @Test func `a network that returns shortens the backoff of a bootstrap credential after a demand of a second`()
        throws
    {
        var (bench, _) = try longBackoff()
        let before = try #require(bench.machine.nextAlarm(now: bench.now))
        bench.pass(.seconds(15))
        for _ in 0..<10 { bench.networkReturns() }
        let due = try #require(bench.machine.nextAlarm(now: bench.now))
        #expect(due < before)
    }
}

extension Bench {
    /// Suspends the machine for this time and resumes it.
    fileprivate mutating func resume(after duration: Duration) {
        now = Moment(wall: now.wall + duration, uptime: now.uptime + duration)
        perform(machine.clockJumped(now: now))
    }
}
