import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// API calls that the owner makes for its callers, with the token of the signed-in user.
struct ApiCallTests {
    private let unauthorized = ApiAnswer(status: 401, headers: [], body: [])
    private let ok = ApiAnswer(status: 200, headers: [], body: [])

    // MARK: A 401

    @Test func `a 401 of the API causes one renewal and one retry`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.answerCalls(unauthorized, ok)

        #expect(bench.call().words == ["200"])

        #expect(bench.provider.apiCalls.count == 2)
        #expect(bench.provider.renewalCalls == 1)
    }

    @Test func `only a 401 causes a renewal`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.answerCalls(ApiAnswer(status: 403, headers: [], body: []))

        #expect(bench.call().words == ["403"])

        #expect(bench.provider.renewalCalls == 0)
        #expect(bench.provider.apiCalls.count == 1)
    }

    @Test func `a second 401 is returned to the caller`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.answerCalls(unauthorized, unauthorized)

        #expect(bench.call().words == ["401"])

        #expect(bench.provider.apiCalls.count == 2)
    }

    @Test func `with an API key a 401 is never retried`() {
        let bench = OwnerBench().start()
        bench.signIn(.apiKey("sk_us_1", of: "alice"))
        bench.provider.answerCalls(unauthorized)

        #expect(bench.call().words == ["401"])

        #expect(bench.provider.apiCalls.count == 1)
    }

    @Test func `a retry that fails is reported as a failure, and the body of the 401 before it is abandoned`() {
        let bench = OwnerBench().start().signIn()
        let long = BodyStream()
        [UInt8](repeating: 0, count: 1 << 17).withUnsafeBytes { long.put($0) }
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: [], stream: long))
        bench.provider.failCalls(Unavailability("No answer"))
        var request = ApiRequest(method: "GET", path: "/v2/user/alice")
        request.bodyTransfer = .streamed(nil)

        #expect(bench.call(request).words == ["providerUnavailable"])

        #expect(bench.provider.apiCalls.count == 2)
        #expect(long.isAbandoned)
    }

    @Test func `a 401 is returned to the caller when no handler can renew, also while the renewal is postponed`() {
        let bench = OwnerBench(rules: RenewalRules(mode: .handler)).start().signIn()
        let handler = bench.register()
        bench.provider.answerCalls(unauthorized, unauthorized)

        let answers = bench.call()
        #expect(handler.questions.count == 1)
        handler.answer(nil)

        #expect(answers.words == ["401"])
        #expect(bench.call().words == ["401"])
    }

    @Test func `a 401 is returned to the caller while reauthentication is pending`() {
        let bench = OwnerBench().start().signIn()
        bench.provider.failRenewals(.reauthenticationRequired)
        bench.renew()
        bench.provider.answerCalls(unauthorized)

        #expect(bench.call().words == ["401"])
    }

    // MARK: The user

    @Test func `an expired token is renewed before an API call leaves, but not for a path of another user`() {
        let bench = OwnerBench(tokenLife: .seconds(60)).start().signIn()
        bench.clock.advance(by: .seconds(61))

        #expect(bench.call("/v2/user/bob").words == ["permissionDenied"])
        #expect(bench.provider.renewalCalls == 0)
        #expect(bench.provider.apiCalls.isEmpty)

        bench.provider.answerCalls(ok)
        #expect(bench.call().words == ["200"])
        #expect(bench.provider.renewalCalls == 1)
    }

    @Test func `a sign-out ends the body of an answer to the user`() {
        let bench = OwnerBench().start().signIn()
        let (upload, stream) = (BodyStream(), BodyStream())
        bench.provider.answerCalls(ApiAnswer(status: 200, headers: [], body: [], stream: stream))
        let told = Box<String>()
        upload.whenTaken({ _ in }, abandoned: { told.put("upload") })
        stream.whenTaken({ _ in }, abandoned: { told.put("answer") })
        let answers = bench.call(.upload(upload))
        upload.finish(.complete)
        bench.on { _ in }
        #expect(answers.first?.stream === stream)

        bench.signOut()

        #expect(stream.breach != nil)
        #expect(told.all == ["answer"])
    }

    @Test func `a sign-out ends an upload of the user`() {
        let bench = OwnerBench().start().signIn()
        let upload = BodyStream()
        let told = Box<String>()
        upload.whenTaken({ _ in }, abandoned: { told.put("upload") })
        bench.call(.upload(upload))
        #expect(upload.breach == nil)

        bench.signOut()

        #expect(upload.breach != nil)
        #expect(told.all == ["upload"])
    }

    @Test(arguments: ["alice", "bob", nil])
    func `a call in flight is refused when its user signs out, also when a user signs in again`(next: String?) {
        let bench = OwnerBench().start().signIn("alice")
        bench.provider.answerCalls(ok)
        bench.provider.holdCalls()
        let answers = bench.call()

        bench.signOut()
        if let next { bench.signIn(next) }
        bench.release()

        #expect(answers.words == ["notSignedIn"])
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
        let answers = bench.call()
        #expect(answers.words == ["200"])

        bench.signOut()
        bench.signIn("bob")

        #expect(stream.take(atMost: 100) { $0.count } == nil)
        #expect(stream.breach.map { SessionError(ofCall: $0).kind } == .notSignedIn)
    }

    @Test func `a call that waits for a renewal is not made as another user`() {
        let bench = OwnerBench(tokenLife: .seconds(60), rules: RenewalRules(mode: .handler)).start().signIn("alice")
        bench.pass(.seconds(61))
        _ = bench.register()
        let answers = bench.call("/v2/user/:userId")
        #expect(answers.words.isEmpty)

        bench.identify("ext-bob", answering: .signInToken(SharedSecret(text: "bob")))

        #expect(bench.snapshot().facts.userId == "bob")
        #expect(answers.words == ["notSignedIn"])
        #expect(bench.provider.apiCalls.isEmpty)
    }

    @Test func `a call that was made for one user is not made again as another user`() {
        // The fake admits paths by prefix, as social.plus's policy admits `/api/v3/me` for the signed-in user.
        let bench = OwnerBench().start().signIn("alice")
        bench.provider.hold()
        bench.identify("ext-al", answering: .signInToken(SharedSecret(text: "al")))
        bench.provider.answerCalls(unauthorized)
        let answers = bench.call()
        #expect(bench.snapshot().facts.userId == "alice")

        bench.release()

        #expect(bench.snapshot().facts.userId == "al")
        #expect(bench.provider.apiCalls.count == 1, "made for alice, made again as al")
        // A caller that is served as al must get no part of the answer for alice.
        #expect(answers.words == ["notSignedIn"])
    }

    @Test func `a call that waits for the first sign-in is made as that user`() {
        let bench = OwnerBench().start()
        bench.provider.hold()
        bench.signIn("alice")
        let answers = bench.call("/v2/user/:userId")
        bench.release()

        #expect(answers.words == ["200"])
    }

    @Test func `a call whose user is found to be banned meanwhile gets sessionTerminated`() {
        let bench = OwnerBench().start().signIn("alice")
        bench.provider.holdCalls()
        let answers = bench.call()
        bench.provider.failRenewals(.terminated(code: "400312", message: "Banned"))
        bench.renew()
        bench.release()

        #expect(answers.words == ["sessionTerminated"])
    }
}

extension ApiRequest {
    fileprivate static func upload(_ body: BodyStream) -> ApiRequest {
        var request = ApiRequest(method: "PUT", path: "/v2/user/alice")
        request.bodyTransfer = .streamed(body)
        return request
    }
}
