import JunctionTesting
import Testing

@testable import JunctionSession

/// Rights that are withdrawn while a sign-in waits. Requests that have not left never leave.
struct WithdrawnRightTests {
    @Test func `a sign-in for which a handler is being asked is refused, and the next sign-in begins`() {
        var bench = Bench()
        bench.register(1)
        let withdrawn = bench.signIn(.registration(of: "anna"))
        let next = bench.signIn(.signInToken("alice"))
        #expect(bench.questions.count == 1)

        bench.withdrawRight(from: withdrawn)

        #expect(bench.refusal(of: withdrawn) == .permissionDenied)
        bench.answerQuestion(.credential)
        bench.grantExchange()
        #expect(bench.reply(to: next) == .done)
        #expect(bench.facts.userId == "alice")
    }

    @Test func `when the provider refuses a handler's answer, no handler is asked again`() {
        var bench = Bench()
        bench.register(1)
        bench.register(2)
        let withdrawn = bench.signIn(.registration(of: "anna"))
        bench.answerQuestion(.credential)
        let asked = bench.everAsked.count

        bench.withdrawRight(from: withdrawn)
        bench.failExchange(.refused("The provider does not take it"))

        #expect(bench.refusal(of: withdrawn) == .permissionDenied)
        #expect(bench.everAsked.count == asked)
        #expect(bench.state == .notLoggedIn)
    }

    @Test func `a waiting sign-in keeps its place, and a grant for the withdrawn one is revoked`() {
        var bench = Bench()
        let sent = bench.signIn(.signInToken("alice"))
        let withdrawn = bench.signIn(.signInToken("bob"))
        let kept = bench.signIn(.signInToken("alice"))

        bench.withdrawRight(from: sent)
        bench.withdrawRight(from: withdrawn)
        #expect(bench.refusal(of: withdrawn) == .permissionDenied)
        bench.grantExchange()

        #expect(bench.refusal(of: sent) == .permissionDenied)
        #expect(bench.facts.userId == nil)
        bench.grantExchange()
        #expect(bench.reply(to: kept) == .done)
    }

    @Test func `a grant that waits for the disk has no effect after the right is withdrawn`() {
        var bench = Bench.signedIn("alice")
        bench.holdsWrites = true
        bench.renew()
        let request = bench.identify(switchingTo: "bob")

        bench.withdrawRight(from: request)
        bench.endWrites()

        #expect(bench.refusal(of: request) == .permissionDenied)
        #expect(bench.facts.userId == "alice")
        #expect(bench.revoked == [.user("bob")])
    }

    /// Begins a switch from alice to bob whose write is held.
    private static func switching(_ bench: inout Bench) -> RequestID {
        let request = bench.identify("ext-bob", answering: .signInToken("bob"))
        bench.holdsWrites = true
        bench.grantExchange(of: "bob")
        return request
    }

    @Test func `a right that is withdrawn during the write of a switch restores the session and revokes the grant`() {
        var bench = Bench.signedIn("alice")
        let request = Self.switching(&bench)

        bench.withdrawRight(from: request)
        #expect(bench.reply(to: request) == nil)
        bench.endWrites()

        #expect(bench.refusal(of: request) == .permissionDenied)
        #expect(bench.facts.userId == "alice" && bench.written.last?.session?.identity == .user("alice"))
        #expect(bench.revoked == [.user("bob")])
    }

    @Test func `after a sign-in that was withdrawn while it was written, no user is signed in`() {
        var bench = Bench()
        let request = bench.signIn(.signInToken("alice"))
        bench.holdsWrites = true
        bench.grantExchange()

        bench.withdrawRight(from: request)
        bench.endWrites()

        #expect(bench.refusal(of: request) == .permissionDenied)
        #expect(bench.state == .notLoggedIn && bench.written.last?.content == .signedOut)
        #expect(bench.revoked == [.user("alice")])
    }

    @Test func `a withdrawn sign-in erases no record that could not be opened`() {
        var bench = Bench.locked(in: .established)
        let request = bench.signIn(.signInToken("bob"))
        bench.holdsWrites = true
        bench.grantExchange(of: "bob")

        bench.withdrawRight(from: request)
        bench.endWrites()

        #expect(bench.refusal(of: request) == .permissionDenied)
        #expect(bench.unopened == [.acknowledged, .reportedAgain])
        #expect(bench.state == .notLoggedIn && bench.facts.storage.status == .damaged)

        // A sign-out erases it. The next sign-in acknowledges it.
        bench.holdsWrites = false
        var signedOut = bench
        signedOut.signOut()
        #expect(signedOut.unopened.last == .erased && signedOut.facts.storage.status == .ok)
        bench.signIn(.signInToken("bob"))
        bench.grantExchange(of: "bob")
        #expect(bench.unopened.last == .acknowledged && bench.facts.storage.status == .ok)
        bench.renew()
        bench.grantRenewal()
        #expect(bench.unopened.last == .unchanged)
        bench.signOut()
        #expect(bench.unopened.last == .erased)
    }

    @Test func `a withdrawn sign-in leaves to the next write what a refused write had to do`() {
        for isSignOut in [false, true] {
            var bench = Bench.locked(in: .established)
            bench.writeFailure = StoreFailure("No space left on device")
            if isSignOut {
                bench.signOut()
            } else {
                bench.signIn(.signInToken("alice"))
                bench.grantExchange()
            }
            bench.holdsWrites = true
            let request = bench.identify(switchingTo: "bob")
            bench.withdrawRight(from: request)
            bench.writeFailure = nil
            bench.endWrites()

            #expect(bench.unopened.last == (isSignOut ? .erased : .acknowledged))
            #expect(bench.facts.storage.status == .ok)
        }
    }

    @Test func `a withdrawn sign-in that fails later says that its right was withdrawn`() {
        var bench = Bench()
        let request = bench.signIn(.signInToken("alice"))
        bench.grantPartially()
        bench.withdrawRight(from: request)
        bench.failExchange(.unavailable(Unavailability("No answer")))

        #expect(bench.refusal(of: request) == .permissionDenied)
        #expect(bench.revokedPartialGrants.count == 1)
    }

    @Test func `a sign-out while a switch is being written over revokes both sessions once`() {
        var bench = Bench.signedIn("alice")
        let request = Self.switching(&bench)
        bench.withdrawRight(from: request)

        bench.signOut()
        bench.endWrites()
        while bench.telling != nil { bench.endRevocation() }

        #expect(bench.refusal(of: request) == .notSignedIn)
        #expect(bench.state == .notLoggedIn)
        #expect(bench.revoked.sorted { $0.userId < $1.userId } == [.user("alice"), .user("bob")])
    }

    @Test func `a renewal that is answered while a switch is being written takes effect when the switch is withdrawn`()
    {
        var bench = Bench.signedIn("alice")
        let renewal = bench.renew()
        let request = Self.switching(&bench)
        bench.grantRenewal()

        bench.withdrawRight(from: request)
        bench.endWrites()

        #expect(bench.reply(to: renewal) == .done)
        #expect(bench.facts.userId == "alice")
        #expect(bench.revoked == [.user("bob")])
    }

    @Test func `a renewal that is answered while a switch is being written is revoked when the switch takes effect`() {
        var bench = Bench.signedIn("alice")
        let renewal = bench.renew()
        let request = Self.switching(&bench)
        bench.grantRenewal()
        bench.endWrites()
        while bench.telling != nil { bench.endRevocation() }

        #expect(bench.reply(to: request) == .identified(.switched) && bench.reply(to: renewal) == .done)
        #expect(bench.facts.userId == "bob")
        #expect(bench.revoked == [.user("alice"), .user("alice")])
    }

    @Test func `a renewal that is requested while a switch is being written leaves when the switch is withdrawn`() {
        var bench = Bench.signedIn("alice")
        let request = Self.switching(&bench)
        let renewal = bench.renew()
        bench.withdrawRight(from: request)

        bench.holdsWrites = false
        bench.endWrites()

        bench.grantRenewal()
        #expect(bench.reply(to: renewal) == .done)
    }

    @Test(arguments: [false, true])
    func `a right that is withdrawn during the write of an approval restores the session`(isFirst: Bool) {
        let (joined, first, second) = Self.joined()
        var bench = joined
        bench.passToPoll()
        bench.holdsWrites = true
        bench.grantPoll(by: "bob")

        bench.withdrawRight(from: isFirst ? first : second)
        if isFirst { bench.perform(bench.machine.deviceSignInRightWithdrawn(now: bench.now)) }
        bench.endWrites()

        #expect(bench.refusal(of: isFirst ? first : second) == .permissionDenied)
        #expect(bench.facts.userId == (isFirst ? nil : "bob"))
        #expect(bench.refusal(of: isFirst ? second : first) == (isFirst ? .invalidCredential : nil))
    }

    @Test func `changes during the withdrawal of a switch are in the record that replaces it`() {
        var bench = Bench.signedIn("alice", mode: .handler)
        bench.register(1)
        bench.renew()
        let request = Self.switching(&bench)
        bench.withdrawRight(from: request)
        bench.answerQuestion(.renew)
        #expect(bench.renewals.isEmpty)

        bench.endWrites()

        #expect(bench.renewals.count == 1)
        #expect(bench.written.last?.session?.renewalUnderWay == true)
    }

    @Test func `a switch that takes effect answers the callers of a renewal, after any answer of the handler`() {
        var bench = Bench.signedIn("alice", mode: .handler)
        bench.register(1)
        let renewal = bench.renew()
        let request = Self.switching(&bench)
        bench.answerQuestion(.unable)
        bench.endWrites()
        #expect(bench.reply(to: request) == .identified(.switched) && bench.reply(to: renewal) == .done)
    }

    @Test(arguments: [false, true])
    func `a verdict on the session that a switch was to replace ends it if the switch is withdrawn`(isWithdrawn: Bool) {
        var bench = Bench.signedIn("alice")
        let request = Self.switching(&bench)
        bench.judge(Verdict(code: "400312", message: "banned"))
        if isWithdrawn { bench.withdrawRight(from: request) }
        bench.endWrites()
        #expect(bench.state == (isWithdrawn ? .terminated : .established))
    }

    @Test(arguments: [false, true])
    func `a sign-in ends another user's device sign-in only when it takes effect`(isWithdrawn: Bool) {
        let (joined, first, _) = Self.joined()
        var bench = joined
        let request = bench.signIn(.signInToken("alice"))
        bench.holdsWrites = true
        bench.grantExchange(of: "alice")
        #expect(bench.heldWrites.first?.record.deviceSignIn == nil)
        if isWithdrawn { bench.withdrawRight(from: request) }
        bench.endWrites()
        #expect((bench.facts.authorization != nil) == isWithdrawn)
        #expect((bench.written.last?.deviceSignIn != nil) == isWithdrawn)
        #expect(bench.refusal(of: first) == (isWithdrawn ? nil : .alreadySignedIn))
    }

    @Test func `a renewal that is answered while a name is written does not keep a name that is withdrawn`() {
        var bench = Bench.signedIn("alice")
        let renewal = bench.renew()
        bench.identify("ext-anna", answering: .signInToken("alice"))
        #expect(bench.facts.externalUserId == "ext-anna")
        let other = bench.identify("ext-alice")
        bench.holdsWrites = true
        bench.answer(other, .success(.signInToken("alice")))
        bench.grantRenewal()
        bench.withdrawRight(from: other)
        bench.endWrites()
        #expect(bench.refusal(of: other) == .permissionDenied && bench.reply(to: renewal) == .done)
        #expect(bench.facts.externalUserId == "ext-anna" && bench.written.last?.session?.externalUserId == "ext-anna")
    }

    @Test func `a right that is withdrawn during the write of an external id restores the old id`() {
        var bench = Bench.signedIn("alice")
        bench.identify("ext-alice", answering: .signInToken("alice"))
        bench.holdsWrites = true
        let request = bench.identify("ext-anna", answering: .signInToken("alice"))
        let next = bench.identify("ext-anna")

        bench.withdrawRight(from: request)
        #expect(bench.reply(to: request) == nil)
        bench.endWrites()

        #expect(bench.refusal(of: request) == .permissionDenied)
        #expect(bench.written.last?.session?.externalUserId == "ext-alice")
        bench.answer(next, .success(.signInToken("alice")))
        bench.endWrites()
        #expect(bench.reply(to: next) == .identified(.unchanged))
        #expect(bench.facts.externalUserId == "ext-anna")
    }

    @Test func `a renewal that waited for a sign-in leaves when the right to the sign-in is withdrawn`() {
        var bench = Bench.signedIn("alice")
        bench.holdsWrites = true
        let renewal = bench.renew()
        let request = bench.identify(switchingTo: "bob")
        bench.withdrawRight(from: request)

        bench.holdsWrites = false
        bench.endWrites()

        #expect(bench.refusal(of: request) == .permissionDenied)
        #expect(bench.renewals.count == 1)
        bench.grantRenewal()
        #expect(bench.reply(to: renewal) == .done)
    }

    @Test func `codes that arrive after the right is withdrawn begin no device sign-in`() {
        var bench = Bench()
        let request = bench.signIn(.device)

        bench.withdrawRight(from: request)
        bench.giveCodes()

        #expect(bench.refusal(of: request) == .permissionDenied)
        #expect(bench.facts.authorization == nil && bench.state == .notLoggedIn)
    }

    /// Two identify calls that wait for the approval of the codes which the first one requested.
    private static func joined() -> (bench: Bench, first: RequestID, second: RequestID) {
        var bench = Bench()
        let first = bench.identify("ext-bob", answering: .device)
        bench.giveCodes()
        let second = bench.identify("ext-bob", answering: .device)
        return (bench, first, second)
    }

    @Test func `a caller that waits for an approval is refused, and the codes stay`() {
        let (joined, first, second) = Self.joined()
        var bench = joined

        bench.withdrawRight(from: second)

        #expect(bench.refusal(of: second) == .permissionDenied)
        #expect(bench.facts.authorization != nil && bench.reply(to: first) == nil)
    }

    @Test func `a caller that joined gets invalidCredential when the first caller loses its right`() {
        let (joined, first, second) = Self.joined()
        var bench = joined

        bench.withdrawRight(from: first)
        bench.perform(bench.machine.deviceSignInRightWithdrawn(now: bench.now))

        #expect(bench.refusal(of: first) == .permissionDenied)
        #expect(bench.refusal(of: second) == .invalidCredential)
        #expect(bench.message(of: second)?.contains("first caller") == true)
        #expect(bench.facts.authorization == nil && bench.written.last?.deviceSignIn == nil)
    }

    @Test func `a right that is withdrawn while the daemon is stopped ends the device sign-in at its start`() {
        let first = OwnerBench().start()
        first.on { $0.signIn(.device, by: 1_000, caller: LocalCaller(user: 1_000)) { _ in } }
        let second = OwnerBench()
        second.provider.approve(by: "alice")

        second.on { $0.start(with: first.store.restore()) { _ in false } }

        #expect(second.snapshot().facts.state == .notLoggedIn && second.snapshot().facts.authorization == nil)
        #expect(second.provider.polls.isEmpty)
    }

    @Test func `a caller whose app is being asked is refused at once, and the app's answer has no effect`() {
        var bench = Bench.signedIn("alice")
        let request = bench.identify("ext-bob")

        bench.withdrawRight(from: request)
        bench.answer(request, .success(.signInToken("bob")))

        #expect(bench.refusal(of: request) == .permissionDenied)
        #expect(bench.exchanges.isEmpty)
        #expect(bench.facts.userId == "alice")
    }

    @Test func `a sign-in whose right was withdrawn ends with permissionDenied, whoever approved it`() {
        var bench = Bench.pendingReauthentication("alice")
        let request = bench.signIn(.linkCode)
        bench.withdrawRight(from: request)
        bench.grantExchange(of: "bob")
        #expect(bench.refusal(of: request) == .permissionDenied)
        #expect(bench.message(of: request)?.contains("alice") == false)
    }

    @Test(arguments: [
        ExchangeFailure.refused("no"), .terminated(code: "400312", message: "banned"), .otherUser(.user("bob")),
    ])
    func `a sign-in whose right was withdrawn ends with permissionDenied, whatever the provider says`(
        failure: ExchangeFailure
    ) {
        var bench = Bench.pendingReauthentication("alice")
        let request = bench.signIn(.linkCode)
        bench.withdrawRight(from: request)
        bench.failExchange(failure)
        #expect(bench.refusal(of: request) == .permissionDenied)
    }
}
