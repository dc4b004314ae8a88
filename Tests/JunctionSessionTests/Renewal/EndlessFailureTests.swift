import Testing

@testable import JunctionSession

/// A provider that fails without end, and callers that make every kind of request.
struct EndlessFailureTests {
    @Test(arguments: 0..<20)
    func `a provider that fails for ever is asked no more often than the backoff allows`(seed: Int) {
        var random = Randomness(seed: UInt64(seed))
        var bench = Bench.signedIn(life: .seconds(60), seed: UInt64(seed))
        bench.pass(.seconds(61))
        var requests = 0
        let start = bench.now.uptime

        // Two hours of callers that make every kind of request, several times a second.
        while bench.now.uptime - start < .seconds(7_200) {
            if !bench.renewals.isEmpty {
                requests += bench.renewals.count
                let ambiguous = random.next() % 2 == 0
                bench.failRenewal(.unavailable(Unavailability("No answer", ambiguous: ambiguous)))
            }
            switch random.next() % 6 {
            case 0: bench.renew()
            case 1: bench.token()
            case 2: bench.token(validFor: .seconds(40))
            case 3: bench.rejected(1)
            case 4: bench.stepWall(.seconds(Int64(random.next() % 3) - 1))
            default: break
            }
            bench.pass(.milliseconds(Int64(random.next() % 1_000)))
        }

        // One request in ten seconds for a caller with an expired token, one in ten seconds for `session.renew`, those
        // of the backoff, and six refresh retries in ten minutes.
        #expect(requests <= 2 * 720 + 60 + 12 * 6)
        #expect(requests > 12)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a provider that always demands a second is not asked every second`(seed: UInt64) {
        var bench = Bench.signedIn(life: .seconds(60), seed: seed)
        bench.pass(.seconds(61))
        let busy = Unavailability("It answered 503", retryAfter: .seconds(1))

        #expect(bench.failRenewals(for: .seconds(3_600), .unavailable(busy)) <= 200)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a revocation for which the provider always demands a second is not given up within an hour`(seed: UInt64) {
        var bench = Bench.signedIn(life: .seconds(864_000), seed: seed)
        bench.signOut()
        let end = bench.now.uptime + .seconds(3_600)
        while bench.now.uptime < end, bench.givenUpRevocations.isEmpty {
            if bench.telling != nil {
                bench.endRevocation(Unavailability("It answered 503", retryAfter: .seconds(1)))
            }
            bench.passToAlarm()
        }

        #expect(bench.givenUpRevocations.isEmpty)
        #expect(bench.revoked.count <= 60)
    }

    @Test(arguments: 0..<20)
    func `a revocation that never succeeds is sent no more often than the backoff allows`(seed: Int) {
        var random = Randomness(seed: UInt64(seed))
        var bench = Bench.signedIn(life: .seconds(864_000), seed: UInt64(seed))
        bench.signOut()
        let start = bench.now.uptime

        // Two hours in which the user does not sign in and the provider does not answer.
        while bench.now.uptime - start < .seconds(7_200) {
            if bench.telling != nil {
                let asks = random.next() % 4 == 0 ? Duration.seconds(Int64(random.next() % 3)) : nil
                bench.endRevocation(Unavailability("No answer", retryAfter: asks))
            }
            switch random.next() % 6 {
            case 0: bench.signOut()
            case 1: bench.token()
            case 2: bench.renew()
            case 3: bench.stepWall(.seconds(Int64(random.next() % 3) - 1))
            case 4:
                bench.signIn(.signInToken("bob"))
                bench.failExchange(.unavailable(Unavailability("No answer")))
            default: break
            }
            bench.pass(.milliseconds(Int64(random.next() % 1_000)))
        }

        // Five minutes of pause on average, the doubling before that, and one in four failures asks only for seconds.
        #expect(bench.revoked.count <= 60)
        #expect(bench.revoked.count > 12)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `no pause reaches beyond the end of a valid token by more than a minute`(seed: UInt64) throws {
        var bench = Bench.signedIn()
        bench.machine.random = Randomness(seed: seed)
        let end = try #require(bench.machine.installation.session?.endsAt)
        var tries = 0
        while bench.now.uptime < end {
            if bench.renewals.isEmpty {
                if bench.heldWrites.isEmpty { bench.passToAlarm() } else { bench.endWrite() }
                continue
            }
            tries += 1
            let left = end - bench.now.uptime
            bench.failRenewal(.unavailable(Unavailability("Away")))
            bench.endWrites()
            guard left > .zero else { break }
            let alarm = try #require(bench.machine.nextAlarm(now: bench.now))
            #expect(alarm - bench.now.wall <= max(left, .seconds(60)))
        }
        #expect(tries > 8)
    }
}
