import Testing

@testable import JunctionSession

/// A disk that neither completes a write nor refuses it. After ten seconds no caller waits for the write.
struct StalledWriteTests {
    private func stalled(_ user: String = "alice") -> Bench {
        var bench = Bench.signedIn(user)
        bench.holdsWrites = true
        return bench
    }

    private func failures(_ bench: Bench) -> Int {
        bench.reports.count { if case .writeFailed = $0 { true } else { false } }
    }

    @Test func `a request leaves although its intent is not on the disk, and its answer takes effect`() {
        var bench = stalled()
        let request = bench.renew()
        bench.pass(.milliseconds(9_999))
        #expect(bench.renewals.isEmpty)

        bench.pass(.milliseconds(1))
        #expect(bench.renewals.count == 1)
        #expect(!bench.facts.storage.durable)
        #expect(failures(bench) == 1)
        let before = bench.machine.servedSecrets
        bench.grantRenewal()
        bench.passToAlarm()

        #expect(bench.reply(to: request) == .done)
        #expect(bench.machine.servedSecrets != before)
        #expect(failures(bench) == 1)
    }

    @Test func `changes that are not on the disk are written when the stalled write ends`() {
        var bench = stalled()
        bench.renew()
        bench.pass(.seconds(10))
        bench.grantRenewal()
        bench.passToAlarm()
        let rotated = bench.machine.servedSecrets
        #expect(bench.heldWrites.count == 1)

        bench.endWrite()
        #expect(bench.heldWrites.count == 1)
        #expect(bench.heldWrites.first?.secrets == rotated)
        #expect(!bench.facts.storage.durable)
        bench.endWrite()
        #expect(bench.facts.storage.durable)
        #expect(bench.heldWrites.isEmpty)
    }

    @Test func `the result of a late write takes effect`() {
        var bench = stalled()
        let request = bench.signOut()
        bench.pass(.seconds(10))
        #expect(bench.reply(to: request) == .done)
        #expect(bench.state == .notLoggedIn && !bench.facts.storage.durable)

        bench.endWrite()
        #expect(bench.facts.storage.durable)
        #expect(bench.heldWrites.isEmpty)
    }

    @Test func `a stalled write that fails is tried again`() {
        var bench = stalled()
        bench.signOut()
        bench.pass(.seconds(10))
        bench.endWrite(failure: StoreFailure("No space left on device"))
        #expect(!bench.facts.storage.durable)

        for _ in 0..<10 where bench.heldWrites.isEmpty { bench.passToAlarm() }
        bench.endWrite()
        #expect(bench.facts.storage.durable)
        #expect(bench.written.last?.content == .signedOut)
    }

    @Test func `a sign-in and a sign-out behind a stalled write are answered, and the last state is written`() throws {
        var bench = Bench()
        bench.holdsWrites = true
        let first = bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        bench.pass(.seconds(10))
        #expect(bench.reply(to: first) == .done && bench.facts.userId == "alice")
        let signOut = bench.signOut()
        bench.passToAlarm()
        #expect(bench.reply(to: signOut) == .done && bench.state == .notLoggedIn)
        let second = bench.signIn(.signInToken("bob"))
        bench.grantExchange(of: "bob")
        bench.passToAlarm()
        #expect(bench.reply(to: second) == .done && bench.facts.userId == "bob")

        bench.endWrites()
        let stored = try #require(bench.storedSession)
        #expect(stored.identity.userId == "bob" && bench.facts.storage.durable)
    }

    @Test func `no alarm is set while no caller waits for the write`() {
        var bench = stalled()
        bench.signOut()
        bench.pass(.seconds(10))
        bench.endRevocation()
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
    }

    @Test func `a token request during a switch whose write does not end gets a token of the new user`() {
        var bench = stalled()
        let request = bench.identify(switchingTo: "bob")
        bench.advance(by: .seconds(7_200))
        let token = bench.token()

        #expect(bench.reply(to: request) == .identified(.switched))
        #expect(bench.facts.userId == "bob" && bench.reply(to: token) == nil)
        bench.grantRenewal()
        #expect(bench.reply(to: token) != nil)
        bench.endWrites()
        #expect(bench.facts.storage.durable)
    }
}
