import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// The record on disk: writes are sequential, and each caller is answered after its own write.
struct StoredRecordTests {
    @Test func `only one write is at the store, and the next one follows it`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        bench.renew()
        let bound = bench.identify("ext-alice", answering: .signInToken("alice"))
        // The intent is at the store, and the binding waits. The bench traps on a second write.
        #expect(bench.heldWrites.count == 1)
        #expect(bench.reply(to: bound) == nil)
        bench.endWrite()
        #expect(bench.heldWrites.count == 1)
        bench.endWrite()
        #expect(bench.reply(to: bound) == .identified(.unchanged))
    }

    @Test func `a binding waits for the write of the one before, and for a rotation`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.holdsWrites = true
        let first = bench.identify("ext-1", answering: .signInToken("alice"))
        let second = bench.identify("ext-2")
        bench.grantRenewal()
        #expect(bench.heldWrites.count == 1)
        bench.endWrite()
        #expect(bench.reply(to: first) == .identified(.unchanged))
        bench.endWrite()
        bench.answer(second, .success(.signInToken("alice")))
        #expect(bench.reply(to: second) == nil)
        bench.endWrites()
        #expect(bench.reply(to: second) == .identified(.unchanged))
        #expect(bench.facts.externalUserId == "ext-2")
        #expect(bench.facts.accessToken?.generation == 2)
    }

    @Test func `a record that was read from disk is durable and is not written again`() {
        var bench = Bench.signedIn()
        let restarted = bench.restarted()
        #expect(restarted.facts.storage.durable)
        #expect(restarted.written.isEmpty)
        bench.signOut()
        #expect(bench.restarted().facts.storage.durable)
    }

    @Test func `the owner reports a session that was read from disk as durable`() {
        let bench = OwnerBench().start().signIn()
        let restoration = bench.store.restore()
        #expect(OwnerBench().start(restoration).snapshot().facts.storage.durable)
    }
}
