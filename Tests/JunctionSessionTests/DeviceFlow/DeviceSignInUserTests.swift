import Testing

@testable import JunctionSession

/// Which user may approve a device sign-in: beside a session that needs reauthentication, and for `identify`.
struct DeviceSignInUserTests {
    @Test func `the session stays established beside the codes, and its user's approval ends pendingReauthentication`()
    {
        var bench = Bench.withCodesBesidePendingReauthentication()
        #expect(bench.state == .established && bench.facts.flags.contains(.pendingReauthentication))
        #expect(bench.facts.authorization != nil)
        #expect(bench.written.last?.deviceSignIn != nil)
        bench.passToAlarm()
        bench.grantPoll()
        #expect(!bench.facts.flags.contains(.pendingReauthentication) && bench.facts.authorization == nil)
    }

    @Test func `an approval by another user beside a session that needs reauthentication is refused and revoked`() {
        var bench = Bench.withCodesBesidePendingReauthentication()
        bench.passToAlarm()
        bench.grantPoll(by: "bob")
        #expect(bench.facts.userId == "alice" && bench.facts.flags.contains(.pendingReauthentication))
        #expect(bench.facts.authorization == nil)
        #expect(bench.facts.renewal.lastError?.contains("alice") == true)
        #expect(bench.revoked == [.user("bob")])
    }

    @Test func `the user who may approve is fixed with the codes, also when the session ends meanwhile`() {
        var bench = Bench.pendingReauthentication()
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

    @Test func `identify with a device credential binds the external id when the user approves`() {
        var bench = Bench()
        let request = bench.identify("ext-alice", answering: .device)
        bench.giveCodes()
        #expect(bench.reply(to: request) == nil)
        let again = bench.identify("ext-alice", answering: .device)
        bench.passToAlarm()
        bench.grantPoll()
        #expect(bench.reply(to: request) == .identified(.signedIn))
        #expect(bench.reply(to: again) == .identified(.signedIn))
        #expect(bench.facts.externalUserId == "ext-alice")
    }

    @Test func `identify of a second user is busy while the first user's codes are polled`() {
        var bench = Bench()
        let first = bench.identify("ext-alice", answering: .device)
        bench.giveCodes()
        let second = bench.identify("ext-bob", answering: .device)
        #expect(bench.refusal(of: second) == .busy && bench.reply(to: first) == nil)
    }

    @Test func `a switch keeps the old user until the new user approves, and after a denial`() {
        var bench = Bench.signedIn()
        let request = bench.identify("ext-bob", answering: .device)
        bench.giveCodes()
        #expect(bench.state == .established && bench.facts.userId == "alice")
        bench.passToPoll()
        bench.failPoll(.denied)
        #expect(bench.refusal(of: request) == .invalidCredential && bench.facts.userId == "alice")
        let second = bench.identify("ext-bob", answering: .device)
        bench.giveCodes()
        bench.passToPoll()
        bench.grantPoll(by: "bob")
        #expect(bench.reply(to: second) == .identified(.switched) && bench.facts.userId == "bob")
    }

    @Test func `identify is refused if an approval that takes effect in the same step gives the user another name`() {
        var bench = Bench.signedIn()
        let first = bench.identify("ext-alice", answering: .device)
        bench.giveCodes()
        bench.passToPoll()
        bench.failPoll(.pending())
        bench.holdsWrites = true
        let second = bench.identify("ext-other", answering: .signInToken("alice"))
        bench.passToPoll()
        bench.grantPoll(by: "alice")
        #expect(bench.reply(to: second) == nil && bench.facts.externalUserId == "ext-other")
        bench.passToAlarm()

        #expect(bench.facts.externalUserId == "ext-alice")
        #expect(bench.reply(to: first) == .identified(.unchanged))
        #expect(bench.refusal(of: second) == .alreadySignedIn)
    }

    @Test func `a sign-out answers the identify call that waits for the approval`() {
        var bench = Bench()
        let request = bench.identify("ext-alice", answering: .device)
        bench.giveCodes()
        bench.passToAlarm()
        bench.signOut()
        #expect(bench.refusal(of: request) == .notSignedIn)
    }

    @Test func `identify of the signed-in user refuses and revokes another user's approval`() {
        var bench = Bench()
        bench.identify("ext-alice", answering: .signInToken("alice"))
        bench.grantExchange()
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        let request = bench.identify("ext-alice", answering: .device)
        bench.giveCodes()
        bench.passToPoll()
        bench.grantPoll(by: "bob")

        #expect(bench.refusal(of: request) == .alreadySignedIn && bench.facts.userId == "alice")
        #expect(bench.facts.externalUserId == "ext-alice" && bench.revoked == [.user("bob")])
    }

    @Test func `identify does not join the codes of a sign-in, and a sign-in does not join those of identify`() {
        var bench = Bench.withCodes()
        let identify = bench.identify("ext-bob", answering: .device)
        #expect(bench.refusal(of: identify) == .busy)
        bench.passToPoll()
        bench.grantPoll(by: "alice")
        #expect(bench.facts.userId == "alice" && bench.facts.externalUserId == nil)

        bench.signOut()
        let first = bench.identify("ext-bob", answering: .device)
        bench.giveCodes()
        let signIn = bench.signIn(.device)
        #expect(bench.refusal(of: signIn) == .busy && bench.reply(to: first) == nil)
    }

    @Test func `a restart does not fix another wanted user of a device sign-in`() {
        var bench = Bench.signedIn("alice")
        let device = bench.identify("ext-bob")
        bench.answer(device, .success(.device))
        bench.giveCodes()
        // An app's mistake: the same external id for the present user.
        let bound = bench.identify("ext-bob")
        bench.answer(bound, .success(.signInToken("alice")))
        #expect(bench.reply(to: bound) == .identified(.unchanged))

        var running = bench
        running.passToPoll()
        running.grantPoll(by: "bob")
        #expect(running.facts.userId == "bob")

        var after = bench.restarted()
        after.passToPoll()
        after.grantPoll(by: "bob")
        #expect(after.facts.userId == "bob")
    }
}
