import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// A sign-out has precedence over every earlier request.
struct SignOutTests {
    static let benches: [(name: String, bench: @Sendable () -> Bench)] = [
        ("signed out", { Bench() }), ("signed in", { .signedIn() }), ("API key", { .withApiKey() }),
        ("pending", { .pendingReauthentication() }), ("terminated", { .terminated() }),
        ("backing off", { .backingOff() }),
        ("locked", { Bench(.locked) }),
    ]

    @Test(arguments: benches.map(\.name))
    func `sign-out works from every state and survives a restart`(name: String) {
        var bench = Self.benches.first { $0.name == name }!.bench()
        let request = bench.signOut()
        #expect(bench.reply(to: request) == .done)
        #expect(bench.state == .notLoggedIn)
        #expect(bench.facts.flags.isEmpty)
        #expect(bench.facts.storage.durable)
        if let record = bench.written.last { #expect(record.content == .signedOut) }
    }

    /// Codes and grants of another provider or key are not loaded, and a record without a login may still hold them.
    @Test(arguments: [true, false])
    func `a sign-out overwrites sign-ins that were not loaded, also if nobody is signed in`(areRead: Bool) {
        var record = SessionRecord(
            generation: 7,
            edition: 0,
            writtenAt: Bench().now.wall,
            provider: areRead ? "another" : "junction",
            content: .signedOut
        )
        if areRead { record.partialGrants = [StoredPartialGrant(expiresAt: .never, purpose: .signIn)] }
        record.mayHoldUnreadSignIns = !areRead
        var bench = Bench(.restored(record, SessionSecrets(), damaged: nil))
        let first = bench.signOut()
        #expect(bench.reply(to: first) == .done)
        #expect(bench.written.last?.content == .signedOut && bench.written.last?.partialGrants.isEmpty == true)
        #expect(bench.written.last?.supersedes(record) == true)

        bench.signOut()
        #expect(bench.written.count == 1)

        (record.partialGrants, record.mayHoldUnreadSignIns) = ([], false)
        var complete = Bench(.restored(record, SessionSecrets(), damaged: nil))
        complete.signOut()
        #expect(complete.written.isEmpty)
    }

    @Test func `the grant of an overtaken exchange is dropped and revoked`() {
        var bench = Bench()
        let signIn = bench.signIn(.signInToken("alice"))
        let attempt = bench.exchanges[0]
        bench.signOut()
        #expect(bench.refusal(of: signIn) == .notSignedIn)

        let granted = bench.granted("alice")
        let late = bench.machine.exchangeSucceeded(attempt, granted, now: bench.now)

        #expect(late == [.revoke(.user("alice"), with: granted.secrets)])
        #expect(bench.machine.secretsInUse == [granted.secrets])
        #expect(bench.state == .notLoggedIn)
    }

    @Test func `a tombstone replaces the sign-in whose record was being written`() {
        var bench = Bench()
        bench.holdsWrites = true
        let signIn = bench.signIn(.signInToken("alice"))
        bench.grantExchange()
        let signOut = bench.signOut()
        #expect(bench.refusal(of: signIn) == .notSignedIn)

        bench.endWrite()
        #expect(bench.state == .notLoggedIn)
        #expect(bench.reply(to: signOut) == nil)
        bench.endWrite()

        #expect(bench.reply(to: signOut) == .done)
        #expect(bench.written.last?.content == .signedOut)
        #expect(bench.written.last!.supersedes(bench.written[0]))
    }

    @Test func `the grant of an overtaken renewal is dropped, in memory and on disk`() {
        var bench = Bench.signedIn()
        let renew = bench.renew()
        let attempt = bench.renewals[0]
        bench.signOut()
        #expect(bench.refusal(of: renew) == .notSignedIn)

        let granted = bench.granted("alice")
        let late = bench.machine.renewalSucceeded(attempt, granted, now: bench.now)

        // The session's revocation is already in flight, and that of the new token follows.
        #expect(late.isEmpty)
        #expect(bench.machine.revocations.list.last?.secrets == granted.secrets)
        #expect(bench.written.last?.content == .signedOut)
    }

    @Test func `queued sign-ins are dropped`() {
        var bench = Bench()
        bench.signIn(.signInToken("alice"))
        let queued = bench.signIn(.signInToken("bob"))
        bench.signOut()
        #expect(bench.refusal(of: queued) == .notSignedIn)
        #expect(bench.exchanges.isEmpty)
    }

    @Test func `no token is served while the tombstone is being written, and a sign-in waits for it`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        let first = bench.signOut()
        let second = bench.signOut()
        #expect(bench.refusal { $0.token() } == .notSignedIn)
        #expect(bench.refusal { $0.renew() } == .notSignedIn)
        #expect(bench.machine.servable == nil)

        bench.signIn(.signInToken("bob"))
        #expect(bench.exchanges.isEmpty)
        bench.endWrite()

        #expect(bench.reply(to: first) == .done)
        #expect(bench.reply(to: second) == .done)
        #expect(bench.exchanges.count == 1)
    }

    @Test func `a disk that refuses the tombstone is reported and tried again, and the user is signed out in memory`() {
        var bench = Bench.signedIn()
        bench.writeFailure = StoreFailure("No space left on device")
        let request = bench.signOut()
        #expect(bench.reply(to: request) == .done)
        #expect(bench.state == .notLoggedIn)
        #expect(!bench.facts.storage.durable)

        bench.writeFailure = nil
        bench.pass(.seconds(60))
        #expect(bench.facts.storage.durable)
        #expect(bench.written.last?.content == .signedOut)
    }

    @Test func `a sign-out is reported`() {
        var bench = Bench.signedIn()
        bench.signOut()
        #expect(bench.reports.last == .signedOut)
    }

    @Test func `a caller that waits for a token gets notSignedIn after the sign-out`() {
        var bench = Bench.backingOff()
        bench.pass(.seconds(600))
        let waiting = bench.token()
        #expect(bench.reply(to: waiting) == nil)
        bench.signOut()
        #expect(bench.message(of: waiting)?.contains("sign-out came in between") == true)
    }

    @Test func `reconcile does not compare with a user who is being signed out`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        bench.signOut()
        #expect(bench.machine.reconciliation(withUserId: "alice") == .signIn)
        #expect(bench.machine.configuredKey == nil)
    }

    @Test func `a sign-out ends the schedule and the postponement, and no handler is asked after it`() {
        var waiting = Bench.signedIn(mode: .handler)
        waiting.register(1)
        var postponed = Bench.renewalDue(handlers: 1)
        postponed.answerQuestion(.unable)
        for var bench in [waiting, postponed] {
            let asked = bench.everAsked.count
            bench.signOut()
            bench.endRevocation()
            #expect(bench.machine.nextAlarm(now: bench.now) == nil)
            bench.pass(.seconds(86_400))
            #expect(bench.everAsked.count == asked)
            #expect(bench.state == .notLoggedIn)
        }
    }

    @Test func `a sign-out without a session is answered at once`() {
        let bench = OwnerBench().start()
        let answers = bench.signOut()
        #expect((try? answers.all.first?.get().facts.state) == .notLoggedIn)
    }
}

extension Restoration {
    static let locked = Restoration.unreadable(
        Unreadable(
            status: .locked,
            remedy: "The record is sealed with another key: provide it, or sign in again",
            header: Header(
                generation: 7,
                edition: 2,
                provider: "junction",
                scheme: .signInToken,
                state: .established,
                userId: "alice"
            ),
            canSignIn: true
        )
    )

    static func unreadable(_ status: StorageStatus, canSignIn: Bool) -> Restoration {
        .unreadable(
            Unreadable(status: status, remedy: "Look at the state directory", header: nil, canSignIn: canSignIn)
        )
    }
}
