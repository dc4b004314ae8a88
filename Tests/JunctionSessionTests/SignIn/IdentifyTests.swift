import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// `identify` is declarative: the app names the user to sign in, and the daemon asks for a credential only if it needs
/// one.
struct IdentifyTests {
    private func identified(_ externalUserId: ExternalUserId = "ext-alice", as user: String = "alice") -> Bench {
        var bench = Bench()
        bench.identify(externalUserId, answering: .signInToken(user))
        bench.grantExchange(of: user)
        return bench
    }

    @Test func `identify without a session signs the user in`() {
        var bench = Bench()
        let request = bench.identify("ext-alice")
        #expect(bench.asked == [request])

        bench.answer(request, .success(.signInToken("alice")))
        bench.grantExchange()

        #expect(bench.reply(to: request) == .identified(.signedIn))
        #expect(bench.facts.externalUserId == "ext-alice")
    }

    @Test func `the same external id asks for nothing`() {
        var bench = identified()
        let request = bench.identify("ext-alice")
        #expect(bench.reply(to: request) == .identified(.unchanged))
        #expect(bench.asked.count == 1)
    }

    @Test func `the same external id ends a pending reauthentication`() {
        var bench = identified()
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)

        let request = bench.identify("ext-alice", answering: .signInToken("alice"))
        bench.grantExchange()

        #expect(bench.reply(to: request) == .identified(.unchanged))
        #expect(!bench.facts.flags.contains(.pendingReauthentication))
    }

    @Test func `a session without an external id is bound to it, without a call`() throws {
        var bench = Bench.signedIn()
        let request = bench.identify("ext-alice")

        bench.answer(request, .success(.signInToken("alice")))

        #expect(bench.reply(to: request) == .identified(.unchanged))
        #expect(bench.exchanges.isEmpty)
        #expect(bench.facts.externalUserId == "ext-alice")
        let stored = try #require(bench.storedSession)
        #expect(stored.externalUserId == "ext-alice")
    }

    @Test func `a binding that is not written when the provider ends the session is refused`() {
        var bench = identified()
        let request = bench.identify("ext-anna")
        // Another write is at the store.
        bench.holdsWrites = true
        bench.renew()
        bench.answer(request, .success(.signInToken("alice")))
        bench.judge(Verdict(code: "400312", message: "The user is banned"))
        #expect(bench.reply(to: request) == nil)

        bench.endWrites()

        #expect(bench.refusal(of: request) == .sessionTerminated)
    }

    @Test func `a caller that asks for a binding that another call is writing is answered after the write`() {
        var bench = identified()
        let first = bench.identify("ext-anna")
        bench.holdsWrites = true
        bench.answer(first, .success(.signInToken("alice")))
        let second = bench.identify("ext-anna")
        #expect(bench.reply(to: second) == nil)

        bench.endWrite()

        #expect(bench.reply(to: first) == .identified(.unchanged))
        #expect(bench.reply(to: second) == .identified(.unchanged))
    }

    @Test func `another user is exchanged first and swapped in by one write`() {
        var bench = identified()
        let writesBefore = bench.written.count
        let request = bench.identify("ext-bob")

        bench.answer(request, .success(.signInToken("bob")))
        #expect(bench.facts.userId == "alice")
        bench.grantExchange(of: "bob")

        #expect(bench.reply(to: request) == .identified(.switched))
        #expect(bench.facts.userId == "bob")
        #expect(bench.facts.externalUserId == "ext-bob")
        #expect(bench.written.count == writesBefore + 1)
    }

    @Test func `a failed switch leaves the old user signed in`() {
        var bench = identified()
        let request = bench.identify("ext-bob", answering: .signInToken("bob"))

        bench.failExchange(.unavailable(Unavailability("No answer")))

        #expect(bench.refusal(of: request) == .providerUnavailable)
        #expect(bench.facts.userId == "alice")
        #expect(bench.facts.externalUserId == "ext-alice")
    }

    @Test func `an app that answers with an error changes nothing`() {
        var bench = identified()
        let request = bench.identify("ext-bob")
        bench.answer(request, .failure(SessionError(.invalidCredential, "The app has no credential")))
        #expect(bench.refusal(of: request) == .invalidCredential)
        #expect(bench.facts.userId == "alice")
    }

    @Test func `identify calls are served one at a time`() {
        var bench = Bench()
        let first = bench.identify("ext-alice")
        let second = bench.identify("ext-bob")
        #expect(bench.asked == [first])

        bench.answer(first, .success(.signInToken("alice")))
        bench.grantExchange()

        #expect(bench.asked == [first, second])
    }

    @Test func `a sign-in does not wait for an app that is being asked`() {
        var bench = Bench()
        let asked = bench.identify("ext-alice")
        let signIn = bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        #expect(bench.reply(to: signIn) == .done)

        bench.answer(asked, .success(.signInToken("alice")))
        #expect(bench.reply(to: asked) == .identified(.unchanged))
    }

    @Test func `identify of no user signs out`() {
        var bench = identified()
        let request = bench.identify(nil)
        #expect(bench.reply(to: request) == .identified(.signedOut))
        #expect(bench.state == .notLoggedIn)

        let again = bench.identify(nil)
        #expect(bench.reply(to: again) == .identified(.unchanged))
    }

    @Test func `an answer that comes after a sign-out is dropped`() {
        var bench = identified()
        let request = bench.identify("ext-bob")
        bench.signOut()
        bench.answer(request, .success(.signInToken("bob")))
        #expect(bench.refusal(of: request) == .notSignedIn)
        #expect(bench.exchanges.isEmpty)
        #expect(bench.state == .notLoggedIn)
    }

    @Test(arguments: [
        (nil as String?, nil as String?, ReconcileAction.none), (nil, "alice", .signIn), ("alice", nil, .signOut),
        ("alice", "ALICE", .none), ("alice", "bob", .switch),
    ])
    func `reconcile compares and changes nothing`(present: String?, wanted: String?, action: ReconcileAction) {
        let bench = present.map { Bench.signedIn($0) } ?? Bench()
        #expect(bench.machine.reconciliation(withUserId: wanted) == action)
    }

    @Test(arguments: [
        (
            Bench.pendingReauthentication(), ReconcileAction.reauthenticate, ReconcileAction.signOut,
            ReconcileAction.switch
        ),
        (.withApiKey(), .migrate, .signOut, .switch), (.terminated(), .signIn, .none, .signIn),
    ])
    func `reconcile returns the action that the state of the session requires`(
        bench: Bench,
        sameUser: ReconcileAction,
        nobody: ReconcileAction,
        another: ReconcileAction
    ) {
        #expect(bench.facts.userId == "alice")
        #expect(bench.machine.reconciliation(withUserId: "alice") == sameUser)
        #expect(bench.machine.reconciliation(withUserId: nil) == nobody)
        #expect(bench.machine.reconciliation(withUserId: "bob") == another)
    }

    @Test func `ids with different bytes are different even if they look alike, and each is shown unchanged`() {
        let (inOne, inTwo) = (ExternalUserId("caf\u{E9}"), ExternalUserId("cafe\u{301}"))
        #expect(inOne.text == inTwo.text)
        #expect(inOne != inTwo)
        #expect(Set([inOne, inTwo]).count == 2)

        var bench = Bench()
        let first = bench.identify(inOne, answering: .signInToken("alice"))
        bench.grantExchange()
        let before = bench.facts
        let second = bench.identify(inTwo)
        #expect(bench.asked == [first, second])
        bench.answer(second, .success(.signInToken("alice")))

        #expect(bench.reply(to: second) == .identified(.unchanged))
        #expect(bench.facts.externalUserId == inTwo)
        // The change is announced.
        #expect(bench.facts != before)
    }

    @Test func `an empty id and an id of more than 1024 bytes are rejected`() {
        #expect(ExternalUserId(String()) == nil)
        #expect(ExternalUserId(String(repeating: "e", count: 1_024)) != nil)
        #expect(ExternalUserId(String(repeating: "\u{E9}", count: 512)) != nil)
        #expect(ExternalUserId(String(repeating: "\u{E9}", count: 513)) == nil)
    }

    @Test(arguments: [true, false])
    func `identify with a credential that names no user is refused`(isSignedIn: Bool) {
        var bench = isSignedIn ? Bench.signedIn() : Bench()
        let request = bench.identify("ext-alice", answering: .apiKeyAlone)
        #expect(bench.refusal(of: request) == .invalidCredential)
        #expect(bench.message(of: request)?.contains("names no user") == true)
        #expect(bench.written.isEmpty != isSignedIn)
    }

    @Test func `identify refuses and revokes another user whom an unnamed credential brings`() {
        var bench = Bench()
        bench.identify("ext-alice", answering: .signInToken("alice"))
        bench.grantExchange()
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        let request = bench.identify("ext-alice", answering: CredentialFacts(scheme: .refreshToken, subject: .unnamed))
        bench.grantExchange(of: "bob", scheme: .refreshToken)

        #expect(bench.refusal(of: request) == .alreadySignedIn && bench.facts.userId == "alice")
        #expect(bench.revoked == [.user("bob")])
    }

    @Test func `a new credential of the same user keeps the external id`() {
        var bench = Bench()
        bench.identify("ext-alice", answering: .signInToken("alice"))
        bench.grantExchange()
        bench.renew()
        bench.failRenewal(.reauthenticationRequired)
        bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        #expect(bench.facts.externalUserId == "ext-alice")
        #expect(!bench.facts.flags.contains(.pendingReauthentication))
    }

    @Test func `identify with a link code of the signed-in user changes nothing`() {
        var bench = Bench.signedIn()
        let request = bench.identify("ext-alice", answering: .linkCode)
        bench.grantExchange()
        #expect(bench.reply(to: request) == .identified(.unchanged))
    }

    @Test func `identify of no user reports whether a user was signed in or signing in`() {
        var idle = Bench()
        #expect(idle.reply { $0.identify(nil) } == .identified(.unchanged))
        var exchanging = Bench()
        exchanging.signIn(.signInToken("alice"))
        #expect(exchanging.reply { $0.identify(nil) } == .identified(.signedOut))
        var asking = Bench()
        asking.identify("ext-alice")
        #expect(asking.reply { $0.identify(nil) } == .identified(.signedOut))
    }

    @Test func `a second answer to identify changes nothing`() {
        let bench = OwnerBench().start()
        let requests = Box<RequestID>()
        bench.provider.hold()
        bench.on {
            $0.identify(externalUserId: "ext-alice", by: 1_000, ask: { request, _ in requests.put(request) }) { _ in }
        }
        // Another sign-in takes the turn meanwhile, and will fail.
        bench.provider.failExchanges(.refused("no"))
        bench.signIn("carol")
        bench.on { $0.identifyAnswered(requests.all[0], with: .success(.signInToken(SharedSecret(text: "alice")))) }
        bench.on { $0.identifyAnswered(requests.all[0], with: .success(.signInToken(SharedSecret(text: "bob")))) }
        bench.release()
        #expect(bench.snapshot().facts.userId == "alice")
        #expect(bench.snapshot().facts.externalUserId == "ext-alice")
    }
}
