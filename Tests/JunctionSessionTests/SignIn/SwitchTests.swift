import Testing

@testable import JunctionSession

/// Another user's session replaces the present one.
struct SwitchTests {
    /// Alice is signed in, and writes are held.
    private func switching(mode: RenewalMode = .automatic, life: Duration = .seconds(3_600)) -> Bench {
        var bench = Bench.signedIn("alice", life: life, mode: mode)
        bench.holdsWrites = true
        return bench
    }

    /// Ends the held writes. Returns whether each of them sealed the secrets of its record's user.
    private func ownersAgree(_ bench: inout Bench, _ aliceAtFirst: SecretRef?) -> Bool {
        var agree = true
        while let held = bench.heldWrites.first {
            if case .session(let stored) = held.record.content {
                let isAlices = stored.identity.userId == "alice"
                agree = agree && isAlices == (held.secrets == aliceAtFirst)
            }
            bench.endWrite()
        }
        return agree
    }

    @Test(arguments: ["renew", "token", "alarm", "handler", "rejected"])
    func `nothing of the old session is written while the new user's session is being written`(event: String) throws {
        var bench = switching(mode: event == "handler" ? .handler : .automatic, life: .seconds(60))
        let alices = bench.machine.servedSecrets
        bench.identify(switchingTo: "bob")

        bench.advance(by: .seconds(61))
        switch event {
        case "renew": bench.renew()
        case "token": bench.token()
        case "alarm": bench.pass(.seconds(1))
        case "handler": bench.register(1)
        default: bench.rejected(1)
        }

        #expect(ownersAgree(&bench, alices))
        #expect(bench.facts.userId == "bob")
        let stored = try #require(bench.storedSession)
        #expect(stored.identity.userId == "bob")
        #expect(bench.questions.isEmpty || bench.questions.last?.question.userId == "bob")
    }

    @Test func `a caller that asks for a renewal while a switch is being written waits for it, without budget too`() {
        var bench = switching()
        bench.identify(switchingTo: "bob")
        bench.machine.budget = CallBudget(callsPerMinute: 0)
        let renew = bench.renew()
        #expect(bench.reply(to: renew) == nil)
        bench.endWrite()
        #expect(bench.reply(to: renew) == .done)
        #expect(bench.renewals.isEmpty)
    }

    @Test func `a switch that waits for the write of a rotation takes effect after it`() {
        var bench = Bench.signedIn()
        let switching = bench.identify("ext-bob", answering: .signInToken("bob"))
        let renew = bench.renew()
        bench.holdsWrites = true
        bench.grantRenewal()
        bench.grantExchange(of: "bob")
        bench.endWrites()
        #expect(bench.reply(to: renew) == .done)
        #expect(bench.reply(to: switching) == .identified(.switched))
        #expect(bench.facts.userId == "bob")
        #expect(bench.written.map(\.generation).suffix(2) == [2, 3])
    }

    @Test func `a sign-out refuses a switch that waits for a write, and revokes every session`() {
        var bench = Bench.signedIn()
        let switching = bench.identify("ext-bob", answering: .signInToken("bob"))
        bench.renew()
        bench.holdsWrites = true
        bench.grantRenewal()
        bench.grantExchange(of: "bob")
        #expect(bench.heldWrites.count == 1)

        let signOut = bench.signOut()

        #expect(bench.refusal(of: switching) == .notSignedIn)
        bench.endWrites()
        #expect(bench.reply(to: signOut) == .done)
        #expect(bench.waitingRevocations.map(\.userId).sorted() == ["alice", "alice", "bob"])
        #expect(bench.state == .notLoggedIn)
    }

    @Test func `no refresh token is sent for a user whom a switch has replaced`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        bench.identify("ext-bob", answering: .signInToken("bob"))
        bench.renew()
        #expect(bench.heldWrites.count == 1)
        bench.grantExchange(of: "bob")
        let effects = bench.machine.writeEnded(failure: nil, now: bench.now)
        let sent = effects.contains { if case .renew = $0 { true } else { false } }
        let change = effects.contains {
            if case .write(let r, _, _, _, _) = $0, case .session(let s) = r.content {
                s.identity.userId == "bob"
            } else {
                false
            }
        }
        #expect(!(sent && change), "alice's refresh token leaves in the event that begins the switch to bob")
    }

    @Test func `a refresh retry is made until the switch is being written`() {
        var bench = Bench.signedIn()
        bench.identify("ext-bob", answering: .signInToken("bob"))
        bench.renew()
        bench.failRenewal(.lost)
        // A write of alice's session is at a slow disk, and bob's grant waits for its end.
        bench.holdsWrites = true
        let exchange = bench.exchanges[0]
        bench.machine.updateRecord()
        bench.perform(bench.machine.alarmRang(now: bench.now))
        bench.grant(exchange, of: "bob")
        #expect(bench.heldWrites.count == 1)
        bench.pass(.seconds(2))
        #expect(bench.renewals.count == 1)
        bench.endWrites()
        #expect(bench.facts.userId == "bob")
    }

    @Test func `a binding that was reported is on disk, also when a switch follows at once`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        bench.renew()
        let bound = bench.identify("ext-alice", answering: .signInToken("alice"))
        let switching = bench.identify("ext-bob")
        bench.endWrites()
        #expect(bench.reply(to: bound) == .identified(.unchanged))
        bench.answer(switching, .success(.signInToken("bob")))
        bench.grantExchange(of: "bob")
        bench.endWrites()
        #expect(bench.reply(to: switching) == .identified(.switched))
        #expect(bench.written.contains { $0.session?.externalUserId == "ext-alice" })
    }

    @Test func `a grant for the signed-in user in answer to a switch is not revoked`() {
        var bench = Bench.signedIn("alice")
        let request = bench.identify("ext-bob")
        bench.answer(request, .success(.signInToken("bob")))
        bench.grantExchange(of: "alice")
        #expect(bench.facts.userId == "alice")
        #expect(bench.revoked.isEmpty && bench.waitingRevocations.isEmpty)
    }
}
