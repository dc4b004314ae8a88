import Testing

@testable import JunctionSession

/// The daemon revokes the session of each sign-out, and each session that a sign-out or a switch has overtaken.
struct RevocationTests {
    /// A sign-out during the exchange of `user`, which is granted afterwards.
    private func granted(late user: String, meanwhile: (inout Bench) -> Void = { _ in }) -> Bench {
        var bench = Bench()
        bench.signIn(.signInToken(user))
        let attempt = bench.exchanges[0]
        bench.signOut()
        meanwhile(&bench)
        bench.grant(attempt, of: user)
        return bench
    }

    @Test func `the revocation leaves after the local sign-out is complete`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        let signOut = bench.signOut()
        #expect(bench.revoked.isEmpty)
        #expect(bench.waitingRevocations.count == 1)

        bench.endWrite()

        #expect(bench.reply(to: signOut) == .done)
        #expect(bench.revoked == [.user("alice")])
    }

    @Test func `a successful revocation is not repeated, and its secrets are erased`() {
        var bench = Bench.signedOut()
        bench.endRevocation()
        bench.pass(.seconds(86_400))
        #expect(bench.revoked.count == 1)
        #expect(bench.waitingRevocations.isEmpty)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
        #expect(bench.givenUpRevocations.isEmpty)
    }

    @Test func `a disk that refuses the tombstone does not prevent the revocation`() {
        var bench = Bench.signedIn()
        bench.writeFailure = StoreFailure("No space left on device")
        bench.signOut()
        #expect(bench.revoked == [.user("alice")])
    }

    @Test func `nothing is revoked when the session was terminated or no user was signed in`() {
        var terminated = Bench.terminated()
        terminated.signOut()
        var nobody = Bench()
        nobody.signOut()
        #expect(terminated.revoked.isEmpty)
        #expect(nobody.revoked.isEmpty)
    }

    @Test func `a session whose token has ended is neither revoked nor reported as given up`() {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(60))
        bench.signOut()
        #expect(bench.revoked.isEmpty)
        #expect(bench.waitingRevocations.isEmpty)
        #expect(!bench.reports.contains { if case .revocationGivenUp = $0 { true } else { false } })
    }

    @Test func `the session that a switch replaces is revoked after the switch is written`() {
        var bench = Bench.signedIn("alice")
        bench.holdsWrites = true
        bench.identify(switchingTo: "bob")
        #expect(bench.revoked.isEmpty)

        bench.endWrite()

        #expect(bench.facts.userId == "bob")
        #expect(bench.revoked == [.user("alice")])
    }

    @Test func `the grant of a renewal after a switch is revoked`() {
        var bench = Bench.signedIn("alice")
        bench.renew()
        let renewal = bench.renewals[0]
        bench.identify(switchingTo: "bob")
        #expect(bench.revoked == [.user("alice")])
        bench.endRevocation()

        bench.grantLate(renewal, of: "alice")

        #expect(bench.revoked == [.user("alice"), .user("alice")])
        #expect(bench.facts.userId == "bob")
        #expect(bench.machine.revocations.overtaken.isEmpty)
    }

    @Test func `a sign-in of the same user revokes no session`() {
        var bench = Bench.pendingReauthentication()
        bench.signIn(.signInToken("alice"))
        bench.grantExchange(of: "alice")

        #expect(bench.state == .established)
        #expect(bench.revoked.isEmpty)
    }

    @Test func `a sign-out while a switch is being written revokes both users' sessions`() {
        var bench = Bench.signedIn("alice")
        bench.holdsWrites = true
        bench.identify(switchingTo: "bob")
        bench.signOut()
        bench.endWrites()
        bench.endRevocation()

        #expect(bench.state == .notLoggedIn)
        #expect(Set(bench.revoked) == [.user("alice"), .user("bob")])
    }

    @Test func `a session that is granted after the sign-out is revoked`() {
        var bench = granted(late: "alice")
        #expect(bench.revoked == [.user("alice")])
        #expect(bench.state == .notLoggedIn)
        bench.endRevocation()
        #expect(bench.waitingRevocations.isEmpty)
        #expect(bench.machine.revocations.overtaken.isEmpty)
    }

    @Test func `a late grant is not revoked when its user has signed in since, or is signing in`() {
        let since = granted(late: "alice") { bench in
            bench.signIn(.signInToken("alice"))
            bench.grantExchange()
        }
        #expect(since.revoked.isEmpty)
        var meanwhile = granted(late: "alice") { $0.signIn(.signInToken("alice")) }
        #expect(meanwhile.revoked.isEmpty)
        #expect(meanwhile.waitingRevocations.count == 1)
        meanwhile.grantExchange()
        #expect(meanwhile.revoked.isEmpty)
        #expect(meanwhile.waitingRevocations.isEmpty)
    }

    @Test func `another user who has signed in since stays signed in`() {
        let bench = granted(late: "alice") { bench in
            bench.signIn(.signInToken("bob"))
            bench.grantExchange(of: "bob")
        }
        #expect(bench.revoked == [.user("alice")])
        #expect(bench.facts.userId == "bob")
    }

    @Test func `a session that was granted and not yet written is revoked`() {
        var bench = Bench()
        bench.holdsWrites = true
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        bench.signOut()
        bench.endWrite()
        bench.endWrite()
        #expect(bench.revoked == [.user("alice")])
    }

    @Test func `a sign-out while a rotation is being written revokes the old token and the new one`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.holdsWrites = true
        bench.grantRenewal()
        bench.signOut()
        #expect(bench.waitingRevocations.count == 2)
        bench.endWrite()
        bench.endWrite()
        bench.endRevocation()
        #expect(bench.revoked == [.user("alice"), .user("alice")])
    }

    @Test func `a renewal that is granted after the sign-out is revoked, one that failed is not`() {
        for isGranted in [true, false] {
            var bench = Bench.signedIn()
            bench.renew()
            let attempt = bench.renewals[0]
            bench.signOut()
            bench.endRevocation()
            if isGranted { bench.grantLate(attempt) } else { bench.failLate(attempt) }
            #expect(bench.revoked.count == (isGranted ? 2 : 1))
            #expect(bench.machine.revocations.overtaken.isEmpty)
        }
    }

    @Test func `an overtaken exchange that fails leaves nothing to revoke`() {
        var bench = Bench()
        bench.signIn(.signInToken("alice"))
        let attempt = bench.exchanges[0]
        bench.signOut()
        #expect(bench.machine.isBusy)

        bench.perform(bench.machine.exchangeFailed(attempt, .refused("It is used up"), now: bench.now))

        #expect(!bench.machine.isBusy)
        #expect(bench.waitingRevocations.isEmpty)
    }

    @Test func `an exchange that never left leaves nothing to revoke`() {
        var bench = Bench(mode: .handler)
        bench.register(1)
        bench.signIn(.registration(of: "alice"))

        bench.signOut()

        #expect(!bench.machine.isBusy)
        #expect(bench.waitingRevocations.isEmpty)
    }

    @Test func `the grant of an overtaken renewal is revoked in the name of the session's user`() {
        var bench = Bench.signedIn()
        bench.renew()
        let attempt = bench.renewals[0]
        bench.signOut()
        bench.grantLate(attempt, of: "somebody")
        #expect(bench.waitingRevocations.map(\.userId) == ["alice", "alice"])
    }

    @Test func `an overtaken exchange does not revoke the same user's session that is being written`() {
        var bench = Bench()
        bench.signIn(.signInToken("alice"))
        let overtaken = bench.exchanges[0]
        bench.signOut()
        bench.signIn(.signInToken("alice"))
        bench.holdsWrites = true
        bench.grantExchange()
        bench.grant(overtaken, of: "alice")
        #expect(bench.waitingRevocations.isEmpty)
    }

    @Test func `the grant of an overtaken exchange is revoked while its user is signing out`() {
        var bench = Bench.pendingReauthentication("alice")
        bench.signIn(.signInToken("alice"))
        let overtaken = bench.exchanges[0]
        bench.holdsWrites = true
        bench.signOut()
        bench.grant(overtaken, of: "alice")
        #expect(bench.waitingRevocations.map(\.userId) == ["alice", "alice"])
    }

    @Test func `the process does not end before a revocation in flight, but not because of one that is due later`() {
        var bench = Bench.signedOut()
        #expect(bench.machine.isBusy)
        bench.endRevocation(.offline)
        #expect(!bench.machine.isBusy)
        #expect(bench.waitingRevocations.count == 1)
    }

    @Test func `a restart revokes nothing: no secret of the signed-out user was on disk`() {
        var bench = Bench.signedOut()
        bench.endRevocation(.offline)
        #expect(bench.written.last?.content == .signedOut)

        var restarted = bench.restarted()
        restarted.pass(.seconds(600))

        #expect(restarted.revoked.isEmpty)
    }
}
