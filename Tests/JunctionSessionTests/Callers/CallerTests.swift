import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// What the owner does for one caller but not for another: rights, budgets, and the words of handlers.
struct CallerTests {
    private let path = ApiRequest(method: "GET", path: "/v2/user/alice")

    @Test func `a call and its retry are refused when the right is withdrawn`() {
        let bench = OwnerBench().start().signIn()
        #expect(bench.call(path, by: 7, while: { false }).error?.kind == .permissionDenied)
        #expect(bench.provider.apiCalls.isEmpty)

        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        let isFirst: @Sendable () -> Bool = { [provider = bench.provider] in provider.apiCalls.isEmpty }

        #expect(bench.call(path, by: 7, while: isFirst).error?.kind == .permissionDenied)
        #expect(bench.provider.renewalCalls == 1)
        #expect(bench.provider.apiCalls.count == 1)
    }

    @Test func `a request outside the session is charged to the caller that caused it`() {
        let bench = OwnerBench(callsPerMinute: 1).start()
        bench.owner.assumeIsolated { owner in
            #expect(owner.providerCallBegan(by: 1) == nil)
            #expect(owner.providerCallBegan(by: 1)?.kind == .busy)
            #expect(owner.providerCallBegan(by: 2) == nil)
        }
    }

    @Test(arguments: [
        (nil, nil),
        ("The token server is away", "The token server is away"),
        ("The token server is away\nat line 7", "The token server is away"),
        ("\u{1B}[31mAway\u{7}", "[31mAway"),
        ("\u{7}\nat line 7", nil),
        (String(repeating: "x", count: 201), String(repeating: "x", count: 200)),
    ])
    func `a caller that signs in gets the first line of the handler's own words`(words: String?, heard: String?) {
        let bench = OwnerBench().start()
        let handler = bench.register()
        let answers = bench.signIn(.registration(userId: "alice", token: nil))

        handler.answer(nil, saying: words)

        let said = heard.map { "; the last one said: \($0)" } ?? "; the last one could not get a token"
        let message = "no session handler could help (1 was asked)\(said). See why"
        #expect(answers.error?.message.contains(message) == true)
    }

    @Test func `a handler's words beside an answer do not reach the caller`() {
        let bench = OwnerBench().start()
        let handler = bench.register()
        let answers = bench.signIn(.registration(userId: "alice", token: nil))

        handler.answer(.authToken(SharedSecret(text: "for alice")), saying: "Here it is")

        #expect(answers.first?.facts.state == .established)
    }
}
