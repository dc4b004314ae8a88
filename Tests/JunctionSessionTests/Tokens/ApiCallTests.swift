import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// API calls that the owner makes for its callers, with the token of the signed-in user.
struct ApiCallTests {
    private func call(_ path: String, in bench: OwnerBench) -> Box<Result<ApiAnswer, SessionError>> {
        let answers = Box<Result<ApiAnswer, SessionError>>()
        bench.on { $0.call(ApiRequest(method: "GET", path: path), by: 1_000) { answers.put($0) } }
        return answers
    }

    @Test func `a 401 of the API causes one renewal and one retry`() throws {
        let bench = OwnerBench().start().signIn()
        bench.provider.answerCalls(
            ApiAnswer(status: 401, headers: [], body: []),
            ApiAnswer(status: 200, headers: [], body: [1])
        )
        let answers = Box<Result<ApiAnswer, SessionError>>()

        bench.on { $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 1_000) { answers.put($0) } }

        #expect(try answers.all.first?.get().status == 200)
        #expect(bench.provider.apiCalls.count == 2)
        #expect(bench.provider.renewalCalls == 1)
    }

    @Test func `only a 401 causes a renewal`() throws {
        let bench = OwnerBench().start().signIn()
        bench.provider.answerCalls(ApiAnswer(status: 403, headers: [], body: []))
        #expect(try call("/v2/user/alice", in: bench).all.first?.get().status == 403)
        #expect(bench.provider.renewalCalls == 0)
        #expect(bench.provider.apiCalls.count == 1)
    }

    @Test func `a second 401 is returned to the caller`() throws {
        let bench = OwnerBench().start().signIn()
        let refused = ApiAnswer(status: 401, headers: [], body: [])
        bench.provider.answerCalls(refused, refused)
        let answers = Box<Result<ApiAnswer, SessionError>>()
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
        let answers = Box<Result<ApiAnswer, SessionError>>()
        bench.on { $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 1_000) { answers.put($0) } }
        #expect(try answers.all.first?.get().status == 401)
        #expect(bench.provider.apiCalls.count == 1)
    }

    @Test func `a retry that fails is reported as a failure, not as the 401 before it`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        bench.provider.failCalls(Unavailability("No answer"))
        guard case .failure(let refusal)? = call("/v2/user/alice", in: bench).all.first else {
            Issue.record("The failure was hidden")
            return
        }
        #expect(refusal.kind == .providerUnavailable)
        #expect(bench.provider.apiCalls.count == 2)
    }

    @Test func `a 401 is returned to the caller when no handler can renew`() {
        let bench = OwnerBench(rules: RenewalRules(mode: .handler)).start()
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in } }
        let asked = Box<RenewalQuestion>()
        let ids = Box<HandlerID>()
        bench.on { ids.put($0.register(handlerOf: 1_000) { asked.put($0) }) }
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        let said = Box<String>()
        bench.on {
            $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 7) {
                switch $0 {
                case .success(let a): said.put("\(a.status)")
                case .failure(let r): said.put(r.kind.rawValue)
                }
            }
        }
        #expect(asked.all.count == 1)
        bench.on { $0.answered(ids.all[0], asked.all[0].attempt, nil) }
        #expect(said.all == ["401"])

        // The call is repeated while the renewal is postponed.
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        bench.on {
            $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 7) {
                switch $0 {
                case .success(let a): said.put("\(a.status)")
                case .failure(let r): said.put(r.kind.rawValue)
                }
            }
        }
        #expect(said.all == ["401", "401"])
    }

    @Test func `a 401 is returned to the caller while reauthentication is pending`() {
        let bench = OwnerBench().start()
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in } }
        bench.provider.failRenewals(.reauthenticationRequired)
        bench.on { $0.renew(by: 1) { _ in } }
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        let said = Box<String>()
        bench.on {
            $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 7) {
                switch $0 {
                case .success(let a): said.put("\(a.status)")
                case .failure(let r): said.put(r.kind.rawValue)
                }
            }
        }
        #expect(said.all == ["401"])
    }

    @Test func `an expired token is renewed before an API call leaves, but not for a path of another user`() throws {
        let bench = OwnerBench(tokenLife: .seconds(60)).start().signIn()
        bench.clock.advance(by: .seconds(61))
        guard case .failure(let refusal)? = call("/v2/user/bob", in: bench).all.first else {
            Issue.record("Another user's path was called")
            return
        }
        #expect(refusal.kind == .permissionDenied)
        #expect(bench.provider.renewalCalls == 0)

        bench.provider.answerCalls(ApiAnswer(status: 200, headers: [], body: []))
        #expect(try call("/v2/user/alice", in: bench).all.first?.get().status == 200)
        #expect(bench.provider.renewalCalls == 1)
    }

    @Test func `a path of another user is refused without a call`() {
        let bench = OwnerBench().start().signIn()
        let answers = Box<Result<ApiAnswer, SessionError>>()
        bench.on { $0.call(ApiRequest(method: "GET", path: "/v2/user/bob"), by: 1_000) { answers.put($0) } }
        guard case .failure(let refusal)? = answers.all.first else {
            Issue.record("answered")
            return
        }
        #expect(refusal.kind == .permissionDenied)
        #expect(bench.provider.apiCalls.isEmpty)
    }

    @Test func `the body of a 401 is abandoned when the retry fails`() {
        let bench = OwnerBench().start().signIn()
        let long = BodyStream()
        [UInt8](repeating: 0, count: 1 << 17).withUnsafeBytes { long.put($0) }
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: [], stream: long))
        bench.provider.failCalls(Unavailability("It is away"))
        var request = ApiRequest(method: "GET", path: "/v2/user/alice")
        request.passage = .streamed(nil)
        let (sent, answers) = (request, Box<Result<ApiAnswer, SessionError>>())

        bench.on { $0.call(sent, by: 1_000) { answers.put($0) } }

        #expect((try? answers.all.first?.get()) == nil)
        #expect(answers.all.count == 1)
        #expect(long.isAbandoned)
    }

    @Test func `a sign-out ends the body of an answer to the user`() throws {
        let bench = OwnerBench().start().signIn()
        let (upload, stream) = (BodyStream(), BodyStream())
        bench.provider.answerCalls(ApiAnswer(status: 200, headers: [], body: [], stream: stream))
        var request = ApiRequest(method: "PUT", path: "/v2/user/alice")
        request.passage = .streamed(upload)
        let (sent, answers, told) = (request, Box<Result<ApiAnswer, SessionError>>(), Box<String>())
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

    @Test func `a sign-out ends an upload of the user`() {
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

    @Test(arguments: ["alice", "bob", nil])
    func `a call in flight is refused when its user signs out, also when a user signs in again`(next: String?) {
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
    func `a body that has not been taken when its user signs out is never taken, complete or not`(
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
        #expect(SessionError(ofCall: breach).kind == .notSignedIn)
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

    @Test func `a call that was made for one user is not made again as another user`() {
        let bench = OwnerBench().start()
        // The fake admits paths by prefix, as social.plus's policy admits `/api/v3/me` for the signed-in user.
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in } }
        bench.provider.hold()
        let requests = Box<RequestID>()
        bench.on { $0.identify(externalUserId: "ext-al", by: 1_000, ask: { r, _ in requests.put(r) }) { _ in } }
        bench.on { $0.identifyAnswered(requests.all[0], with: .success(.signInToken(SharedSecret(text: "al")))) }
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        let answers = Box<Result<ApiAnswer, SessionError>>()
        bench.on { $0.call(ApiRequest(method: "POST", path: "/v2/user/alice"), by: 7) { answers.put($0) } }
        #expect(bench.provider.apiCalls.count == 1)
        #expect(bench.snapshot().facts.userId == "alice")
        bench.provider.release()
        bench.executor.runUntilIdle()
        #expect(bench.snapshot().facts.userId == "al")
        #expect(bench.provider.apiCalls.count == 1, "made for alice, made again as al")
        // A caller that is served as al must get no part of the answer for alice.
        guard case .failure(let refusal)? = answers.all.first else {
            Issue.record("answered")
            return
        }
        #expect(refusal.kind == .notSignedIn)
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

    @Test func `a call whose user is found to be banned meanwhile gets sessionTerminated`() {
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
}

extension Result<ApiAnswer, SessionError> {
    /// The status, or the kind of the error.
    fileprivate var words: String {
        switch self {
        case .success(let answer): "\(answer.status)"
        case .failure(let refusal): refusal.kind.rawValue
        }
    }
}
