import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// The owner performs effects, step by step on the test's own thread, without random numbers and without sleeping.
struct SessionOwnerTests {
    @Test func `a sign-in is on disk before it is answered and announced`() throws {
        let bench = OwnerBench().start()
        let answers = Box<Result<Snapshot, SessionError>>()

        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { answers.put($0) } }

        #expect(try answers.all.first?.get().facts.state == .established)
        #expect(bench.store.kept?.secrets.refreshToken?.text == "refresh-alice-1")
        #expect(bench.observer.snapshots.map(\.facts.state) == [.establishing, .established])
        #expect(bench.alarm.setTo == bench.snapshot().facts.renewal.notBefore)
    }

    @Test func `a restart serves the same token without a call`() throws {
        let before = OwnerBench().start().signIn()
        let kept = try #require(before.store.kept)
        let after = OwnerBench().start(.restored(kept.record, kept.secrets, damaged: nil))
        let answers = Box<Result<ServedToken, SessionError>>()

        after.on { $0.token(by: 1_000) { answers.put($0) } }

        #expect(try answers.all.first?.get().secret.text == "access-alice-1")
        #expect(after.provider.renewalCalls == 0)
    }

    @Test func `two hundred callers around an expiry cause one renewal`() throws {
        let bench = OwnerBench(tokenLife: .seconds(60)).start().signIn()
        let answers = Box<Result<ServedToken, SessionError>>()
        bench.provider.hold()
        bench.pass(.seconds(61))

        for _ in 0..<200 { bench.on { $0.token(by: 1_000) { answers.put($0) } } }
        #expect(answers.all.isEmpty)
        bench.provider.release()
        bench.executor.runUntilIdle()

        #expect(bench.provider.renewalCalls == 1)
        #expect(answers.all.count == 200)
        for answer in answers.all { #expect(try answer.get().secret.text == "access-alice-2") }
    }

    @Test func `a rotation is on disk before it is served`() {
        let bench = OwnerBench().start().signIn()
        bench.on { $0.renew(by: 1_000) { _ in } }
        let editions = bench.store.written.map { "\($0.generation).\($0.edition)" }
        #expect(editions == ["1.0", "1.1", "2.0"])
        #expect(bench.observer.steps == [.swapped, .intentNoted, .answered, .swapped])
        #expect(bench.store.kept?.secrets.refreshToken?.text == "refresh-alice-2")
    }

    @Test func `the provider gets the send deadline of a refresh retry`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.failRenewals(.unavailable(Unavailability("No answer", ambiguous: true, sentAgo: .zero)))
        let sentAt = bench.clock.now().uptime
        bench.on { $0.renew(by: 1_000) { _ in } }
        bench.pass(.seconds(2))

        #expect(bench.provider.renewalDepartures == [nil, sentAt + .milliseconds(24_500)])
    }

    @Test func `a renewal without a new refresh token keeps the old one, and its steps are reported in order`() {
        let bench = OwnerBench().start().signIn()
        let before = bench.store.kept?.secrets.refreshToken?.text
        bench.provider.grantNoRefreshToken()
        let told = bench.observer.steps.count
        bench.on { $0.renew(by: 1_000) { _ in } }
        #expect(bench.snapshot().facts.accessToken?.generation == 2)
        #expect(before != nil)
        #expect(bench.store.kept?.secrets.refreshToken?.text == before)
        #expect(bench.observer.steps.dropFirst(told) == [.intentNoted, .answered, .swapped])
    }

    @Test func `a refresh token without an access token is written, and the next attempt is made with it`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.grantNoToken()
        let kinds = Box<SessionError.Kind>()
        bench.on { $0.renew(by: 1_000) { if case .failure(let refusal) = $0 { kinds.put(refusal.kind) } } }
        #expect(kinds.all == [.providerUnavailable])
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
        bench.provider.grantNoToken()
        bench.provider.grantNoRefreshToken()
        let kinds = Box<SessionError.Kind>()
        bench.on { $0.renew(by: 1_000) { if case .failure(let refusal) = $0 { kinds.put(refusal.kind) } } }
        #expect(kinds.all == [.providerUnavailable])
        bench.owner.assumeIsolated { #expect($0.machine.renewal.isRetryingRefresh) }
        bench.pass(.seconds(2))
        #expect(bench.provider.renewalCalls == 2)
        #expect(bench.snapshot().facts.state == .established)
    }

    @Test func `a sign-out has precedence over the answer of an exchange in flight`() {
        let bench = OwnerBench().start()
        let signIns = Box<Result<Snapshot, SessionError>>()
        bench.provider.hold()
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { signIns.put($0) } }

        bench.on { $0.signOut(by: 1_000) { _ in } }
        bench.provider.release()
        bench.executor.runUntilIdle()

        guard case .failure(let refusal)? = signIns.all.first else {
            Issue.record("signed in")
            return
        }
        #expect(refusal.kind == .notSignedIn)
        #expect(signIns.all.count == 1)
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
        let token = SharedSecret(text: "bob")
        bench.on { owner in
            owner.identify(
                externalUserId: "ext-bob",
                by: 1_000,
                ask: { request, _ in
                    owner.assumeIsolated { $0.identifyAnswered(request, with: .success(.signInToken(token))) }
                },
                answer: { _ in }
            )
        }
        #expect(bench.snapshot().facts.userId == "bob")
        bench.owner.assumeIsolated { #expect($0.requests.isEmpty) }
    }

    @Test func `a malformed or unsupported credential is refused at once`() {
        let bench = OwnerBench().start()
        let kinds = Box<SessionError.Kind>()
        bench.on { owner in
            owner.signIn(.signInToken(SharedSecret(text: "")), by: 1_000) {
                if case .failure(let refusal) = $0 { kinds.put(refusal.kind) }
            }
            owner.signIn(.userLogin(userId: "a", displayName: nil, authToken: nil), by: 1_000) {
                if case .failure(let refusal) = $0 { kinds.put(refusal.kind) }
            }
        }
        #expect(kinds.all == [.invalidCredential, .unsupported])
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

    @Test func `a full disk is reported, and the session is served from memory`() throws {
        let bench = OwnerBench().start()
        bench.store.failure = StoreFailure("No space left on device")
        let answers = Box<Result<Snapshot, SessionError>>()
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { answers.put($0) } }
        #expect(try answers.all.first?.get().facts.storage.durable == false)
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
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in } }
        bench.on { $0.whenQuiet { quiet.put(true) } }
        #expect(quiet.all.isEmpty)

        bench.provider.release()
        bench.executor.runUntilIdle()

        #expect(quiet.all == [true])
        bench.on { $0.whenQuiet { quiet.put(true) } }
        #expect(quiet.all.count == 2)
    }

    @Test func `the end of the process waits for a revocation in flight, and not for its next attempt`() {
        let bench = OwnerBench().start().signIn()
        let quiet = Box<Bool>()
        bench.provider.failRevocations(Unavailability("No network"))
        bench.provider.hold()
        bench.on { $0.signOut(by: 1_000) { _ in } }
        bench.on { $0.whenQuiet { quiet.put(true) } }
        #expect(quiet.all.isEmpty)

        bench.provider.release()
        bench.executor.runUntilIdle()

        #expect(quiet.all == [true])
        #expect(bench.alarm.setTo != nil)
    }
}
