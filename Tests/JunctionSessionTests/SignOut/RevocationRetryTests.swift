import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// A failed revocation is tried again, and given up in the end. A sign-in of its user cancels it.
struct RevocationRetryTests {
    /// Two pending revocations, alice's and then bob's. Alice's access token had the given lifetime.
    private func twoToTell(first life: Duration) -> Bench {
        var bench = Bench.signedIn("alice", life: life)
        bench.signOut()
        bench.endRevocation(Unavailability("Busy", retryAfter: .seconds(3_600)))
        bench.life = .seconds(86_400)
        bench.signIn(.signInToken("bob"))
        bench.grantExchange(of: "bob")
        bench.signOut()
        return bench
    }

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

    @Test func `the Retry-After of the provider is respected`() {
        var bench = Bench.signedOut()
        bench.endRevocation(Unavailability("Busy", retryAfter: .seconds(120)))
        bench.pass(.seconds(119))
        #expect(bench.telling == nil)
        bench.pass(.seconds(14))
        #expect(bench.revoked.count == 2)
    }

    @Test func `revocations leave one after the other, the oldest first`() {
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

    @Test func `the alarm is set for the revocation that is due first`() {
        var bench = Bench.signedIn("alice", life: .seconds(86_400))
        bench.signOut()
        bench.endRevocation(Unavailability("Busy", retryAfter: .seconds(900)))
        bench.signIn(.signInToken("bob"))
        bench.grantExchange(of: "bob")
        bench.signOut()
        bench.endRevocation(Unavailability("Busy", retryAfter: .seconds(100)))
        let alarm = bench.machine.nextAlarm(now: bench.now)!
        #expect(alarm - bench.now.wall <= .seconds(110))
    }

    @Test func `a revocation is given up when its token ends`() {
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
                "The session of user alice may still be valid at the provider: its session has ended by itself; "
                    + "the last attempt: No answer"
            ]
        )
    }

    @Test func `a wall clock that is set back does not delay the end of the token`() {
        var bench = Bench.signedOut(life: .seconds(60))
        bench.endRevocation(.offline)
        bench.stepWall(.seconds(-100_000))
        while bench.telling != nil { bench.endRevocation(.offline) }
        bench.pass(.seconds(60))
        #expect(bench.telling == nil)
        #expect(bench.waitingRevocations.isEmpty)
    }

    @Test func `a device session is revoked after its access token has ended, and for longer than its lifetime`() {
        var bench = Bench.withCodes { $0.life = .seconds(300) }
        bench.passToPoll()
        bench.grantPoll()
        bench.pass(.seconds(400))
        #expect(bench.state == .tokenExpired)
        bench.signOut()
        #expect(bench.revoked == [.user("alice")])
        bench.endRevocation(Unavailability("Busy", retryAfter: .seconds(600)))
        bench.pass(.seconds(700))
        #expect(bench.telling != nil)
    }

    @Test func `a session without a token, or without an end, is revoked for a day`() {
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
            #expect(bench.givenUpRevocations[0].contains("may still be valid at the provider: a day has passed"))
        }
    }

    @Test func `a revocation is given up after 300 attempts`() {
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

    @Test func `at most eight revocations are kept, and the oldest one not in flight is dropped`() {
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

    @Test func `a revocation given up in the event that interrupts another is reported`() {
        var bench = twoToTell(first: .seconds(60))
        #expect(bench.telling != nil)
        bench.advance(by: .seconds(61))
        bench.signIn(.signInToken("bob"))
        #expect(bench.givenUpRevocations.count == 1)
        #expect(bench.interrupted.count == 1)
    }

    @Test func `a revocation given up in the event that sends another is reported`() {
        var bench = twoToTell(first: .seconds(60))
        bench.endRevocation(Unavailability("Busy", retryAfter: .seconds(100)))
        bench.pass(.seconds(120))
        #expect(bench.givenUpRevocations.count == 1)
        #expect(bench.revoked == [.user("alice"), .user("bob"), .user("bob")])
    }

    @Test func `the same user's sign-in drops the revocation`() {
        var bench = Bench.signedOut()
        bench.endRevocation(.offline)
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        #expect(bench.waitingRevocations.isEmpty)
        bench.pass(.seconds(1_000))
        #expect(bench.revoked.count == 1)
        #expect(bench.givenUpRevocations.isEmpty)
    }

    @Test func `no revocation leaves while its user is signing in, and it continues when the sign-in fails`() {
        var bench = Bench.signedOut()
        bench.endRevocation(.offline)
        bench.signIn(.signInToken("alice"))
        bench.pass(.seconds(10))
        #expect(bench.telling == nil)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)

        bench.failExchange(.refused("no"))

        #expect(bench.revoked.count == 2)
    }

    @Test func `the same user's sign-in interrupts the revocation in flight and does not wait for it`() {
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

    @Test func `the next revocation leaves as soon as the interrupted one has ended`() {
        var bench = Bench.signedIn("alice")
        bench.signOut()
        bench.signIn(.signInToken("bob"))
        bench.grantExchange(of: "bob")
        bench.signOut()
        #expect(bench.revoked == [.user("alice")])
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        #expect(bench.waitingRevocations == [.user("bob")])
        bench.endRevocation(Unavailability("The request was given up"))
        #expect(bench.revoked == [.user("alice"), .user("bob")])
    }

    @Test func `a sign-in that names no user delays every revocation`() {
        var bench = Bench.signedOut()
        bench.endRevocation(.offline)
        bench.signIn(.linkCode)
        bench.pass(.seconds(10))
        #expect(bench.telling == nil)
        bench.grantExchange(of: "bob")
        #expect(bench.revoked.count == 2)
    }

    @Test func `another user's sign-in neither drops nor delays a revocation`() {
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

    @Test func `a sign-in that waits for its turn delays its user's revocation`() {
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

    @Test func `an API key without a user that waits for its turn delays no revocation`() {
        var bench = Bench.signedIn("alice")
        bench.signOut()
        bench.endRevocation(Unavailability("No answer"))
        bench.signIn(.signInToken("bob"))
        bench.signIn(.apiKeyAlone)
        bench.pass(.seconds(2))
        #expect(bench.revoked == [.user("alice"), .user("alice")])
    }

    @Test func `a link code that waits for its turn delays every revocation`() {
        var bench = Bench.signedOut("alice")
        bench.endRevocation(.offline)
        bench.signIn(.signInToken("bob"))
        bench.signIn(.linkCode)

        bench.pass(.seconds(10))

        #expect(bench.telling == nil)
    }

    @Test func `a waiting identify call or API key of another user delays no revocation`() {
        var identifying = Bench.signedOut("alice")
        identifying.endRevocation(.offline)
        identifying.identify("ext-bob")
        identifying.identify("ext-carol")
        var signingIn = Bench.signedOut("alice")
        signingIn.endRevocation(.offline)
        signingIn.signIn(.signInToken("bob"))
        signingIn.signIn(.apiKey("bob", key: signingIn.secret()))

        for var bench in [identifying, signingIn] {
            bench.pass(.seconds(2))
            #expect(bench.revoked == [.user("alice"), .user("alice")])
        }
    }

    @Test func `a revocation carries the session's own secrets until the provider takes it, and then they are erased`()
    {
        let bench = OwnerBench().start().signIn()
        bench.provider.failRevocations(Unavailability("No network"), Unavailability("Busy", retryAfter: .seconds(30)))
        weak let secret = bench.owner.assumeIsolated { $0.servedSecrets?.accessToken }

        bench.signOut()
        #expect(bench.snapshot().facts.state == .notLoggedIn)
        #expect(bench.provider.revocations.count == 1)
        #expect(secret != nil)
        bench.pass(.seconds(2))
        bench.pass(.seconds(34))

        do {
            let told = bench.provider.revocations
            #expect(told.map(\.identity.userId) == ["alice", "alice", "alice"])
            #expect(told.map(\.secrets.accessToken?.text) == Array(repeating: "access-alice-1", count: 3))
        }
        #expect(bench.alarm.setTo == nil)
        #expect(bench.store.kept?.secrets.accessToken == nil)
        bench.provider.forgetCalls()
        #expect(secret == nil)
    }

    @Test func `the same user's sign-in cancels the revocation in flight and erases its secrets`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.hold()
        bench.signOut()
        #expect(bench.provider.revocations.count == 1)

        let again = bench.signIn()
        bench.release()
        again.pass(.seconds(600))

        #expect(again.snapshot().facts.state == .established)
        #expect(again.provider.revocations.count == 1)
        again.owner.assumeIsolated { #expect($0.secretStore.count == 1) }
        #expect(again.provider.revocationsGivenUp == 1)
    }

    @Test func `a network that returns shortens the backoff of a revocation after a demand of a second`() throws {
        var bench = Bench.signedIn(life: .seconds(864_000))
        bench.signOut()
        for _ in 0..<200 {
            if bench.telling != nil {
                bench.endRevocation(Unavailability("It answered 503", retryAfter: .seconds(1)))
                if try #require(bench.machine.nextAlarm(now: bench.now)) - bench.now.wall > .seconds(400) { break }
            }
            bench.passToAlarm()
        }
        let before = try #require(bench.machine.nextAlarm(now: bench.now))
        bench.pass(.seconds(15))
        for _ in 0..<10 { bench.networkReturns() }
        let due = try #require(bench.machine.nextAlarm(now: bench.now))
        #expect(due < before)
    }
}
