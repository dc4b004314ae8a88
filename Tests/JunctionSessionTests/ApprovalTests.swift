import Testing

@testable import JunctionSession

/// A sign-in that a person approves on another screen, transition by transition.
@Suite struct ApprovalTests {
    @Test func `the caller has the codes as soon as they are noted, and may go away`() {
        var bench = Bench()
        bench.holdsWrites = true
        let request = bench.signIn(.device)
        #expect(bench.authorizations.count == 1 && bench.state == .establishing)
        bench.giveCodes()
        #expect(bench.reply(to: request) == nil, "the codes are not on disk yet")
        #expect(bench.heldWrites.first?.record.approval != nil)
        bench.endWrite()
        #expect(bench.reply(to: request) == .done)
        #expect(bench.state == .establishing && bench.facts.authorization != nil)
    }

    @Test func `a disk that refuses the codes holds nobody up`() {
        var bench = Bench()
        bench.writeFailure = StoreFailure("No space left on device")
        let request = bench.signIn(.device)
        bench.giveCodes()
        #expect(bench.reply(to: request) == .done && bench.facts.storage.durable == false)
    }

    @Test func `polls leave a little later than the interval, and slow_down makes it longer for good`() {
        var bench = Bench.withCodes()
        bench.pass(.milliseconds(5_999))
        #expect(bench.polls.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.polls.count == 1)
        bench.failPoll(.slowDown)
        bench.pass(.milliseconds(11_999))
        #expect(bench.polls.isEmpty)
        bench.pass(.milliseconds(1))
        bench.failPoll(.pending)
        bench.pass(.milliseconds(11_999))
        #expect(bench.polls.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.polls.count == 1)
    }

    @Test(arguments: [(0, 1_200), (3_600, 720_000)])
    func `an interval that cannot be meant is not believed`(seconds: Int, pause: Int) {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(interval: .seconds(seconds), life: .seconds(86_400))
        bench.pass(.milliseconds(pause - 1))
        #expect(bench.polls.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.polls.count == 1)
    }

    @Test func `a network that fails keeps it alive, backs off to a minute, and is told`() {
        var bench = Bench.withCodes()
        var pauses: [Duration] = []
        for _ in 0..<6 {
            let before = bench.now.uptime
            bench.passToAlarm()
            pauses.append(bench.now.uptime - before)
            bench.failPoll(.unavailable(Unavailability("No route to host")))
            #expect(bench.facts.renewal.lastError == "No route to host" && bench.state == .establishing)
        }
        #expect(pauses == [.seconds(6), .seconds(6), .seconds(12), .seconds(24), .seconds(48), .seconds(60)])
        bench.passToAlarm()
        bench.failPoll(.pending)
        #expect(bench.facts.renewal.lastError == nil)
        let before = bench.now.uptime
        bench.passToAlarm()
        #expect(bench.now.uptime - before == .seconds(6))
    }

    @Test func `what the provider asks for is waited for`() {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("Busy", retryAfter: .seconds(100))))
        bench.pass(.milliseconds(99_999))
        #expect(bench.polls.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.polls.count == 1)
    }

    @Test func `a provider that wants to be left alone for longer than its codes live is not asked again`() {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("Busy", retryAfter: .seconds(3_600))))
        bench.pass(.seconds(593))
        #expect(bench.polls.isEmpty && bench.state == .establishing)
        bench.pass(.seconds(1))
        #expect(bench.polls.isEmpty && bench.state == .notLoggedIn)
    }

    @Test func `it is asked once more before its codes end, however long the backoff is`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(life: .seconds(100))
        for _ in 0..<4 {
            bench.passToAlarm()
            bench.failPoll(.unavailable(Unavailability("No route to host")))
        }
        // The last poll was made after 48 seconds, and the backoff is as long again.
        bench.pass(.milliseconds(41_999))
        #expect(bench.polls.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.polls.count == 1)
    }

    @Test func `a network that returns never brings two polls closer than slow_down has said`() {
        var bench = Bench.withCodes()
        for _ in 0..<4 {
            bench.passToAlarm()
            bench.failPoll(.slowDown)
        }
        // The interval is 25 seconds by now.
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("No route")))
        bench.passToAlarm()
        let before = bench.now.uptime
        bench.failPoll(.unavailable(Unavailability("No route")))
        bench.stepWall(.seconds(1))
        bench.networkReturns()
        bench.passToAlarm()
        #expect(bench.polls.count == 1)
        #expect(bench.now.uptime - before >= .seconds(25))
    }

    @Test func `a restart keeps the interval between polls that something hurries`() throws {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(interval: .seconds(30))
        let record = try #require(bench.written.last)
        var restarted = Bench(at: bench.now, .restored(record, SessionSecrets(), damaged: nil))
        restarted.failPoll(.unavailable(Unavailability("No route")))
        let before = restarted.now.uptime
        restarted.pass(.seconds(12))
        restarted.stepWall(.seconds(1))
        #expect(restarted.polls.isEmpty)
        restarted.passToAlarm()
        #expect(restarted.polls.count == 1 && restarted.now.uptime - before >= .seconds(30))
    }

    @Test func `codes that have ended by the clock of a start are shown with the end that they are given`() throws {
        var bench = Bench.withCodes()
        let record = try #require(bench.written.last)
        bench.now.wall = bench.now.wall + .seconds(86_400)
        let restarted = Bench(at: bench.now, .restored(record, SessionSecrets(), damaged: nil))
        let end = try #require(restarted.facts.authorization?.expiresAt)
        #expect(end > bench.now.wall && end <= bench.now.wall + .seconds(600))
    }

    @Test func `a pause that was demanded before a restart is not shortened by a step of the clock`() throws {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("Busy", retryAfter: .seconds(300))))
        let record = try #require(bench.written.last)
        var restarted = Bench(at: bench.now, .restored(record, SessionSecrets(), damaged: nil))
        restarted.pass(.seconds(100))
        restarted.stepWall(.seconds(1))
        restarted.networkReturns()
        restarted.pass(.seconds(199))
        #expect(restarted.polls.isEmpty)
        restarted.pass(.seconds(1))
        #expect(restarted.polls.count == 1)
    }

    @Test func `a clock that is set moves the times of the record with it`() throws {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("Busy", retryAfter: .seconds(300))))
        let before = try #require(bench.written.last?.approval)
        bench.stepWall(.seconds(1_000))
        let after = try #require(bench.written.last?.approval)
        #expect(after.expiresAt - before.expiresAt == .seconds(1_000))
        #expect(try #require(after.notBefore) - (try #require(before.notBefore)) == .seconds(1_000))
    }

    @Test func `an answer ends the pause, and the doubt what became of an earlier poll`() {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        bench.failPoll(.unavailable(Unavailability("Lost", retryAfter: .seconds(30), ambiguous: true)))
        #expect(bench.written.last?.approval?.notBefore != nil)
        bench.passToAlarm()
        bench.failPoll(.slowDown)
        // The pause that `slow_down` demands takes its place: ten seconds, and a fifth more.
        #expect(bench.written.last?.approval?.notBefore == bench.now.wall + .seconds(12))
        bench.passToPoll()
        bench.failPoll(.pending)
        bench.pass(.seconds(600))
        #expect(bench.facts.renewal.lastError?.contains("expired before anybody") == true)
    }

    @Test func `codes that are granted are stored with the end of what was granted`() {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        let granted = bench.now
        bench.grantPartially()
        #expect(bench.written.last?.approval?.expiresAt == granted.wall + .seconds(3_600))
    }

    @Test func `who is wanted is fixed with the codes, also when the session ends meanwhile`() {
        var bench = Bench.signedIn("alice")
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        bench.signIn(.device)
        bench.giveCodes()
        let verdict = Verdict(code: "400312", message: "Banned")
        bench.judge(verdict, generation: 1_000)
        #expect(bench.state == .establishing && bench.facts.userId == "alice")

        bench.passToPoll()
        bench.grantPoll(by: "bob")

        #expect(bench.state == .terminated && bench.facts.userId == "alice")
        #expect(bench.revoked == [.user("bob")])
    }

    @Test func `a restart knows who was wanted`() throws {
        var bench = Bench.signedIn("alice")
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        bench.signIn(.device)
        bench.giveCodes()
        let record = try #require(bench.written.last)
        #expect(record.approval?.wanted == .user("alice"))

        var older = record
        older.approval?.wanted = nil
        var restarted = Bench(at: bench.now, .restored(older, SessionSecrets(), damaged: nil))
        restarted.passToPoll()
        restarted.grantPoll(by: "bob")
        #expect(restarted.facts.userId == "alice" && restarted.revoked == [.user("bob")])
    }

    @Test func `whoever is approved before the codes are on the disk is signed in, and the caller hears of that`() {
        var bench = Bench()
        bench.holdsWrites = true
        let request = bench.signIn(.device)
        bench.giveCodes(interval: .seconds(1))
        bench.passToPoll()
        bench.grantPoll()
        #expect(bench.reply(to: request) == nil)
        bench.endWrites()
        #expect(bench.reply(to: request) == .done && bench.state == .established)
    }

    @Test func `a network that is back after a suspend is asked at once`() {
        var bench = Bench.withCodes()
        for _ in 0..<5 {
            bench.passToAlarm()
            bench.failPoll(.unavailable(Unavailability("No route to host")))
        }
        bench.pass(.seconds(7))
        #expect(bench.polls.isEmpty)
        bench.stepWall(.seconds(1))
        #expect(bench.polls.count == 1)
    }

    @Test func `an approval signs in, and the codes leave the disk in the same write`() {
        var bench = Bench.withCodes()
        #expect(bench.written.last?.approval != nil)
        bench.passToAlarm()
        bench.grantPoll()
        #expect(bench.state == .established && bench.facts.userId == "alice" && bench.facts.authorization == nil)
        #expect(bench.written.last?.approval == nil && bench.machine.signIn.device?.codes == nil)
        #expect(bench.reports.contains(.exchangeEnded(.succeeded)))
    }

    @Test(arguments: [
        (PollFailure.denied, "denied"), (.expired, "expired"), (.refused("unknown code"), "unknown code"),
    ])
    func `a verdict ends it, and says so`(verdict: PollFailure, word: String) {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        bench.failPoll(verdict)
        #expect(bench.state == .notLoggedIn && bench.facts.authorization == nil)
        #expect(bench.facts.renewal.lastError?.contains(word) == true)
        #expect(bench.written.last?.approval == nil)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
        bench.signIn(.device)
        bench.giveCodes()
        #expect(bench.facts.renewal.lastError == nil)
    }

    @Test func `neither a step of the clock nor a returning network brings the first poll before its interval`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(interval: .seconds(60))
        bench.stepWall(.seconds(1))
        bench.networkReturns()
        bench.pass(.seconds(60))
        #expect(bench.polls.isEmpty)
        bench.pass(.seconds(13))
        #expect(bench.polls.count == 1)
    }

    @Test func `codes that nobody approves expire by our own clock`() {
        var bench = Bench.withCodes()
        // The last one a little sooner than the others, just before the end.
        for _ in 0..<100 {
            bench.passToAlarm()
            bench.failPoll(.pending)
        }
        bench.passToAlarm()
        #expect(bench.polls.isEmpty && bench.state == .notLoggedIn)
        #expect(bench.facts.renewal.lastError?.contains("expired") == true)
    }

    @Test func `a poll that is under way when the codes end is heard to its end`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(life: .seconds(8))
        bench.passToAlarm()
        bench.pass(.seconds(60))
        #expect(bench.state == .establishing)
        bench.grantPoll()
        #expect(bench.state == .established)
    }

    @Test func `a second device sign-in returns the running one`() {
        var bench = Bench.withCodes()
        let until = bench.facts.authorization
        let second = bench.signIn(.device)
        #expect(bench.reply(to: second) == .done && bench.authorizations.isEmpty && bench.facts.authorization == until)
    }

    @Test func `a device sign-in counts as one call, and its polls as none`() {
        var bench = Bench(callsPerMinute: 1)
        bench.signIn(.device)
        bench.giveCodes()
        bench.passToAlarm()
        bench.failPoll(.denied)
        let second = bench.signIn(.device)
        #expect(bench.refusal(of: second) == .busy)
    }

    @Test func `beside a healthy session it is refused without a call`() {
        var bench = Bench.signedIn()
        let request = bench.signIn(.device)
        #expect(bench.refusal(of: request) == .alreadySignedIn && bench.authorizations.isEmpty)
    }

    // MARK: Beside a session that needs reauthentication

    @Test func `state and flag stay, the codes appear beside them, and the same user heals it`() {
        var bench = Bench.withCodesBesidePendingReauthentication()
        #expect(bench.state == .established && bench.facts.flags.contains(.pendingReauthentication))
        #expect(bench.facts.authorization != nil)
        #expect(bench.written.last?.approval != nil)
        bench.passToAlarm()
        bench.grantPoll()
        #expect(!bench.facts.flags.contains(.pendingReauthentication) && bench.facts.authorization == nil)
    }

    @Test func `another user is refused, and what was granted is revoked`() {
        var bench = Bench.withCodesBesidePendingReauthentication()
        bench.passToAlarm()
        bench.grantPoll(by: "bob")
        #expect(bench.facts.userId == "alice" && bench.facts.flags.contains(.pendingReauthentication))
        #expect(bench.facts.authorization == nil)
        #expect(bench.facts.renewal.lastError?.contains("alice") == true)
        #expect(bench.revoked == [.user("bob")])
    }

    @Test func `a demand that may pass is tried again when somebody asks, and not by itself`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        bench.grantPoll()
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        #expect(bench.facts.flags.contains(.pendingReauthentication))
        bench.pass(.seconds(7_200))
        #expect(bench.renewals.isEmpty && bench.state == .tokenExpired)

        let vain = bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        #expect(bench.refusal(of: vain) == .reauthenticationRequired)
        let soon = bench.renew()
        #expect(bench.renewals.isEmpty && bench.refusal(of: soon) == .reauthenticationRequired)
        bench.pass(.seconds(11))
        let healed = bench.renew()
        bench.grantRenewal()
        #expect(bench.reply(to: healed) == .done && bench.state == .established)
        #expect(!bench.facts.flags.contains(.pendingReauthentication))
    }

    @Test func `trouble on the way leaves the demand as it was`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        bench.grantPoll()
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        bench.pass(.seconds(11))
        bench.renew()
        bench.failRenewal(.unavailable(Unavailability("No route to host")))
        #expect(bench.facts.flags.contains(.pendingReauthentication))
        bench.pass(.seconds(3_700))
        #expect(bench.renewals.isEmpty)
    }

    // MARK: Sign-outs, and other sign-ins

    @Test func `a sign-out drops the codes, on disk too`() {
        var bench = Bench.withCodes()
        let request = bench.signOut()
        #expect(bench.reply(to: request) == .done)
        #expect(bench.state == .notLoggedIn && bench.facts.authorization == nil)
        #expect(bench.written.last?.content == .signedOut && bench.written.last?.approval == nil)
        #expect(bench.machine.secretsInUse.isEmpty)
    }

    @Test func `a poll under way is heard to its end after a sign-out, and what it brings is revoked`() {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        let poll = bench.polls[0]
        bench.signOut()
        #expect(bench.state == .notLoggedIn)
        bench.grant(poll, of: "alice", scheme: .device)
        #expect(bench.state == .notLoggedIn && bench.revoked == [.user("alice")])
    }

    @Test func `somebody who signs in by other means ends it`() {
        var bench = Bench.withCodes()
        bench.signIn(.signInToken("bob"))
        #expect(bench.exchanges.count == 1)
        bench.grantExchange(of: "bob")
        #expect(bench.facts.userId == "bob" && bench.facts.authorization == nil)
        #expect(bench.written.last?.approval == nil)
        bench.pass(.seconds(60))
        #expect(bench.polls.isEmpty)
    }

    @Test func `a poll waits for an exchange that is under way, and the other way round`() {
        var bench = Bench.withCodes()
        bench.signIn(.signInToken("bob"))
        bench.pass(.seconds(7))
        #expect(bench.polls.isEmpty)
        bench.failExchange(.unavailable(Unavailability("No answer")))
        #expect(bench.polls.count == 1)
        bench.signIn(.signInToken("bob"))
        #expect(bench.exchanges.isEmpty)
        bench.failPoll(.pending)
        #expect(bench.exchanges.count == 1)
    }

    @Test func `the provider is not told of a sign-out while an approval is asked for, and is told between`() {
        var bench = Bench.signedIn()
        bench.signOut()
        #expect(bench.telling != nil)
        bench.endRevocation(Unavailability("Busy", retryAfter: .seconds(10)))
        bench.signIn(.device)
        bench.giveCodes()
        bench.pass(.seconds(6))
        #expect(bench.polls.count == 1)
        bench.pass(.seconds(20))
        #expect(bench.telling == nil)
        bench.failPoll(.pending)
        #expect(bench.telling != nil)
        bench.pass(.seconds(7))
        #expect(bench.polls.isEmpty)
        bench.endRevocation()
        #expect(bench.polls.count == 1)
    }

    @Test func `a token is waited for until it is decided`() {
        var bench = Bench.withCodes()
        let token = bench.token()
        #expect(bench.reply(to: token) == nil)
        bench.passToAlarm()
        bench.failPoll(.denied)
        #expect(bench.refusal(of: token) == .notSignedIn)
    }

    // MARK: identify

    @Test func `an app may answer with it: the external id is bound when it succeeds`() {
        var bench = Bench()
        let request = bench.identify("ext-alice")
        bench.answer(request, .success(.device))
        bench.giveCodes()
        #expect(bench.reply(to: request) == nil)
        let again = bench.identify("ext-alice")
        bench.answer(again, .success(.device))
        bench.passToAlarm()
        bench.grantPoll()
        #expect(bench.reply(to: request) == .identified(.signedIn))
        #expect(bench.reply(to: again) == .identified(.signedIn))
        #expect(bench.facts.externalUserId == "ext-alice")
    }

    @Test func `two users cannot be awaited at once`() {
        var bench = Bench()
        let first = bench.identify("ext-alice")
        bench.answer(first, .success(.device))
        bench.giveCodes()
        let second = bench.identify("ext-bob")
        bench.answer(second, .success(.device))
        #expect(bench.refusal(of: second) == .busy && bench.reply(to: first) == nil)
    }

    @Test func `a switch keeps the old user until it is approved, and after a denial`() {
        var bench = Bench.signedIn()
        let request = bench.identify("ext-bob")
        bench.answer(request, .success(.device))
        bench.giveCodes()
        #expect(bench.state == .established && bench.facts.userId == "alice")
        bench.passToPoll()
        bench.failPoll(.denied)
        #expect(bench.refusal(of: request) == .invalidCredential && bench.facts.userId == "alice")
        let second = bench.identify("ext-bob")
        bench.answer(second, .success(.device))
        bench.giveCodes()
        bench.passToPoll()
        bench.grantPoll(by: "bob")
        #expect(bench.reply(to: second) == .identified(.switched) && bench.facts.userId == "bob")
    }

    @Test func `a sign-out answers who waits, once`() {
        var bench = Bench()
        let request = bench.identify("ext-alice")
        bench.answer(request, .success(.device))
        bench.giveCodes()
        bench.passToAlarm()
        bench.signOut()
        #expect(bench.refusal(of: request) == .notSignedIn)
    }

    // MARK: What a reader who wanted it to fail has found

    @Test func `identify of the one who is signed in takes nobody else`() {
        var bench = Bench()
        let first = bench.identify("ext-alice")
        bench.answer(first, .success(.signInToken("alice")))
        bench.grantExchange()
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        let request = bench.identify("ext-alice")
        bench.answer(request, .success(.device))
        bench.giveCodes()
        bench.passToPoll()
        bench.grantPoll(by: "bob")

        #expect(bench.refusal(of: request) == .alreadySignedIn && bench.facts.userId == "alice")
        #expect(bench.facts.externalUserId == "ext-alice" && bench.revoked == [.user("bob")])
    }

    @Test func `identify does not join codes that a sign-in asked for, and a sign-in none that identify did`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes()
        let identify = bench.identify("ext-bob")
        bench.answer(identify, .success(.device))
        #expect(bench.refusal(of: identify) == .busy)
        bench.passToPoll()
        bench.grantPoll(by: "alice")
        #expect(bench.facts.userId == "alice" && bench.facts.externalUserId == nil)

        bench.signOut()
        let first = bench.identify("ext-bob")
        bench.answer(first, .success(.device))
        bench.giveCodes()
        let signIn = bench.signIn(.device)
        #expect(bench.refusal(of: signIn) == .busy && bench.reply(to: first) == nil)
    }

    @Test func `a sign-in that waits while the codes end does not join them, but asks for new ones`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(life: .seconds(20))
        bench.passToPoll()
        let second = bench.signIn(.device)
        bench.pass(.seconds(30))
        bench.failPoll(.pending)

        #expect(bench.reply(to: second) == nil)
        #expect(bench.authorizations.count == 1)
        bench.giveCodes()
        #expect(bench.reply(to: second) == .done)
        #expect(bench.state == .establishing)
    }

    @Test func `a sign-in that joins is answered when the codes are on the disk`() {
        var bench = Bench()
        bench.holdsWrites = true
        let first = bench.signIn(.device)
        bench.giveCodes()
        let second = bench.signIn(.device)
        #expect(bench.reply(to: first) == nil && bench.reply(to: second) == nil)
        bench.endWrites()
        #expect(bench.reply(to: first) == .done && bench.reply(to: second) == .done)
    }

    @Test func `a pause that the provider has lengthened is written, and no clock step shortens one that it demands`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(interval: .seconds(5))
        bench.passToPoll()
        bench.failPoll(.slowDown)
        #expect(bench.written.last?.approval?.interval == .seconds(10))

        bench.passToPoll()
        bench.failPoll(.unavailable(Unavailability("Too many requests", retryAfter: .seconds(120))))
        bench.pass(.seconds(60))
        bench.stepWall(.seconds(3_600))
        #expect(bench.polls.isEmpty)
        bench.pass(.seconds(61))
        #expect(bench.polls.count == 1)
    }

    @Test func `identify with a credential that names nobody takes nobody else either`() {
        var bench = Bench()
        let first = bench.identify("ext-alice")
        bench.answer(first, .success(.signInToken("alice")))
        bench.grantExchange()
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        let request = bench.identify("ext-alice")
        bench.answer(request, .success(CredentialFacts(scheme: .refreshToken, subject: .unnamed)))
        bench.grantExchange(of: "bob", scheme: .refreshToken)

        #expect(bench.refusal(of: request) == .alreadySignedIn && bench.facts.userId == "alice")
        #expect(bench.revoked == [.user("bob")])
    }

    @Test func `a sign-out is told although the access token is dead, and for longer than it would have lived`() {
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

    @Test func `codes outlive a wall clock that is set, over a restart too`() {
        var before = Bench.withCodes()
        before.stepWall(.seconds(86_400))
        var bench = before.restarted(after: .seconds(2))
        bench.failPoll(.pending)
        bench.passToAlarm()
        #expect(bench.polls.count == 1)
    }

    @Test func `the process does not end while a poll is out that a sign-out overtook`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        let poll = bench.polls[0]
        bench.signOut()
        #expect(bench.machine.isBusy)
        bench.grant(poll, of: "alice", scheme: .device)
        #expect(bench.machine.isBusy && bench.telling != nil)
        bench.endRevocation()
        #expect(!bench.machine.isBusy)
    }

    @Test func `of a session in good order its own renewals speak`() {
        var bench = Bench.withCodes()
        bench.signIn(.signInToken("bob"))
        bench.grantExchange(of: "bob")
        #expect(bench.facts.renewal.lastError == nil)
        bench.renew()
        bench.failRenewal(.unavailable(Unavailability("No route to host")))
        #expect(bench.facts.renewal.lastError?.contains("No route to host") == true)
    }

    @Test func `a session whose app has no token any more takes one that is handed in`() {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(120))
        #expect(bench.state == .tokenExpired)
        let facts = CredentialFacts(scheme: .tokenExchange, subject: .unnamed)
        let request = bench.signIn(facts)
        bench.grantExchange(scheme: .tokenExchange)
        #expect(bench.reply(to: request) == .done && bench.state == .established)
        bench.pass(.seconds(120))
        let other = bench.signIn(facts)
        bench.grantExchange(of: "bob", scheme: .tokenExchange)
        #expect(bench.refusal(of: other) == .alreadySignedIn)
    }

    @Test func `a long interval leaves room for a last poll`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(interval: .seconds(30), life: .seconds(100))
        bench.passToPoll()
        bench.failPoll(.pending)
        // At 72 s; the next would be at 108 s, after the end.
        bench.passToPoll()
        bench.failPoll(.slowDown)
        bench.passToAlarm()
        #expect(bench.state == .notLoggedIn, "no faster than the provider wants")

        bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(interval: .seconds(25), life: .seconds(100))
        for _ in 0..<3 {
            bench.passToPoll()
            bench.failPoll(.pending)
        }
        // At 30, 60, 90 s.
        #expect(bench.machine.nextAlarm(now: bench.now).map { $0 - bench.now.wall } == .seconds(10))
    }

    @Test func `what is refused after an answer was lost may have been approved`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        bench.failPoll(.unavailable(Unavailability("The connection was cut", ambiguous: true)))
        bench.passToPoll()
        bench.failPoll(.denied)
        #expect(bench.facts.renewal.lastError?.contains("has to be repeated") == true)
    }

    // MARK: Restarts

    @Test func `polling goes on after a restart, at once`() {
        var bench = Bench.withCodes().restarted(after: .seconds(2))
        #expect(bench.state == .establishing && bench.polls.count == 1)
        bench.failPoll(.pending)
        #expect(bench.state == .establishing)
        bench.passToAlarm()
        bench.grantPoll()
        #expect(bench.state == .established)
    }

    @Test func `who is to be identified is bound after a restart, too`() {
        var before = Bench()
        let request = before.identify("ext-alice")
        before.answer(request, .success(.device))
        before.giveCodes()
        var bench = before.restarted(after: .seconds(2))
        bench.grantPoll()
        #expect(bench.facts.externalUserId == "ext-alice")
    }

    @Test(arguments: [PollFailure.denied, .expired, .refused("invalid_grant")])
    func `an approval that fell into a restart has to be repeated, and that is said`(verdict: PollFailure) {
        var bench = Bench.withCodes().restarted(after: .seconds(2))
        bench.failPoll(verdict)
        #expect(bench.state == .notLoggedIn)
        #expect(bench.facts.renewal.lastError?.contains("has to be repeated") == true)
    }

    @Test func `a restart, a slow_down and the end of the codes are reported as an interrupted sign-in`() {
        var bench = Bench.withCodes().restarted(after: .seconds(2))
        bench.failPoll(.slowDown)
        bench.passToPoll()
        bench.failPoll(.expired)
        #expect(bench.facts.renewal.lastError?.contains("interrupted by a restart") == true)
    }

    @Test func `codes that have ended by the clock are polled with until the provider answers`() {
        var bench = Bench.withCodes().restarted(after: .seconds(3_600))
        bench.failPoll(.unavailable(Unavailability("No route to host")))
        bench.passToPoll()
        bench.failPoll(.unavailable(Unavailability("No route to host")))
        bench.passToPoll()
        bench.grantPoll()
        #expect(bench.state == .established)
    }

    @Test
    func `but no longer than they had to live when they were written, and the words leave open what became of them`() {
        var bench = Bench.withCodes().restarted(after: .seconds(3_600))
        let start = bench.now.uptime
        while bench.state == .establishing {
            bench.failPoll(.unavailable(Unavailability("No route to host")))
            bench.passToAlarm()
        }
        #expect(bench.now.uptime - start <= .seconds(600))
        #expect(bench.facts.renewal.lastError?.contains("interrupted by a restart") == true)
    }

    @Test func `what the provider asked for is waited for after a restart, too`() {
        var before = Bench.withCodes()
        before.passToAlarm()
        before.failPoll(.unavailable(Unavailability("Busy", retryAfter: .seconds(100))))
        var bench = before.restarted(after: .seconds(2))
        #expect(bench.polls.isEmpty && bench.state == .establishing)
        bench.pass(.milliseconds(97_999))
        #expect(bench.polls.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.polls.count == 1)
    }

    @Test func `a poll has its turn between sign-ins that follow one another`() {
        var bench = Bench.withCodes()
        bench.signIn(.signInToken("bob"))
        bench.signIn(.signInToken("carol"))
        bench.pass(.seconds(30))
        #expect(bench.polls.isEmpty)
        bench.failExchange(.refused("The provider does not take it"))
        #expect(bench.polls.count == 1 && bench.exchanges.isEmpty)
        bench.failPoll(.pending)
        #expect(bench.polls.isEmpty && bench.exchanges.count == 1)
    }

    @Test func `whoever joins causes no write, and more than a bound may not wait`() {
        var bench = Bench()
        bench.holdsWrites = true
        bench.signIn(.device)
        bench.giveCodes()
        for _ in 0..<10 { bench.signIn(.device) }
        bench.endWrite()
        #expect(bench.heldWrites.isEmpty)
        bench.holdsWrites = false
        bench.signOut()

        let first = bench.identify("ext-alice")
        bench.answer(first, .success(.device))
        bench.giveCodes()
        for _ in 1..<256 {
            let next = bench.identify("ext-alice")
            bench.answer(next, .success(.device))
            #expect(bench.reply(to: next) == nil)
        }
        let last = bench.identify("ext-alice")
        bench.answer(last, .success(.device))
        #expect(bench.refusal(of: last) == .busy)
    }

    @Test func `codes that end while their write does not are told as what they are`() {
        var bench = Bench()
        bench.holdsWrites = true
        let request = bench.signIn(.device)
        bench.giveCodes(life: .seconds(60))
        // The machine was suspended.
        bench.pass(.seconds(100))
        #expect(bench.refusal(of: request) == .invalidCredential)
        #expect(bench.state == .notLoggedIn)
    }

    @Test func `a lost answer, a slow_down and the end of the codes are reported as an interrupted sign-in`() {
        var bench = Bench.withCodes()
        bench.passToPoll()
        bench.failPoll(.unavailable(Unavailability("The answer did not come", ambiguous: true)))
        bench.passToPoll()
        bench.failPoll(.slowDown)
        bench.passToPoll()
        bench.failPoll(.expired)
        #expect(bench.facts.renewal.lastError?.contains("an answer that was lost") == true)
    }

    @Test func `an answer that was lost before the codes end is not told as if nobody had approved`() {
        var bench = Bench.withCodes()
        while bench.state == .establishing {
            bench.passToAlarm()
            if !bench.polls.isEmpty {
                bench.failPoll(.unavailable(Unavailability("The answer did not come", ambiguous: true)))
            }
        }
        #expect(bench.facts.renewal.lastError?.contains("an answer that was lost") == true)
    }

    @Test func `beside a record that cannot be read the codes are in memory only, and that is said`() {
        var bench = Bench.locked(in: .notLoggedIn)
        #expect(bench.facts.storage.durable)
        bench.signIn(.device)
        bench.giveCodes()
        #expect(!bench.facts.storage.durable)
        bench.signOut()
        #expect(bench.facts.storage.durable)
    }

    @Test func `a clock that was set back lets codes live no longer than they were given`() {
        var bench = Bench.withCodes().restarted(after: .seconds(2), clockSetBy: .seconds(-86_402))
        bench.failPoll(.pending)
        let start = bench.now.uptime
        while bench.state == .establishing {
            bench.passToAlarm()
            if !bench.polls.isEmpty { bench.failPoll(.pending) }
        }
        #expect(bench.now.uptime - start <= .seconds(600))
    }

    @Test func `codes whose secrets are gone are forgotten`() throws {
        let record = try #require(Bench.withCodes().written.last)
        var machine = Bench().machine
        let now = Bench().now
        _ = machine.restored(
            .restored(record, SessionSecrets(), damaged: nil),
            secrets: SecretRef(number: 900),
            codes: nil,
            now: now
        )
        #expect(machine.signIn.device == nil)
    }
}
