import Testing

@testable import JunctionSession

/// Partial grants. The daemon writes each one before the next request to the provider, and revokes every grant that it
/// does not keep.
struct PartialGrantTests {
    private static let trouble = ExchangeFailure.unavailable(Unavailability("userinfo answered 503"))
    private static let again = Unavailability("userinfo answered 503")

    /// A sign-in has a grant, and userinfo does not answer.
    private static func waiting() -> Bench {
        var bench = Bench()
        bench.signIn(.linkCode)
        bench.grantPartially()
        bench.failExchange(trouble)
        return bench
    }

    @Test func `the provider gets the next request after the grant is on disk`() {
        var bench = Bench()
        bench.holdsWrites = true
        let request = bench.signIn(.linkCode)
        bench.grantPartially()
        #expect(bench.resumedExchanges.isEmpty)
        #expect(bench.heldWrites.first?.record.partialGrants.count == 1)

        bench.endWrite()
        #expect(bench.resumedExchanges == [true])
        bench.grantExchange()
        #expect(bench.heldWrites.last?.record.partialGrants.isEmpty == true, "the session is in its place")
        bench.endWrites()
        #expect(bench.reply(to: request) == .done && bench.revokedPartialGrants.isEmpty)
    }

    @Test func `a disk that refuses the grant, or does not answer, does not delay the sign-in`() {
        var bench = Bench()
        bench.writeFailure = StoreFailure("No space left on device")
        bench.signIn(.linkCode)
        bench.grantPartially()
        #expect(bench.resumedExchanges == [true])

        var slow = Bench()
        slow.holdsWrites = true
        slow.signIn(.linkCode)
        slow.grantPartially()
        slow.pass(.seconds(10))
        #expect(slow.resumedExchanges == [true])
    }

    @Test func `a transient failure carries a remedy, and the grant survives a restart`() throws {
        var before = Bench()
        let request = before.signIn(.linkCode)
        before.grantPartially()
        before.failExchange(Self.trouble)
        let refusal = try #require(before.error(of: request))
        #expect(refusal.remedy?.contains("sign in with the same") == true)
        #expect(refusal.remedy?.contains("nothing was spent") == false)

        var bench = before.restarted(after: .seconds(2))
        let kept = try #require(bench.machine.grants.secrets.first)
        #expect(bench.machine.secretsInUse.contains(kept))
        bench.signIn(.linkCode)
        bench.findPartialGrant(kept)
        bench.grantExchange()
        #expect(bench.state == .established)
        #expect(bench.written.last?.partialGrants.isEmpty == true && bench.revokedPartialGrants.isEmpty)
    }

    @Test func `after a refusal, the grant leaves the disk and is revoked`() {
        var bench = Self.waiting()
        bench.signIn(.linkCode)
        let grant = bench.machine.grants.secrets[0]
        bench.findPartialGrant(grant)
        bench.failExchange(.refused("userinfo names nobody"))

        #expect(bench.written.last?.partialGrants.isEmpty == true)
        #expect(bench.revokedPartialGrants == [grant])
    }

    @Test func `a sign-out revokes the grant, and a sign-in that waits for the disk does not continue`() {
        var bench = Self.waiting()
        bench.signOut()
        #expect(bench.revokedPartialGrants.count == 1)
        #expect(bench.written.last?.partialGrants.isEmpty == true && bench.machine.grants.secrets.isEmpty)

        bench.holdsWrites = true
        bench.signIn(.linkCode)
        bench.grantPartially()
        bench.signOut()
        #expect(bench.resumedExchanges.last == false && bench.revokedPartialGrants.count == 2)
    }

    @Test func `a grant after a sign-out is revoked`() {
        var bench = Bench()
        bench.signIn(.linkCode)
        let attempt = bench.exchanges[0]
        bench.signOut()
        let grant = bench.secret()
        bench.perform(bench.machine.partiallyGranted(attempt, grant, now: bench.now))
        #expect(bench.revokedPartialGrants == [grant] && bench.resumedExchanges == [false])
    }

    @Test func `a withdrawn right revokes a grant, whether it came before or after`() {
        var bench = Bench()
        let first = bench.signIn(.linkCode)
        bench.grantPartially()
        bench.withdrawRight(from: first)
        bench.failExchange(Self.trouble)
        #expect(bench.revokedPartialGrants.count == 1)

        let second = bench.signIn(.linkCode)
        bench.withdrawRight(from: second)
        bench.grantPartially()
        #expect(bench.revokedPartialGrants.count == 2 && bench.resumedExchanges.last == false)
    }

    @Test func `no further request leaves for a caller that loses the right during the write of the grant`() {
        var bench = Bench()
        bench.holdsWrites = true
        let request = bench.signIn(.linkCode)
        bench.grantPartially()
        bench.withdrawRight(from: request)
        bench.endWrites()

        #expect(bench.resumedExchanges == [false])
        bench.failExchange(Self.trouble)
        bench.endWrites()
        #expect(bench.revokedPartialGrants.count == 1)
    }

    @Test func `a pause of an hour that the provider demands does not end a grant`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        bench.grantPartially()
        let busy = Unavailability("userinfo answered 503", retryAfter: .seconds(3_600))
        bench.failPoll(.unavailable(busy))
        bench.passToPoll()
        #expect(bench.state == .establishing && bench.revokedPartialGrants.isEmpty)
        bench.grantPoll()
        #expect(bench.state == .established)
    }

    @Test func `a start with a clock that is ahead keeps a grant`() {
        let bench = Self.waiting().restarted(after: .seconds(86_400))
        #expect(bench.revokedPartialGrants.isEmpty && bench.machine.grants.secrets.count == 1)
    }

    @Test func `a grant is revoked after two hours, also across a restart and a step of the clock`() {
        var bench = Self.waiting().restarted(after: .seconds(3_600))
        bench.stepWall(.seconds(-86_400))
        bench.pass(.seconds(3_599))
        #expect(bench.revokedPartialGrants.isEmpty)
        bench.passToAlarm()
        #expect(bench.revokedPartialGrants.count == 1)
        #expect(bench.written.last?.partialGrants.isEmpty == true)
    }

    @Test func `the oldest of too many grants is revoked, and a device sign-in's grant is not counted`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        let approved = bench.grantPartially()
        bench.failPoll(.unavailable(Self.again))
        var granted: [SecretRef] = []
        for _ in 0..<3 {
            while bench.exchanges.isEmpty {
                bench.signIn(.linkCode)
                if let _ = bench.polls.last { bench.failPoll(.unavailable(Self.again)) }
            }
            granted.append(bench.grantPartially())
            bench.failExchange(Self.trouble)
        }
        #expect(bench.revokedPartialGrants == [granted[0]])
        #expect(bench.machine.grants.secrets.contains(approved))
    }

    @Test func `a clock step changes no grant's life, also after a restart`() {
        var bench = Bench()
        bench.signIn(.linkCode)
        bench.grantPartially()
        bench.failExchange(Self.trouble)
        bench.stepWall(.seconds(-86_400))

        var after = bench.restarted(after: .seconds(3_600))
        #expect(after.machine.grants.secrets.count == 1)
        after.pass(.seconds(3_600))
        #expect(after.machine.grants.secrets.isEmpty && after.revokedPartialGrants.count == 1)
    }

    // MARK: Renewals with a handler's token

    @Test func `a renewal waits for the write of its grant, and its success replaces the grant`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.credential)
        bench.holdsWrites = true
        bench.grantPartially()
        #expect(bench.resumedExchanges.isEmpty && bench.heldWrites.last?.record.partialGrants.count == 1)

        bench.endWrite()
        #expect(bench.resumedExchanges == [true])
        bench.grantRenewal()
        #expect(bench.heldWrites.last?.record.partialGrants.isEmpty == true)
        bench.endWrites()
        #expect(bench.facts.accessToken?.generation == 2 && bench.revokedPartialGrants.isEmpty)
    }

    @Test func `the retry of a renewal continues with the grant, also after a restart`() throws {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.credential)
        let grant = bench.grantPartially()
        bench.failRenewal(.unavailable(Self.again))
        bench.passToNextAttempt()
        bench.findPartialGrant(grant)
        bench.failRenewal(.unavailable(Self.again))
        #expect(bench.machine.grants.secrets == [grant])

        var after = bench.restarted(after: .seconds(2), mode: .handler)
        let kept = try #require(after.machine.grants.secrets.first)
        after.register(1)
        after.answerQuestion(.credential)
        after.findPartialGrant(kept)
        after.grantRenewal()
        #expect(after.written.last?.partialGrants.isEmpty == true && after.revokedPartialGrants.isEmpty)
    }

    @Test func `a refused token's grant is revoked`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.credential)
        let grant = bench.grantPartially()
        bench.failRenewal(.answerRefused("userinfo names another user"))
        #expect(bench.written.last?.partialGrants.isEmpty == true && bench.revokedPartialGrants == [grant])
    }

    @Test func `a handler's token for another user is revoked, and the next handler is asked`() {
        var bench = Bench.renewalDue(handlers: 1, 2)
        bench.answerQuestion(.credential)
        bench.grantLate(bench.renewals[0], of: "bob")
        #expect(bench.revoked.map(\.userId) == ["bob"] && bench.facts.userId == "alice")
        #expect(bench.everAsked.count == 2)
    }

    @Test
    func `an overtaken grant of another user is revoked, also if the session's user has signed in`() throws {
        var bench = Bench.pendingReauthentication("alice", mode: .handler)
        bench.pass(.seconds(11))
        bench.renew()
        bench.answerQuestion(.credential)
        let overtaken = try #require(bench.renewals.last)
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        bench.grantLate(overtaken, of: "bob")
        #expect(bench.facts.userId == "alice" && bench.revoked.map(\.userId) == ["bob"])
    }

    @Test func `a failed revocation of a grant is repeated, after the pause that the provider demands`() {
        var bench = Bench()
        bench.signIn(.linkCode)
        let grant = bench.grantPartially()
        bench.partialRevocationFailure = Unavailability("busy", retryAfter: .seconds(300))
        bench.failExchange(.refused("The user is unknown"))
        #expect(bench.sentPartialRevocations == [grant])
        bench.pass(.seconds(299))
        #expect(bench.sentPartialRevocations == [grant])
        bench.partialRevocationFailure = nil
        bench.pass(.seconds(60))
        #expect(bench.sentPartialRevocations == [grant, grant] && bench.machine.revocations.list.isEmpty)
    }

    @Test func `a grant of a renewal that a sign-out or a verdict overtakes is revoked, before and after`() {
        var signedOut = Bench.renewalDue(handlers: 1)
        signedOut.answerQuestion(.credential)
        signedOut.holdsWrites = true
        let first = signedOut.grantPartially()
        signedOut.signOut()
        #expect(signedOut.revokedPartialGrants == [first] && signedOut.resumedExchanges == [false])

        var late = Bench.renewalDue(handlers: 1)
        late.answerQuestion(.credential)
        let (overtaken, second) = (late.renewals[0], late.secret())
        late.signOut()
        late.perform(late.machine.partiallyGranted(overtaken, second, now: late.now))
        #expect(late.revokedPartialGrants == [second] && late.resumedExchanges == [false])

        var ended = Bench.renewalDue(handlers: 1)
        ended.answerQuestion(.credential)
        let (attempt, third) = (ended.renewals[0], ended.grantPartially())
        ended.perform(ended.machine.apiCallJudged(Verdict(code: "400312", message: ""), generation: 1, now: ended.now))
        ended.failLate(attempt)
        #expect(ended.revokedPartialGrants == [third] && ended.written.last?.partialGrants.isEmpty == true)
    }

    @Test func `a switch revokes the grant of a renewal, also after a restart`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.credential)
        let grant = bench.grantPartially()
        bench.failRenewal(.unavailable(Self.again))
        var renewed = bench

        // The record says that the grant is of a renewal. No attempt waits that would use it.
        var after = bench.restarted(after: .seconds(2), mode: .handler)
        after.identify(switchingTo: "bob")
        #expect(after.facts.userId == "bob" && after.revokedPartialGrants.count == 1)
        #expect(after.written.last?.partialGrants.isEmpty == true)

        bench.identify(switchingTo: "bob")
        #expect(bench.facts.userId == "bob" && bench.revokedPartialGrants == [grant])
        #expect(bench.written.last?.partialGrants.isEmpty == true)

        // A new sign-in of the same user drops it. Some providers would end all logins of the user.
        let request = renewed.identify(
            "ext-alice",
            answering: CredentialFacts(scheme: .tokenExchange, subject: .unnamed)
        )
        renewed.grantExchange(scheme: .tokenExchange)
        #expect(renewed.reply(to: request) == .identified(.unchanged))
        #expect(renewed.revokedPartialGrants.isEmpty && renewed.machine.grants.secrets.isEmpty)
    }

    // MARK: Device sign-ins

    @Test func `a device grant survives its codes, and its expiry is reported as an unidentified approval`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(life: .seconds(60))
        bench.passToPoll()
        bench.grantPartially()
        bench.failPoll(.unavailable(Self.again))
        bench.pass(.seconds(120))
        #expect(bench.state == .establishing)

        var after = bench.restarted(after: .seconds(2))
        #expect(after.polls.count == 1)
        after.grantPoll()
        #expect(after.state == .established && after.written.last?.partialGrants.isEmpty == true)

        let end = bench.now.uptime + .seconds(7_300)
        while bench.now.uptime < end, bench.state == .establishing {
            if !bench.polls.isEmpty { bench.failPoll(.unavailable(Self.again)) }
            bench.passToAlarm()
        }
        #expect(bench.state == .notLoggedIn && bench.revokedPartialGrants.count == 1)
        #expect(bench.facts.renewal.lastError?.contains("does not say who") == true)
    }

    @Test func `a device sign-in that another sign-in overtakes revokes its grant`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        bench.grantPartially()
        bench.failPoll(.unavailable(Self.again))
        bench.signIn(.signInToken("bob"))
        bench.grantExchange(of: "bob")
        #expect(bench.facts.userId == "bob" && bench.revokedPartialGrants.count == 1)
    }

    @Test(arguments: [false, true])
    func `a device sign-in whose caller has lost the right signs no user in`(isPolling: Bool) {
        var bench = Bench.withCodes()
        if isPolling { bench.passToPoll() }
        bench.perform(bench.machine.deviceSignInRightWithdrawn(now: bench.now))
        if isPolling { bench.grantPoll(by: "alice") }

        #expect(bench.state == .notLoggedIn && bench.facts.authorization == nil)
        #expect(bench.revoked == (isPolling ? [.user("alice")] : []))
        #expect(bench.written.last?.deviceSignIn == nil)
    }

    @Test func `a device sign-in whose caller has lost the right ends with an undecided poll`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        bench.perform(bench.machine.deviceSignInRightWithdrawn(now: bench.now))
        bench.failPoll(.pending())
        #expect(bench.state == .notLoggedIn && bench.facts.authorization == nil)
    }

    @Test func `a device grant is stored with the end of the grant`() {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        let granted = bench.now
        bench.grantPartially()
        #expect(bench.written.last?.deviceSignIn?.expiresAt == granted.wall + .seconds(7_200))
    }

    @Test func `a transient failure keeps the partial grant of a link code`() {
        var bench = Bench()
        bench.signIn(.linkCode)
        let kept = bench.grantPartially()
        bench.failExchange(.unavailable(Unavailability("503")))
        for _ in 0..<13 {
            bench.pass(.seconds(600))
            bench.signIn(.linkCode)
            if bench.machine.grants.secrets.contains(kept) { bench.findPartialGrant(kept) }
            bench.failExchange(.unavailable(Unavailability("503")))
        }
        #expect(bench.machine.grants.secrets == [kept])
        #expect(bench.revokedPartialGrants.isEmpty, "a transient failure spends nothing")
    }

    @Test(arguments: [true, false])
    func `a refusal does not promise a restart when nothing can be written`(isLocked: Bool) throws {
        var bench = isLocked ? Bench.locked(in: .notLoggedIn) : Bench()
        if !isLocked { bench.writeFailure = StoreFailure("No space left on device") }
        let request = bench.signIn(.linkCode)
        bench.grantPartially()
        bench.failExchange(.unavailable(Unavailability("503")))
        let refusal = try #require(bench.error(of: request))
        #expect(bench.written.isEmpty)
        #expect(refusal.remedy?.contains("over a restart too") == false)
    }

    @Test func `a switch revokes the partial grant of a retry whose intent is being written`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.credential)
        let grant = bench.grantPartially()
        bench.failRenewal(.unavailable(.offline))
        let request = bench.identify("ext-bob")
        bench.answer(request, .success(.signInToken("bob")))
        bench.holdsWrites = true
        bench.passToNextAttempt()
        bench.grantExchange(of: "bob")
        bench.endWrites()
        #expect(bench.facts.userId == "bob")
        #expect(bench.revokedPartialGrants == [grant])
    }

    @Test func `a verdict revokes the partial grant for which a retry waits`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.credential)
        let grant = bench.grantPartially()
        bench.failRenewal(.unavailable(.offline))
        #expect(bench.machine.grants.secrets == [grant] && bench.renewals.isEmpty)
        bench.judge(Verdict(code: "400312", message: ""))
        #expect(bench.state == .terminated)
        #expect(bench.revokedPartialGrants == [grant])
        #expect(bench.machine.grants.secrets.isEmpty)
    }

    @Test func `a restart does not shorten the two hours of a grant that an attempt has used`() {
        var bench = Bench()
        bench.signIn(.linkCode)
        let grant = bench.grantPartially()
        bench.failExchange(.unavailable(Unavailability("503")))
        bench.pass(.seconds(6_600))
        bench.signIn(.linkCode)
        bench.findPartialGrant(grant)
        bench.failExchange(.unavailable(Unavailability("503")))

        var after = bench.restarted(after: .seconds(60))
        after.pass(.seconds(600))
        #expect(after.revokedPartialGrants.isEmpty && after.machine.grants.secrets.count == 1)
    }
}
