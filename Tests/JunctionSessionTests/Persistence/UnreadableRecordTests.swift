import Testing

@testable import JunctionSession

/// A record that exists and cannot be read, in contrast to no record.
struct UnreadableRecordTests {
    @Test func `a locked record shows the state of its clear header and serves nothing`() {
        var bench = Bench(.locked)
        #expect(bench.state == .established)
        #expect(bench.facts.userId == "alice")
        #expect(bench.facts.storage.status == .locked)
        #expect(!bench.facts.storage.isReadable)
        #expect(bench.facts.storage.reason?.isEmpty == false)
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
        #expect(bench.facts.storage == StorageReport(sealedWith: bench.facts.storage.sealedWith))
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

    @Test func `without a key no user can sign in, and no app is asked`() {
        var bench = Bench(.unreadable(.locked, canSignIn: false))
        #expect(bench.refusal { $0.signIn(.signInToken("alice")) } == .storageUnavailable)
        #expect(bench.refusal { $0.identify("ext-alice") } == .storageUnavailable)
        #expect(bench.asked.isEmpty)
        #expect(bench.exchanges.isEmpty)
    }

    @Test func `quarantined records stay reported until the next sign-in`() {
        let record = Bench.signedIn().written.last!
        var bench = Bench(.restored(record, SessionSecrets(), damaged: "session.sealed.tmp-1"))
        #expect(bench.facts.storage.status == .damaged)
        #expect(bench.facts.storage.isReadable)
        #expect(bench.facts.storage.reason == "session.sealed.tmp-1")
        bench.renew()
        bench.grantRenewal()
        #expect(bench.facts.storage.status == .damaged)
        bench.identify(switchingTo: "bob")
        #expect(bench.facts.storage.status == .ok)
    }

    @Test func `a sign-out that is on the disk ends the quarantine report`() {
        let record = Bench.signedIn().written.last!
        var bench = Bench(.restored(record, SessionSecrets(), damaged: "session.sealed.tmp-1"))
        bench.writeFailure = StoreFailure("No space left on device")
        bench.signOut()
        #expect(bench.facts.storage.status == .damaged)
        bench.writeFailure = nil
        bench.pass(.seconds(60))
        #expect(bench.facts.storage.status == .ok)
    }

    @Test func `an unreadable record shows the flags, the scheme and the user of its header`() {
        func facts(_ state: SessionState) -> Snapshot.Facts { Bench.locked(in: state).facts }
        #expect(facts(.established).flags == [.configured, .signedIn, .useSignInToken])
        #expect(facts(.established).scheme == .signInToken)
        #expect(facts(.established).userId == "alice")
        #expect(facts(.terminated).flags == [])
        #expect(facts(.terminated).scheme == nil)
    }

    @Test(arguments: [
        (SessionState.established, true), (.tokenExpired, true), (.terminated, false), (.notLoggedIn, false),
    ])
    func `reconcile compares with the user in the header of an unreadable record`(state: SessionState, isSignedIn: Bool)
    {
        let bench = Bench.locked(in: state, userId: "Alice")
        #expect(
            bench.machine.reconciliation(withUserId: "alice") == (isSignedIn ? ReconcileAction.none : .signIn)
        )
        #expect(bench.machine.reconciliation(withUserId: nil) == (isSignedIn ? .signOut : ReconcileAction.none))
    }

    @Test func `an unreadable record is never due to be written`() {
        var bench = Bench(isDurable: false, .unreadable(.locked, canSignIn: true))
        bench.pass(.seconds(5))
        #expect(bench.machine.nextAlarm(now: bench.now).map { $0 > bench.now.wall } ?? true)
    }

    @Test(arguments: [StorageStatus.locked, .unavailable])
    func `a store that can write nothing refuses a sign-in, also after a sign-out`(status: StorageStatus) {
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
}
