import JunctionSecret
import JunctionTesting
import Synchronization
import Testing

@testable import JunctionSession

/// The sequences that a third reading of the heart found, each by name.
struct ThirdReadingTests {

    @Test func `no refresh token is spent for whom a switch has replaced`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        let request = bench.identify("ext-bob")
        bench.answer(request, .success(.signInToken("bob")))
        bench.renew()
        #expect(bench.heldWrites.count == 1)
        bench.grantExchange(of: "bob")
        let held = bench.heldWrites[0]
        let effects = bench.machine.writeEnded(held.ticket, failure: nil, now: bench.now)
        let sent = effects.contains { if case .renew = $0 { true } else { false } }
        let change = effects.contains {
            if case .write(_, let r, _, _, _) = $0, case .session(let s) = r.content {
                s.identity.userId == "bob"
            } else {
                false
            }
        }
        #expect(!(sent && change), "alice's refresh token leaves in the event that begins the switch to bob")
    }

    @Test func `a replay is made until the switch takes the slot: a crash before that brings the old user back`() {
        var bench = Bench.signedIn()
        let request = bench.identify("ext-bob")
        bench.answer(request, .success(.signInToken("bob")))
        bench.renew()
        bench.failRenewal(.lost)
        // A detail of alice's session is on its way to a slow disk, and bob's grant waits for that.
        bench.holdsWrites = true
        let exchange = bench.exchanges[0]
        bench.machine.note()
        bench.perform(bench.machine.alarmRang(now: bench.now))
        bench.grant(exchange, of: "bob")
        #expect(bench.heldWrites.count == 1)
        bench.pass(.seconds(2))
        #expect(bench.renewals.count == 1)
        bench.endWrites()
        #expect(bench.facts.userId == "bob")
    }

    @Test func `a record that cannot be read owes the disk nothing`() {
        var machine = SessionMachine(
            provider: "junction",
            schemes: FakeProvider.allSchemes,
            sealedWith: "file",
            seed: 1
        )
        let now = Moment(wall: WallTime(milliseconds: 1_795_219_200_000), uptime: Uptime(milliseconds: 3_600_000))
        let un = Restoration.Unreadable(status: .locked, remedy: "x", header: nil, canSignIn: true)
        _ = machine.restored(.unreadable(un), secrets: SecretRef(number: 1), durable: false, now: now)
        let later = Moment(wall: now.wall + .seconds(5), uptime: now.uptime + .seconds(5))
        _ = machine.alarmRang(now: later)
        let alarm = machine.nextAlarm(now: later)
        #expect(alarm.map { $0 > later.wall } ?? true)
    }

    @Test func `a grant for another user than the credential named is none`() {
        var bench = Bench.pendingReauthentication()
        let q = bench.signIn(.signInToken("alice"))
        bench.grantExchange(of: "bob")
        #expect(bench.facts.userId == "alice", "\(String(describing: bench.reply(to: q)))")
    }

    // MARK: owner

}
