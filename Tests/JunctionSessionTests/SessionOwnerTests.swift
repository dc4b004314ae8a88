import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// The owner performs effects, step by step on the test's own thread, without random numbers and without sleeping.
struct SessionOwnerTests {
    @Test func `a sign-in is on disk before it is answered and announced`() {
        let bench = OwnerBench().start()
        let answers = bench.signIn(.signInToken(SharedSecret(text: "alice")))

        #expect(answers.first?.facts.state == .established)
        #expect(bench.store.kept?.secrets.refreshToken?.text == "refresh-alice-1")
        #expect(bench.observer.snapshots.map(\.facts.state) == [.establishing, .established])
        #expect(bench.alarm.setTo == bench.snapshot().facts.renewal.notBefore)
    }

    @Test func `a restart serves the same token without a call`() throws {
        let before = OwnerBench().start().signIn()
        let kept = try #require(before.store.kept)
        let after = OwnerBench().start(.restored(kept.record, kept.secrets, damaged: nil))
        let answers = after.token()

        #expect(answers.first?.secret.text == "access-alice-1")
        #expect(after.provider.renewalCalls == 0)
    }

    @Test func `a rotation is on disk before it is served`() {
        let bench = OwnerBench().start().signIn()
        bench.renew()
        let editions = bench.store.written.map { "\($0.generation).\($0.edition)" }
        #expect(editions == ["1.0", "1.1", "2.0"])
        #expect(bench.observer.steps == [.swapped, .intentNoted, .answered, .swapped])
        #expect(bench.store.kept?.secrets.refreshToken?.text == "refresh-alice-2")
    }

    @Test func `the provider gets the send deadline of a refresh retry`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.failRenewals(.unavailable(Unavailability("No answer", ambiguous: true, sentAgo: .zero)))
        let sentAt = bench.clock.now().uptime
        bench.renew()
        bench.pass(.seconds(2))

        #expect(bench.provider.renewalDepartures == [nil, sentAt + .milliseconds(24_500)])
    }

    @Test func `a renewal without a new refresh token keeps the old one, and its steps are reported in order`() {
        let bench = OwnerBench().start().signIn()
        let before = bench.store.kept?.secrets.refreshToken?.text
        bench.provider.changeRenewals { $0.refreshToken = nil }
        let told = bench.observer.steps.count
        bench.renew()
        #expect(bench.snapshot().facts.accessToken?.generation == 2)
        #expect(before != nil)
        #expect(bench.store.kept?.secrets.refreshToken?.text == before)
        #expect(bench.observer.steps.dropFirst(told) == [.intentNoted, .answered, .swapped])
    }

    @Test func `a refresh token without an access token is written, and the next attempt is made with it`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.changeRenewals { $0.token = nil }
        #expect(bench.renew().error?.kind == .providerUnavailable)
        #expect(bench.store.kept?.secrets.refreshToken?.text == "refresh-alice-2")
        #expect(bench.store.kept?.secrets.accessToken?.text == "access-alice-1")
        #expect(bench.snapshot().facts.state == .established)

        for _ in 0..<60 where bench.provider.renewalCalls < 2 { bench.pass(.seconds(60)) }
        #expect(
            bench.provider.renewalSecrets.map { $0.refreshToken?.text }.prefix(2) == [
                "refresh-alice-1", "refresh-alice-2",
            ]
        )
    }

    @Test func `an answer with neither token is ambiguous, and the same refresh token is sent again`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.changeRenewals { ($0.token, $0.refreshToken) = (nil, nil) }
        #expect(bench.renew().error?.kind == .providerUnavailable)
        bench.owner.assumeIsolated { #expect($0.machine.renewal.isRetryingRefresh) }
        bench.pass(.seconds(2))
        #expect(bench.provider.renewalCalls == 2)
        #expect(bench.snapshot().facts.state == .established)
    }

    @Test func `a sign-out has precedence over the answer of an exchange in flight`() {
        let bench = OwnerBench().start()
        bench.provider.hold()
        let signIns = bench.signIn(.signInToken(SharedSecret(text: "alice")))

        bench.signOut()
        bench.release()

        #expect(signIns.all.count == 1)
        #expect(signIns.error?.kind == .notSignedIn)
        #expect(bench.snapshot().facts.state == .notLoggedIn)
        #expect(bench.store.kept == nil)
    }

    @Test func `identify asks the caller and uses its credential`() {
        let bench = OwnerBench().start()
        let outcomes = Box<IdentifyOutcome>()
        bench.on { owner in
            owner.identify(
                externalUserId: "ext-alice",
                by: 1_000,
                ask: { request, externalUserId in
                    #expect(externalUserId == "ext-alice")
                    bench.owner.assumeIsolated {
                        $0.identifyAnswered(request, with: .success(.signInToken(SharedSecret(text: "alice"))))
                    }
                },
                answer: { if case .success(let (outcome, _)) = $0 { outcomes.put(outcome) } }
            )
        }
        #expect(outcomes.all == [.signedIn])
        #expect(bench.snapshot().facts.externalUserId == "ext-alice")
    }

    @Test func `the owner releases the credential of an identify call with the answer`() {
        let bench = OwnerBench().start().signIn()
        bench.identify("ext-bob", answering: .signInToken(SharedSecret(text: "bob")))
        #expect(bench.snapshot().facts.userId == "bob")
        bench.owner.assumeIsolated { #expect($0.requests.isEmpty) }
    }

    @Test func `a malformed or unsupported credential is refused at once`() {
        let bench = OwnerBench().start()
        let malformed = bench.signIn(.signInToken(SharedSecret(text: "")))
        let unsupported = bench.signIn(.userLogin(userId: "a", displayName: nil, authToken: nil))
        #expect(malformed.error?.kind == .invalidCredential)
        #expect(unsupported.error?.kind == .unsupported)
        #expect(bench.provider.exchangeCalls == 0)
    }

    @Test func `the fast path serves what token requests serve`() {
        let bench = OwnerBench().start()
        #expect(bench.owner.assumeIsolated { $0.servable } == nil)
        let signedIn = bench.signIn()
        let facts = signedIn.owner.assumeIsolated { $0.servable?.facts }
        #expect(facts == signedIn.snapshot().facts.accessToken)
        signedIn.owner.assumeIsolated { owner in
            guard let facts, case .success(let served) = owner.served(facts) else {
                Issue.record("not served")
                return
            }
            #expect(served.secret.text == "access-alice-1")
            #expect(served.userId == "alice")
        }
    }

    @Test func `a full disk is reported, and the session is served from memory`() {
        let bench = OwnerBench().start()
        bench.store.failure = StoreFailure("No space left on device")
        let answers = bench.signIn(.signInToken(SharedSecret(text: "alice")))
        #expect(answers.first?.facts.storage.durable == false)
        #expect(bench.store.kept == nil)
        bench.store.failure = nil
        bench.pass(.seconds(1))
        #expect(bench.snapshot().facts.storage.durable)
        #expect(bench.store.kept?.secrets.refreshToken?.text == "refresh-alice-1")
    }

    @Test func `the end of the process waits for a sign-in in flight`() {
        let bench = OwnerBench().start()
        let quiet = Box<Bool>()
        bench.provider.hold()
        bench.signIn("alice")
        bench.on { $0.whenQuiet { quiet.put(true) } }
        #expect(quiet.all.isEmpty)

        bench.release()

        #expect(quiet.all == [true])
        bench.on { $0.whenQuiet { quiet.put(true) } }
        #expect(quiet.all.count == 2)
    }

    @Test func `the end of the process waits for a revocation in flight, and not for its next attempt`() {
        let bench = OwnerBench().start().signIn()
        let quiet = Box<Bool>()
        bench.provider.failRevocations(Unavailability("No network"))
        bench.provider.hold()
        bench.signOut()
        bench.on { $0.whenQuiet { quiet.put(true) } }
        #expect(quiet.all.isEmpty)

        bench.release()

        #expect(quiet.all == [true])
        #expect(bench.alarm.setTo != nil)
    }

    @Test func `another user's grant is revoked without the session's own refresh token`() throws {
        let bench = OwnerBench(rules: RenewalRules(mode: .handler)).start().signIn()
        bench.provider.changeRenewals { ($0.identity, $0.refreshToken) = (Identity(userId: "bob"), nil) }
        let handler = bench.register()
        bench.renew()
        handler.answer(.authToken(SharedSecret(text: "for bob")))

        let revoked = try #require(bench.provider.revocations.first)
        #expect(revoked.identity.userId == "bob" && bench.snapshot().facts.userId == "alice")
        #expect(revoked.secrets.accessToken != nil && revoked.secrets.refreshToken == nil)
    }
}
