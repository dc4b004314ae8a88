import Testing

@testable import JunctionSession

/// A record that is there and cannot be read is not the same as no record.
struct UnreadableRecordTests {
    @Test func `a locked record shows the state of its clear header and serves nothing`() {
        var bench = Bench(.locked)
        #expect(bench.state == .established)
        #expect(bench.facts.userId == "alice")
        #expect(bench.facts.storage.status == .locked)
        #expect(bench.refusal { $0.token() } == .storageUnavailable)
        #expect(bench.refusal { $0.renew() } == .storageUnavailable)
        #expect(bench.written.isEmpty)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
    }

    @Test func `a sign-in reseals under the present key, as a newer generation`() {
        var bench = Bench(.locked)
        let request = bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        #expect(bench.reply(to: request) == .done)
        #expect(bench.facts.storage.status == .ok)
        #expect(bench.written.last?.generation == 8)
    }

    @Test func `a failed sign-in leaves the locked record as it was`() {
        var bench = Bench(.locked)
        bench.signIn(.signInToken("alice"))
        bench.failExchange(.unavailable(Unavailability("No answer")))
        #expect(bench.state == .established)
        #expect(bench.facts.storage.status == .locked)
        #expect(bench.written.isEmpty)
    }

    @Test func `without a key nobody can sign in, and the remedy is said`() {
        var bench = Bench(.unreadable(.locked, canSignIn: false))
        #expect(bench.refusal { $0.signIn(.signInToken("alice")) } == .storageUnavailable)
        #expect(bench.refusal { $0.identify("ext-alice") } == .storageUnavailable)
        #expect(bench.exchanges.isEmpty)
    }

    @Test func `quarantined losers stay reported until the next sign-in`() {
        let record = Bench.signedIn().written.last!
        var bench = Bench(.restored(record, SessionSecrets(), damaged: "session.sealed.tmp-1"))
        #expect(bench.facts.storage.status == .damaged)
        bench.renew()
        bench.grantRenewal()
        #expect(bench.facts.storage.status == .damaged)
        bench.identify(switchingTo: "bob")
        #expect(bench.facts.storage.status == .ok)
    }

    @Test func `a sign-out that the disk takes clears the quarantine, and is not told as damaged`() {
        let record = Bench.signedIn().written.last!
        var bench = Bench(.restored(record, SessionSecrets(), damaged: "session.sealed.tmp-1"))
        bench.writeFailure = StoreFailure("No space left on device")
        bench.signOut()
        #expect(bench.facts.storage.status == .damaged)
        bench.writeFailure = nil
        bench.pass(.seconds(60))
        #expect(bench.facts.storage.status == .ok)
    }
}
