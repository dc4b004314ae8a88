import JunctionSecret
import JunctionTesting
import Synchronization
import Testing

@testable import JunctionSession

/// The owner carries effects out: step by step on the test's own thread, without chance and without sleeping.
struct SessionOwnerTests {

    @Test func `a sign-in is stored before it is answered and announced`() throws {
        let bench = OwnerBench().start()
        let answers = Box<Result<Snapshot, Refusal>>()

        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { answers.put($0) } }

        #expect(try answers.all.first?.get().facts.state == .established)
        #expect(bench.store.kept?.secrets.refreshToken?.text == "refresh-alice-1")
        #expect(bench.observer.snapshots.map(\.facts.state) == [.establishing, .established])
        #expect(bench.alarm.setTo == bench.snapshot().facts.renewal.notBefore)
    }

    @Test func `revisions rise by one with each announcement`() {
        let bench = OwnerBench().start().signIn()
        bench.on { $0.signOut(by: 1_000) { _ in } }
        #expect(bench.observer.snapshots.map(\.revision) == [2, 3, 4])
    }

    @Test func `whoever watches hears what the observer hears`() {
        let bench = OwnerBench().start()
        let (first, second) = (Box<Snapshot>(), Box<Snapshot>())
        bench.on { $0.watch { first.put($0) } }
        _ = bench.signIn()
        bench.on { $0.watch { second.put($0) } }
        bench.on { $0.signOut(by: 1_000) { _ in } }

        #expect(first.all == bench.observer.snapshots)
        #expect(second.all.map(\.revision) == [4])
    }

    @Test func `a restart serves the same token without a call`() throws {
        let before = OwnerBench().start().signIn()
        let kept = try #require(before.store.kept)
        let after = OwnerBench().start(.restored(kept.record, kept.secrets, damaged: nil))
        let answers = Box<Result<ServedToken, Refusal>>()

        after.on { $0.token(by: 1_000) { answers.put($0) } }

        #expect(try answers.all.first?.get().secret.text == "access-alice-1")
        #expect(after.provider.renewalCalls == 0)
    }

    @Test func `two hundred callers around an expiry cost one renewal`() throws {
        let bench = OwnerBench(tokenLife: .seconds(60)).start().signIn()
        let answers = Box<Result<ServedToken, Refusal>>()
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

    @Test func `the provider is told by when a replay has to leave`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.failRenewals(.unavailable(Unavailability("No answer", ambiguous: true, sentAgo: .zero)))
        let sentAt = bench.clock.now().uptime
        bench.on { $0.renew(by: 1_000) { _ in } }
        bench.pass(.seconds(2))

        #expect(bench.provider.renewalDepartures == [nil, sentAt + .milliseconds(24_500)])
    }

    @Test func `a rotation is on disk before it is served`() {
        let bench = OwnerBench().start().signIn()
        bench.on { $0.renew(by: 1_000) { _ in } }
        let editions = bench.store.written.map { "\($0.generation).\($0.edition)" }
        #expect(editions == ["1.0", "1.1", "2.0"])
        #expect(bench.observer.steps == [.swapped, .intentNoted, .answered, .swapped])
        #expect(bench.store.kept?.secrets.refreshToken?.text == "refresh-alice-2")
    }

    @Test func `a sign-out beats the answer of an exchange under way`() {
        let bench = OwnerBench().start()
        let signIns = Box<Result<Snapshot, Refusal>>()
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

    @Test func `the API's 401 costs one renewal and one retry`() throws {
        let bench = OwnerBench().start().signIn()
        bench.provider.answerCalls(
            ApiAnswer(status: 401, headers: [], body: []),
            ApiAnswer(status: 200, headers: [], body: [1])
        )
        let answers = Box<Result<ApiAnswer, Refusal>>()

        bench.on { $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 1_000) { answers.put($0) } }

        #expect(try answers.all.first?.get().status == 200)
        #expect(bench.provider.apiCalls.count == 2)
        #expect(bench.provider.renewalCalls == 1)
    }

    @Test func `a sign-out ends what passes for the user`() throws {
        let bench = OwnerBench().start().signIn()
        let (upload, stream) = (BodyStream(), BodyStream())
        bench.provider.answerCalls(ApiAnswer(status: 200, headers: [], body: [], stream: stream))
        var request = ApiRequest(method: "PUT", path: "/v2/user/alice")
        request.passage = .streamed(upload)
        let (sent, answers, told) = (request, Box<Result<ApiAnswer, Refusal>>(), Box<String>())
        upload.whenTaken({ _ in }, abandoned: { told.put("upload") })
        stream.whenTaken({ _ in }, abandoned: { told.put("answer") })
        bench.on { $0.call(sent, by: 1_000) { answers.put($0) } }
        upload.finish(.complete)
        bench.on { _ in }
        #expect(try answers.all.first?.get().stream === stream)

        bench.on { $0.signOut(by: 1_000) { _ in } }

        #expect(stream.breach != nil)
        #expect(told.all == ["answer"])
    }

    @Test func `a sign-out ends what is still being sent for the user`() {
        let bench = OwnerBench().start().signIn()
        let upload = BodyStream()
        var request = ApiRequest(method: "PUT", path: "/v2/user/alice")
        request.passage = .streamed(upload)
        let (sent, told) = (request, Box<String>())
        upload.whenTaken({ _ in }, abandoned: { told.put("upload") })
        bench.on { $0.call(sent, by: 1_000) { _ in } }
        #expect(upload.breach == nil)

        bench.on { $0.signOut(by: 1_000) { _ in } }

        #expect(upload.breach != nil)
        #expect(told.all == ["upload"])
    }

    @Test func `an answer that nobody gets is given up`() {
        let bench = OwnerBench().start().signIn()
        let long = BodyStream()
        [UInt8](repeating: 0, count: 1 << 17).withUnsafeBytes { long.put($0) }
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: [], stream: long))
        bench.provider.failCalls(Unavailability("It is away"))
        var request = ApiRequest(method: "GET", path: "/v2/user/alice")
        request.passage = .streamed(nil)
        let (sent, answers) = (request, Box<Result<ApiAnswer, Refusal>>())

        bench.on { $0.call(sent, by: 1_000) { answers.put($0) } }

        #expect((try? answers.all.first?.get()) == nil)
        #expect(answers.all.count == 1)
        #expect(long.isAbandoned)
    }

    @Test func `a second 401 is reported`() throws {
        let bench = OwnerBench().start().signIn()
        let refused = ApiAnswer(status: 401, headers: [], body: [])
        bench.provider.answerCalls(refused, refused)
        let answers = Box<Result<ApiAnswer, Refusal>>()
        bench.on { $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 1_000) { answers.put($0) } }
        #expect(try answers.all.first?.get().status == 401)
        #expect(bench.provider.apiCalls.count == 2)
    }

    @Test func `with an API key a 401 is never retried`() throws {
        let bench = OwnerBench().start()
        let credential = Credential.apiKey(
            key: SharedSecret(text: "sk_us_1"),
            userId: "alice",
            environment: "sandbox",
            region: "us"
        )
        bench.on { $0.signIn(credential, by: 1_000) { _ in } }
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        let answers = Box<Result<ApiAnswer, Refusal>>()
        bench.on { $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 1_000) { answers.put($0) } }
        #expect(try answers.all.first?.get().status == 401)
        #expect(bench.provider.apiCalls.count == 1)
    }

    @Test func `a path of another user is refused without a call`() {
        let bench = OwnerBench().start().signIn()
        let answers = Box<Result<ApiAnswer, Refusal>>()
        bench.on { $0.call(ApiRequest(method: "GET", path: "/v2/user/bob"), by: 1_000) { answers.put($0) } }
        guard case .failure(let refusal)? = answers.all.first else {
            Issue.record("answered")
            return
        }
        #expect(refusal.kind == .permissionDenied)
        #expect(bench.provider.apiCalls.isEmpty)
    }

    @Test func `an API key is configured first and completed with just the user id`() {
        let bench = OwnerBench().start()
        let key = Credential.apiKey(
            key: SharedSecret(text: "sk_us_1"),
            userId: nil,
            environment: "sandbox",
            region: "us"
        )
        bench.on { $0.signIn(key, by: 1_000) { _ in } }
        #expect(bench.snapshot().facts.flags == [.configured])
        #expect(bench.snapshot().facts.state == .notLoggedIn)

        let completion = Credential.apiKey(key: nil, userId: "alice", environment: nil, region: nil)
        bench.on { $0.signIn(completion, by: 1_000) { _ in } }

        #expect(bench.snapshot().facts.flags == [.configured, .signedIn, .useApiKey])
        #expect(bench.store.kept?.secrets.apiKey?.text == "sk_us_1")
    }

    @Test func `identify asks the caller and uses the credential it gives`() {
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

    @Test func `only what reaches the provider is counted against a caller`() {
        let bench = OwnerBench(callsPerMinute: 2).start()
        let answers = Box<Result<Snapshot, Refusal>>()
        for user in ["alice", "alice", "alice", "bob"] {
            bench.on { $0.signIn(.signInToken(SharedSecret(text: user)), by: 1_000) { answers.put($0) } }
        }
        bench.on { $0.renew(by: 1_000) { answers.put($0) } }
        bench.on { $0.renew(by: 1_000) { answers.put($0) } }
        bench.on { $0.renew(by: 2_000) { answers.put($0) } }

        let kinds = answers.all.map { answer -> Refusal.Kind? in
            if case .failure(let refusal) = answer { refusal.kind } else { nil }
        }
        #expect(kinds == [nil, nil, nil, .alreadySignedIn, nil, .busy, nil])

        bench.clock.advance(by: .seconds(60))
        bench.on { $0.renew(by: 1_000) { answers.put($0) } }
        if case .failure(let refusal)? = answers.all.last { Issue.record("still refused: \(refusal)") }
    }

    @Test func `quiet means that nothing could be lost`() {
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

    // MARK: Telling the provider of a sign-out

    @Test func `a sign-out is told with its own secrets, again until the provider takes it, and then they are gone`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.failRevocations(Unavailability("No network"), Unavailability("Busy", retryAfter: .seconds(30)))
        weak let secret = bench.owner.assumeIsolated { $0.servedSecrets?.accessToken }

        bench.on { $0.signOut(by: 1_000) { _ in } }
        #expect(bench.snapshot().facts.state == .notLoggedIn)
        #expect(bench.provider.revocations.count == 1)
        #expect(secret != nil)
        bench.pass(.seconds(2))
        bench.pass(.seconds(34))

        do {
            let told = bench.provider.revocations
            #expect(told.map(\.identity.userId) == ["alice", "alice", "alice"])
            #expect(told.map(\.secrets.accessToken?.text) == Array(repeating: "access-alice-1", count: 3))
        }
        #expect(bench.alarm.setTo == nil)
        #expect(bench.store.kept?.secrets.accessToken == nil)
        bench.provider.forgetCalls()
        #expect(secret == nil)
    }

    @Test func `the same user's sign-in gives the request under way up, and its secrets with it`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.hold()
        bench.on { $0.signOut(by: 1_000) { _ in } }
        #expect(bench.provider.revocations.count == 1)

        let again = bench.signIn()
        bench.provider.release()
        bench.executor.runUntilIdle()
        again.pass(.seconds(600))

        #expect(again.snapshot().facts.state == .established)
        #expect(again.provider.revocations.count == 1)
        again.owner.assumeIsolated { #expect($0.shelf.count == 1) }
        #expect(again.provider.revocationsGivenUp == 1)
    }

    @Test func `what a handler gave for a renewal outlives a sign-in that another handler's answer did not help`() {
        let bench = OwnerBench(tokenLife: .seconds(60), rules: RenewalRules(mode: .handler)).start().signIn()
        let questions = Box<RenewalQuestion>()
        let handlers = Box<HandlerID>()
        bench.on { owner in handlers.put(owner.register(handlerOf: 1_000) { questions.put($0) }) }
        func answer(_ text: String) {
            let (handler, question) = (handlers.all[0], questions.all.last!)
            bench.on { $0.answered(handler, question.attempt, .authToken(SharedSecret(text: text))) }
        }
        bench.provider.failRenewals(.unavailable(Unavailability("No network")))
        bench.pass(.seconds(61))
        answer("for alice")
        #expect(bench.provider.renewalCalls == 1)

        // Somebody wants bob, and the token for him is refused.
        let requests = Box<RequestID>()
        bench.provider.failExchanges(.refused("It is used up"))
        bench.on {
            $0.identify(
                externalUserId: "ext-bob",
                by: 1_000,
                ask: {
                    requests.put($0)
                    _ = $1
                }
            ) { _ in }
        }
        bench.on { owner in
            owner.identifyAnswered(requests.all[0], with: .success(.registration(userId: "bob", token: nil)))
        }
        #expect(questions.all.last?.reason == .missing)
        answer("for bob")
        #expect(bench.provider.exchangeCalls == 2)

        bench.pass(.seconds(60))

        let tokens: [String] = bench.provider.renewalAnswers.map { answer in
            guard case .authToken(let token) = answer else { return "none" }
            return token.text
        }
        #expect(tokens == ["for alice", "for alice"])
        #expect(bench.snapshot().facts.state == .established)
    }

    @Test func `the end waits for a revocation under way, and not for one that waits for its next attempt`() {
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

    @Test func `nothing secret is in a snapshot, a refusal or a description`() {
        let bench = OwnerBench().start().signIn()
        let token = SharedSecret(text: "access-alice-1")
        #expect("\(token)" == "‹secret›")
        #expect(!"\(bench.snapshot())".contains("access-alice"))
        #expect(!"\(bench.store.kept as Any)".contains("refresh-alice"))
    }
}

extension SessionOwnerTests {
    // MARK: What the owner adds of its own

    @Test func `a credential that says nothing is refused at once`() {
        let bench = OwnerBench().start()
        let kinds = Box<Refusal.Kind>()
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

    @Test func `the hot path serves what token requests serve`() {
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

    @Test func `a handler that has gone is not asked`() {
        let bench = OwnerBench(tokenLife: .seconds(60), rules: RenewalRules(mode: .handler)).start().signIn()
        let questions = Box<RenewalQuestion>()
        let handlers = Box<HandlerID>()
        bench.on { owner in handlers.put(owner.register(handlerOf: 1_000) { questions.put($0) }) }
        bench.on { $0.unregister(handlers.all[0]) }
        bench.pass(.seconds(61))
        #expect(questions.all.isEmpty)
        #expect(bench.snapshot().facts.renewal.phase == .waitingForHandler)
        // Twice is once.
        bench.on { $0.unregister(handlers.all[0]) }
    }

    @Test func `a disk that refuses is reported, and the session served from memory`() throws {
        let bench = OwnerBench().start()
        bench.store.failure = StoreFailure("No space left on device")
        let answers = Box<Result<Snapshot, Refusal>>()
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { answers.put($0) } }
        #expect(try answers.all.first?.get().facts.storage.durable == false)
        #expect(bench.store.kept == nil)
        bench.store.failure = nil
        bench.pass(.seconds(1))
        #expect(bench.snapshot().facts.storage.durable)
        #expect(bench.store.kept?.secrets.refreshToken?.text == "refresh-alice-1")
    }

    // MARK: API calls that a sign-out overtakes

    @Test(arguments: ["alice", "bob", nil])
    func `a call whose user signs out is answered at once, whoever signs in after it`(next: String?) {
        let bench = OwnerBench().start().signIn("alice")
        let outcomes = Box<String>()
        bench.provider.answerCalls(ApiAnswer(status: 200, headers: [], body: Array("alice's".utf8)))
        bench.provider.holdCalls()
        bench.on { owner in
            owner.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 1_000) { outcomes.put($0.words) }
        }

        bench.on { $0.signOut(by: 1_000) { _ in } }
        if let next { _ = bench.signIn(next) }
        bench.provider.release()
        bench.executor.runUntilIdle()

        #expect(outcomes.all == ["notSignedIn"])
        #expect(bench.owner.assumeIsolated { $0.calls.isEmpty })
    }

    @Test(arguments: [false, true])
    func `a body that has not been taken when its user signs out is never taken, also when all of it had come`(
        isComplete: Bool
    ) {
        let bench = OwnerBench().start().signIn("alice")
        let stream = BodyStream()
        Array("alice's".utf8).withUnsafeBytes { stream.put($0) }
        if isComplete { stream.finish(.complete) }
        bench.provider.answerCalls(ApiAnswer(status: 200, headers: [], body: [], stream: stream))
        let outcomes = Box<String>()
        bench.on { owner in
            owner.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 1_000) { outcomes.put($0.words) }
        }
        #expect(outcomes.all == ["200"])

        bench.on { $0.signOut(by: 1_000) { _ in } }
        _ = bench.signIn("bob")

        #expect(stream.take(atMost: 100) { $0.count } == nil)
        guard let breach = stream.breach else {
            Issue.record("the body is whole")
            return
        }
        #expect(Refusal(ofCall: breach).kind == .notSignedIn)
    }

    @Test func `a call that waits for a renewal is not made as another user`() {
        let bench = OwnerBench(tokenLife: .seconds(60), rules: RenewalRules(mode: .handler)).start().signIn("alice")
        bench.pass(.seconds(61))
        bench.on { _ = $0.register(handlerOf: 1_000) { _ in } }
        let outcomes = Box<String>()
        bench.on { owner in
            owner.call(ApiRequest(method: "GET", path: "/v2/user/:userId"), by: 1_000) { outcomes.put($0.words) }
        }
        #expect(outcomes.all.isEmpty)

        let requests = Box<RequestID>()
        bench.on { $0.identify(externalUserId: "ext-bob", by: 1_000, ask: { id, _ in requests.put(id) }) { _ in } }
        let bob = Credential.signInToken(SharedSecret(text: "bob"))
        bench.on { $0.identifyAnswered(requests.all[0], with: .success(bob)) }

        #expect(bench.snapshot().facts.userId == "bob")
        #expect(outcomes.all == ["notSignedIn"])
        #expect(bench.provider.apiCalls.isEmpty)
    }

    @Test func `a call that waits for the first sign-in is made as that user`() {
        let bench = OwnerBench().start()
        bench.provider.hold()
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in } }
        let outcomes = Box<String>()
        bench.on { owner in
            owner.call(ApiRequest(method: "GET", path: "/v2/user/:userId"), by: 1_000) { outcomes.put($0.words) }
        }
        bench.provider.release()
        bench.executor.runUntilIdle()

        #expect(outcomes.all == ["200"])
    }

    @Test func `a call of a user who is found out to be banned meanwhile says that the session was ended`() {
        let bench = OwnerBench().start().signIn("alice")
        let outcomes = Box<String>()
        bench.provider.holdCalls()
        bench.on { owner in
            owner.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 1_000) { outcomes.put($0.words) }
        }
        bench.provider.failRenewals(.terminated(code: "400312", message: "Banned"))
        bench.on { $0.renew(by: 1_000) { _ in } }
        bench.provider.release()
        bench.executor.runUntilIdle()

        #expect(outcomes.all == ["sessionTerminated"])
    }

    @Test func `after each event only what is in use is kept`() {
        let bench = OwnerBench().start().signIn()
        #expect(bench.owner.assumeIsolated { $0.shelf.count } == 1)
        bench.on { $0.renew(by: 1_000) { _ in } }
        #expect(bench.owner.assumeIsolated { $0.shelf.count } == 1)
        bench.on { $0.signOut(by: 1_000) { _ in } }
        #expect(bench.owner.assumeIsolated { $0.shelf.count } == 0)
    }

    @Test func `a refresh token that comes without an access token is sealed, and the next attempt is made with it`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.grantNoToken()
        let kinds = Box<Refusal.Kind>()
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

    @Test func `an answer with neither token leaves the outcome unknown: the same token is sent again`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.grantNoToken()
        bench.provider.grantNoRefreshToken()
        let kinds = Box<Refusal.Kind>()
        bench.on { $0.renew(by: 1_000) { if case .failure(let refusal) = $0 { kinds.put(refusal.kind) } } }
        #expect(kinds.all == [.providerUnavailable])
        bench.owner.assumeIsolated { #expect($0.machine.renewal.isReplaying) }
        bench.pass(.seconds(2))
        #expect(bench.provider.renewalCalls == 2)
        #expect(bench.snapshot().facts.state == .established)
    }
}

extension Result<ApiAnswer, Refusal> {
    /// The status, or the kind of the refusal.
    fileprivate var words: String {
        switch self {
        case .success(let answer): "\(answer.status)"
        case .failure(let refusal): refusal.kind.rawValue
        }
    }
}
