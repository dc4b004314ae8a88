import Testing

@testable import JunctionSession

/// A sign-in that a user approves on another device: when each caller is answered, and what ends the sign-in.
struct DeviceSignInTests {
    @Test func `the caller is answered after the codes are on disk`() {
        var bench = Bench()
        bench.holdsWrites = true
        let request = bench.signIn(.device)
        #expect(bench.authorizations.count == 1 && bench.state == .establishing)
        bench.giveCodes()
        #expect(bench.reply(to: request) == nil, "the codes are not on disk yet")
        #expect(bench.heldWrites.first?.record.deviceSignIn != nil)
        bench.endWrite()
        #expect(bench.reply(to: request) == .done)
        #expect(bench.state == .establishing && bench.facts.authorization != nil)
    }

    @Test func `a full disk does not delay the answer with the codes`() {
        var bench = Bench()
        bench.writeFailure = StoreFailure("No space left on device")
        let request = bench.signIn(.device)
        bench.giveCodes()
        #expect(bench.reply(to: request) == .done && bench.facts.storage.durable == false)
    }

    @Test
    func `an approval before the codes are on disk signs the user in, and the caller is answered after the write`() {
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

    @Test func `an approval signs the user in and erases the codes in the same write`() {
        var bench = Bench.withCodes()
        #expect(bench.written.last?.deviceSignIn != nil)
        bench.passToAlarm()
        bench.grantPoll()
        #expect(bench.state == .established && bench.facts.userId == "alice" && bench.facts.authorization == nil)
        #expect(bench.written.last?.deviceSignIn == nil && bench.machine.signIn.device?.codes == nil)
        #expect(bench.reports.contains(.exchangeEnded(.succeeded)))
    }

    @Test(arguments: [
        (PollFailure.denied, "denied"), (.expired, "expired"), (.refused("unknown code"), "unknown code"),
    ])
    func `a denial, an expiry or a refusal ends the sign-in with its reason`(verdict: PollFailure, word: String) {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        bench.failPoll(verdict)
        #expect(bench.state == .notLoggedIn && bench.facts.authorization == nil)
        #expect(bench.facts.renewal.lastError?.contains(word) == true)
        #expect(bench.written.last?.deviceSignIn == nil)
        #expect(bench.machine.nextAlarm(now: bench.now) == nil)
        bench.signIn(.device)
        bench.giveCodes()
        #expect(bench.facts.renewal.lastError == nil)
    }

    @Test func `a second device sign-in returns the codes of the first`() {
        var bench = Bench.withCodes()
        let until = bench.facts.authorization
        let second = bench.signIn(.device)
        #expect(bench.reply(to: second) == .done && bench.authorizations.isEmpty && bench.facts.authorization == until)
    }

    @Test func `a device sign-in beside a session with a valid token is refused without a call to the provider`() {
        var bench = Bench.signedIn()
        let request = bench.signIn(.device)
        #expect(bench.refusal(of: request) == .alreadySignedIn && bench.authorizations.isEmpty)
    }

    @Test func `codes beside an unreadable record are in memory only, and storage reports that it is not durable`() {
        var bench = Bench.locked(in: .notLoggedIn)
        #expect(bench.facts.storage.durable)
        bench.signIn(.device)
        bench.giveCodes()
        #expect(!bench.facts.storage.durable)
        bench.signOut()
        #expect(bench.facts.storage.durable)
    }

    @Test func `a caller whose codes expire before they are on disk gets invalidCredential`() {
        var bench = Bench()
        bench.holdsWrites = true
        let request = bench.signIn(.device)
        bench.giveCodes(life: .seconds(60))
        // The machine was suspended.
        bench.pass(.seconds(100))
        #expect(bench.refusal(of: request) == .invalidCredential)
        #expect(bench.state == .notLoggedIn)
    }

    @Test func `a device sign-in that waits while the codes expire gets new codes`() {
        var bench = Bench()
        bench.signIn(.device)
        bench.giveCodes(life: .seconds(20))
        bench.passToPoll()
        let second = bench.signIn(.device)
        bench.pass(.seconds(30))
        bench.failPoll(.pending())

        #expect(bench.reply(to: second) == nil)
        #expect(bench.authorizations.count == 1)
        bench.giveCodes()
        #expect(bench.reply(to: second) == .done)
        #expect(bench.state == .establishing)
    }

    @Test func `a caller that joins is answered after the codes are on disk`() {
        var bench = Bench()
        bench.holdsWrites = true
        let first = bench.signIn(.device)
        bench.giveCodes()
        let second = bench.signIn(.device)
        #expect(bench.reply(to: first) == nil && bench.reply(to: second) == nil)
        bench.endWrites()
        #expect(bench.reply(to: first) == .done && bench.reply(to: second) == .done)
    }

    @Test func `callers that join cause no write, and at most 256 may wait`() {
        var bench = Bench()
        bench.holdsWrites = true
        bench.signIn(.device)
        bench.giveCodes()
        for _ in 0..<10 { bench.signIn(.device) }
        bench.endWrite()
        #expect(bench.heldWrites.isEmpty)
        bench.holdsWrites = false
        bench.signOut()

        bench.identify("ext-alice", answering: .device)
        bench.giveCodes()
        for _ in 1..<256 {
            let next = bench.identify("ext-alice", answering: .device)
            #expect(bench.reply(to: next) == nil)
        }
        let last = bench.identify("ext-alice", answering: .device)
        #expect(bench.refusal(of: last) == .busy)
    }

    @Test func `a token request waits until the device sign-in is decided`() {
        var bench = Bench.withCodes()
        let token = bench.token()
        #expect(bench.reply(to: token) == nil)
        bench.passToAlarm()
        bench.failPoll(.denied)
        #expect(bench.refusal(of: token) == .notSignedIn)
    }

    @Test func `a sign-out erases the codes, on disk too`() {
        var bench = Bench.withCodes()
        let request = bench.signOut()
        #expect(bench.reply(to: request) == .done)
        #expect(bench.state == .notLoggedIn && bench.facts.authorization == nil)
        #expect(bench.written.last?.content == .signedOut && bench.written.last?.deviceSignIn == nil)
        #expect(bench.machine.secretsInUse.isEmpty)
    }

    @Test func `a session that a poll brings after a sign-out is revoked`() {
        var bench = Bench.withCodes()
        bench.passToAlarm()
        let poll = bench.polls[0]
        bench.signOut()
        #expect(bench.state == .notLoggedIn)
        bench.grant(poll, of: "alice", scheme: .device)
        #expect(bench.state == .notLoggedIn && bench.revoked == [.user("alice")])
    }

    @Test func `a sign-in with another credential ends the device sign-in`() {
        var bench = Bench.withCodes()
        bench.signIn(.signInToken("bob"))
        #expect(bench.exchanges.count == 1)
        bench.grantExchange(of: "bob")
        #expect(bench.facts.userId == "bob" && bench.facts.authorization == nil)
        #expect(bench.written.last?.deviceSignIn == nil)
        bench.pass(.seconds(60))
        #expect(bench.polls.isEmpty)
    }

    @Test func `a revocation leaves only between two polls`() {
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
        bench.failPoll(.pending())
        #expect(bench.telling != nil)
        bench.pass(.seconds(7))
        #expect(bench.polls.isEmpty)
        bench.endRevocation()
        #expect(bench.polls.count == 1)
    }

    @Test func `the process does not end before a poll that a sign-out has overtaken`() {
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

    @Test func `the last error of a session with a valid token comes from its own renewals`() {
        var bench = Bench.withCodes()
        bench.signIn(.signInToken("bob"))
        bench.grantExchange(of: "bob")
        #expect(bench.facts.renewal.lastError == nil)
        bench.renew()
        bench.failRenewal(.unavailable(Unavailability("No route to host")))
        #expect(bench.facts.renewal.lastError?.contains("No route to host") == true)
    }
}
