import Testing

@testable import JunctionSession

/// The provider hears of a sign-out behind its back: later if need be, and not for ever.
struct RevocationTests {
    // MARK: Telling

    @Test func `the provider is told once the sign-out is over here, and not before`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        let signOut = bench.signOut()
        #expect(bench.revoked.isEmpty)
        #expect(bench.waitingRevocations.count == 1)

        bench.endWrite()

        #expect(bench.reply(to: signOut) == .done)
        #expect(bench.revoked == [.user("alice")])
    }

    @Test func `a provider that was told is told no more, and nothing is kept`() {
        var bench = Bench.signedOut()
        bench.endRevocation()
        bench.pass(.seconds(86_400))
        #expect(bench.revoked.count == 1)
        #expect(bench.waitingRevocations.isEmpty)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
        #expect(bench.givenUpRevocations.isEmpty)
    }

    @Test func `a disk that refuses the tombstone does not keep the provider from hearing`() {
        var bench = Bench.signedIn()
        bench.writeFailure = StoreFailure("No space left on device")
        bench.signOut()
        #expect(bench.revoked == [.user("alice")])
    }

    @Test func `a user who is terminated, or never was, is not told of`() {
        var terminated = Bench.terminated()
        terminated.signOut()
        var nobody = Bench()
        nobody.signOut()
        #expect(terminated.revoked.isEmpty)
        #expect(nobody.revoked.isEmpty)
    }

    @Test func `a token that has ended has nothing left to revoke`() {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        bench.signOut()
        #expect(bench.revoked.isEmpty)
        #expect(bench.waitingRevocations.isEmpty)
    }

    // MARK: What a switch replaces

    @Test func `the provider is told of the session that a switch replaces, once the switch is written`() {
        var bench = Bench.signedIn("alice")
        bench.holdsWrites = true
        let request = bench.identify("ext-bob")
        bench.answer(request, .success(.signInToken("bob")))
        bench.grantExchange(of: "bob")
        #expect(bench.revoked.isEmpty)

        bench.endWrite()

        #expect(bench.facts.userId == "bob")
        #expect(bench.revoked == [.user("alice")])
    }

    @Test func `what a renewal brings after a switch is revoked, too`() {
        var bench = Bench.signedIn("alice")
        bench.renew()
        let renewal = bench.renewals[0]
        let request = bench.identify("ext-bob")
        bench.answer(request, .success(.signInToken("bob")))
        bench.grantExchange(of: "bob")
        #expect(bench.revoked == [.user("alice")])
        bench.endRevocation()

        bench.grantLate(renewal, of: "alice")

        #expect(bench.revoked == [.user("alice"), .user("alice")])
        #expect(bench.facts.userId == "bob")
        #expect(bench.machine.revocations.overtaken.isEmpty)
    }

    @Test func `a sign-in of the same user replaces nothing that the provider is told of`() {
        var bench = Bench.signedIn("alice")
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        bench.signIn(.signInToken("alice"))
        bench.grantExchange(of: "alice")

        #expect(bench.state == .established)
        #expect(bench.revoked.isEmpty)
    }

    @Test func `a sign-out while a switch is being written tells of both users`() {
        var bench = Bench.signedIn("alice")
        bench.holdsWrites = true
        let request = bench.identify("ext-bob")
        bench.answer(request, .success(.signInToken("bob")))
        bench.grantExchange(of: "bob")
        bench.signOut()
        bench.endWrites()
        bench.endRevocation()

        #expect(bench.state == .notLoggedIn)
        #expect(Set(bench.revoked) == [.user("alice"), .user("bob")])
    }

    // MARK: What a sign-out overtakes

    /// Signed out while the exchange of `user` was under way, which is granted then.
    private func granted(late user: String, meanwhile: (inout Bench) -> Void = { _ in }) -> Bench {
        var bench = Bench()
        bench.signIn(.signInToken(user))
        let attempt = bench.exchanges[0]
        bench.signOut()
        meanwhile(&bench)
        bench.grant(attempt, of: user)
        return bench
    }

    @Test func `a session that is granted after the sign-out ends at the provider, too`() {
        var bench = granted(late: "alice")
        #expect(bench.revoked == [.user("alice")])
        #expect(bench.state == .notLoggedIn)
        bench.endRevocation()
        #expect(bench.waitingRevocations.isEmpty)
        #expect(bench.machine.revocations.overtaken.isEmpty)
    }

    @Test func `but not when its user has signed in since, or is signing in`() {
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

    @Test func `a session that was granted and not yet written is told of`() {
        var bench = Bench()
        bench.holdsWrites = true
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        bench.signOut()
        bench.endWrite()
        bench.endWrite()
        #expect(bench.revoked == [.user("alice")])
    }

    @Test func `of a rotation that is being written, the old token and the new one are told of`() {
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

    @Test func `a renewal that is granted after the sign-out is told of, one that failed is not`() {
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

    // MARK: Trying again

    @Test func `a transient failure is tried again by the one alarm, with a delay that grows up to ten minutes`() {
        for seed in 0..<20 as Range<UInt64> {
            var bench = Bench.signedIn(life: .seconds(864_000), seed: seed)
            bench.signOut()
            for failures in 1...20 {
                bench.endRevocation(.offline)
                let alarm = bench.machine.nextAlarm(now: bench.now)!
                let delay = alarm - bench.now.wall
                #expect(delay >= .milliseconds(100))
                #expect(delay <= min(.seconds(600), .seconds(2) * (1 << (failures - 1))))

                bench.pass(delay - .milliseconds(1))
                #expect(bench.telling == nil)
                bench.pass(.milliseconds(1))
                #expect(bench.revoked.count == failures + 1)
            }
        }
    }

    @Test func `what the provider itself asks for is honoured`() {
        var bench = Bench.signedOut()
        bench.endRevocation(Unavailability("Busy", retryAfter: .seconds(120)))
        bench.pass(.seconds(119))
        #expect(bench.telling == nil)
        bench.pass(.seconds(14))
        #expect(bench.revoked.count == 2)
    }

    @Test func `one is told after the other, the oldest first`() {
        var bench = Bench.signedOut("alice")
        bench.signIn(.signInToken("bob"))
        bench.grantExchange(of: "bob")
        bench.signOut()
        #expect(bench.revoked == [.user("alice")])

        bench.endRevocation(.offline)
        #expect(bench.revoked == [.user("alice"), .user("bob")])
        bench.endRevocation()
        bench.pass(.seconds(2))
        #expect(bench.revoked == [.user("alice"), .user("bob"), .user("alice")])
    }

    // MARK: Giving up

    @Test func `it is given up when the token that proves it ends`() {
        var bench = Bench.signedOut(life: .seconds(60))
        var attempts = 0
        while bench.telling != nil {
            attempts += 1
            bench.endRevocation(.offline)
            guard let alarm = bench.machine.nextAlarm(now: bench.now) else { break }
            bench.pass(alarm - bench.now.wall)
        }
        #expect(attempts > 2)
        #expect(bench.waitingRevocations.isEmpty)
        #expect(
            bench.givenUpRevocations == [
                "The provider was not told that user alice signed out: its session has ended by itself; "
                    + "the last attempt: No answer"
            ]
        )
    }

    @Test func `the end of the token is not put off by a wall clock that is set back`() {
        var bench = Bench.signedOut(life: .seconds(60))
        bench.endRevocation(.offline)
        bench.stepWall(.seconds(-100_000))
        while bench.telling != nil { bench.endRevocation(.offline) }
        bench.pass(.seconds(60))
        #expect(bench.telling == nil)
        #expect(bench.waitingRevocations.isEmpty)
    }

    @Test func `a session without a token, or without an end, is told of for a day`() {
        var endless = Bench()
        endless.life = WallTime.never - endless.now.wall
        endless.signIn(.signInToken("alice"))
        endless.grantExchange()
        for var bench in [Bench.withApiKey(), endless] {
            bench.signOut()
            bench.endRevocation(Unavailability("Busy", retryAfter: .seconds(3_600)))
            bench.pass(.seconds(86_399))
            #expect(bench.revoked.count == 2)
            bench.endRevocation(.offline)
            bench.pass(.seconds(1))
            #expect(bench.telling == nil)
            #expect(bench.waitingRevocations.isEmpty)
            #expect(bench.givenUpRevocations.count == 1)
        }
    }

    @Test func `it is given up after so many attempts`() {
        var bench = Bench.signedOut(life: .seconds(30 * 86_400))
        while bench.telling != nil {
            bench.endRevocation(.offline)
            bench.pass(.seconds(600))
        }
        #expect(bench.revoked.count == RenewalPolicy.mostRevocationAttempts)
        #expect(bench.waitingRevocations.isEmpty)
        #expect(
            bench.givenUpRevocations.first?.contains("300 attempts have failed; the last attempt: No answer") == true
        )
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
    }

    @Test func `at most eight are kept: the oldest one that is not being told goes`() {
        var bench = Bench.signedOut("user-0")
        for number in 1...8 {
            bench.signIn(.signInToken("user-\(number)"))
            bench.grantExchange(of: "user-\(number)")
            bench.signOut()
        }
        #expect(bench.waitingRevocations.count == RenewalPolicy.mostRevocations)
        #expect(bench.waitingRevocations.map(\.userId).prefix(2) == ["user-0", "user-2"])
        #expect(bench.givenUpRevocations.count == 1)
    }

    // MARK: A sign-in of the same user

    @Test func `the same user's sign-in drops it: the old session's end could be the new one's`() {
        var bench = Bench.signedOut()
        bench.endRevocation(.offline)
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        #expect(bench.waitingRevocations.isEmpty)
        bench.pass(.seconds(1_000))
        #expect(bench.revoked.count == 1)
        #expect(bench.givenUpRevocations.isEmpty)
    }

    @Test func `nothing is told of a user who is signing in, and it goes on when the sign-in fails`() {
        var bench = Bench.signedOut()
        bench.endRevocation(.offline)
        bench.signIn(.signInToken("alice"))
        bench.pass(.seconds(10))
        #expect(bench.telling == nil)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)

        bench.failExchange(.refused("no"))

        #expect(bench.revoked.count == 2)
    }

    @Test func `a request under way makes room for the sign-in, which does not wait for it`() {
        var bench = Bench.signedOut()
        let told = bench.telling!
        bench.signIn(.signInToken("alice"))
        #expect(bench.interrupted == [told])
        #expect(bench.exchanges.count == 1)

        bench.grantExchange()
        #expect(bench.state == .established)
        #expect(bench.waitingRevocations.isEmpty)
        bench.endRevocation(Unavailability("The request was given up"))
        bench.pass(.seconds(600))
        #expect(bench.revoked.count == 1)
        #expect(bench.interrupted == [told])
    }

    @Test func `a sign-in that may turn out to be anybody's holds every one back`() {
        var bench = Bench.signedOut()
        bench.endRevocation(.offline)
        bench.signIn(.linkCode)
        bench.pass(.seconds(10))
        #expect(bench.telling == nil)
        bench.grantExchange(of: "bob")
        #expect(bench.revoked.count == 2)
    }

    @Test func `another user's sign-in neither drops it nor holds it back`() {
        var bench = Bench.signedOut("alice")
        bench.signIn(.signInToken("bob"))
        #expect(bench.interrupted.isEmpty)
        bench.endRevocation(.offline)
        bench.pass(.seconds(2))
        #expect(bench.revoked == [.user("alice"), .user("alice")])
        bench.grantExchange(of: "bob")
        bench.endRevocation(.offline)
        bench.pass(.seconds(4))
        #expect(bench.revoked.count == 3)
    }

    @Test func `a sign-in that waits for its turn holds it back as well`() {
        var bench = Bench.signedOut("alice")
        bench.endRevocation(.offline)
        bench.signIn(.signInToken("bob"))
        bench.signIn(.signInToken("alice"))
        bench.pass(.seconds(10))
        #expect(bench.telling == nil)
        // Bob is signed in then, and alice's turn ends with a refusal.
        bench.grantExchange(of: "bob")
        #expect(bench.revoked.count == 2)
    }

    // MARK: Who waits

    @Test func `a request under way is worth waiting for at the end, one that waits for its time is not`() {
        var bench = Bench.signedOut()
        #expect(bench.machine.isBusy)
        bench.endRevocation(.offline)
        #expect(!bench.machine.isBusy)
        #expect(bench.waitingRevocations.count == 1)
    }

    @Test func `an outcome that nobody asked for changes nothing`() {
        var bench = Bench.signedOut()
        let told = bench.telling!
        bench.endRevocation()
        let before = bench.machine
        #expect(bench.machine.revocationEnded(told, failure: .offline, now: bench.now).isEmpty)
        #expect(bench.machine.revocationEnded(RevocationID(number: 99), failure: nil, now: bench.now).isEmpty)
        #expect(bench.machine == before)
    }

    @Test func `a restart tells nobody: no secret of the signed-out user was on disk`() {
        var bench = Bench.signedOut()
        bench.endRevocation(.offline)
        #expect(bench.written.last?.content == .signedOut)

        var restarted = bench.restarted()
        restarted.pass(.seconds(600))

        #expect(restarted.revoked.isEmpty)
    }
}
