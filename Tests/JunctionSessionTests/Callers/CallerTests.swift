import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// What the owner does for one caller but not for another: rights, budgets, and the words of handlers.
struct CallerTests {
    private let path = ApiRequest(method: "GET", path: "/v2/user/alice")

    private func call(in bench: OwnerBench, while isAllowed: @escaping @Sendable () -> Bool) -> SessionError.Kind? {
        let answers = Box<Result<ApiAnswer, SessionError>>()
        bench.on { [path] in $0.call(path, by: 7, while: isAllowed) { answers.put($0) } }
        guard case .failure(let refusal)? = answers.all.first else { return nil }
        return refusal.kind
    }

    @Test func `a call and its retry are refused when the right is withdrawn`() {
        let bench = OwnerBench().start().signIn()
        #expect(call(in: bench, while: { false }) == .permissionDenied)
        #expect(bench.provider.apiCalls.isEmpty)

        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        let isFirst: @Sendable () -> Bool = { [provider = bench.provider] in provider.apiCalls.isEmpty }

        #expect(call(in: bench, while: isFirst) == .permissionDenied)
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
        let (handlers, questions) = (Box<HandlerID>(), Box<RenewalQuestion>())
        bench.on { handlers.put($0.register(handlerOf: 1_000) { questions.put($0) }) }
        let answers = Box<Result<Snapshot, SessionError>>()
        bench.on { $0.signIn(.registration(userId: "alice", token: nil), by: 1_000) { answers.put($0) } }

        bench.on { $0.answered(handlers.all[0], questions.all[0].attempt, nil, saying: words) }

        guard case .failure(let refusal)? = answers.all.first else {
            Issue.record("signed in")
            return
        }
        let said = heard.map { "; the last one said: \($0)" } ?? "; the last one could not get a token"
        #expect(refusal.message.contains("no session handler could help (1 was asked)\(said). See why"))
    }

    @Test func `a handler's words beside an answer do not reach the caller`() {
        let bench = OwnerBench().start()
        let (handlers, questions) = (Box<HandlerID>(), Box<RenewalQuestion>())
        bench.on { handlers.put($0.register(handlerOf: 1_000) { questions.put($0) }) }
        let states = Box<SessionState>()
        bench.on {
            $0.signIn(.registration(userId: "alice", token: nil), by: 1_000) {
                if case .success(let snapshot) = $0 { states.put(snapshot.facts.state) }
            }
        }
        let answer = RenewalAnswer.authToken(SharedSecret(text: "for alice"))

        bench.on { $0.answered(handlers.all[0], questions.all[0].attempt, answer, saying: "Here it is") }

        #expect(states.all == [.established])
    }
}
