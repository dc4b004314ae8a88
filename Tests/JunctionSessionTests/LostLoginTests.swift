import Testing

@testable import JunctionSession

/// The sequences in which a login was once lost, or two users were mixed: each found by reading, none by the tests there
/// were then.
struct LostLoginTests {

    // MARK: 1. The hybrid

    /// Bob has been granted over alice's session, and is being written.
    private func switching(mode: RenewalMode = .automatic, life: Duration = .seconds(3_600)) -> Bench {
        var bench = Bench.signedIn("alice", life: life, mode: mode)
        bench.holdsWrites = true
        return bench
    }

    /// What each held write seals must be its record's user's.
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
    func `1 nothing of alice is written while bob's session is`(event: String) {
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
        guard case .session(let stored)? = bench.written.last?.content else {
            Issue.record("nobody was written")
            return
        }
        #expect(stored.identity.userId == "bob")
        #expect(bench.questions.isEmpty || bench.questions.last?.question.userId == "bob")
    }

    @Test func `1 who asks for a renewal while a switch is being written hears when that is over`() {
        var bench = switching()
        bench.identify(switchingTo: "bob")
        let renew = bench.renew()
        #expect(bench.reply(to: renew) == nil)
        bench.endWrite()
        #expect(bench.reply(to: renew) == .done)
        #expect(bench.renewals.isEmpty)
    }

    // MARK: 2. The late replay

    // MARK: 3. The replay that waits for an app

    // MARK: 4. The sign-out that opens a store which cannot store

    @Test(arguments: [StorageStatus.locked, .unavailable])
    func `4 a sign-out does not make a store that can keep nothing take a sign-in`(status: StorageStatus) {
        for refused in [true, false] {
            var bench = Bench(.unreadable(status, canSignIn: false))
            if refused { bench.writeFailure = StoreFailure("No key") }
            let signOut = bench.signOut()
            #expect(bench.reply(to: signOut) == .done)
            #expect(bench.refusal { $0.signIn(.signInToken("alice")) } == .storageUnavailable)
            #expect(bench.refusal { $0.signIn(.apiKeyAlone) } == .storageUnavailable)
            #expect(bench.refusal { $0.identify("ext-alice") } == .storageUnavailable)
            #expect(bench.exchanges.isEmpty)
            #expect(bench.facts.storage.status == status)
        }
    }

    // MARK: 5. The clock set during a request

    // MARK: 6. Postponement over and nobody there

    // MARK: 7. Two questions at once

    // MARK: 8. The ten-second rule

    // MARK: 9. Writes, quarantine, budgets, spreads

    @Test func `9 there is never more than one write at the store, and each is followed by the next`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        bench.renew()
        let bound = bench.identify("ext-alice")
        bench.answer(bound, .success(.signInToken("alice")))
        // The intent is at the store; the binding waits, and the bench has trapped on a second write.
        #expect(bench.heldWrites.count == 1)
        #expect(bench.reply(to: bound) == nil)
        bench.endWrite()
        #expect(bench.heldWrites.count == 1)
        bench.endWrite()
        #expect(bench.reply(to: bound) == .identified(.unchanged))
    }

}
