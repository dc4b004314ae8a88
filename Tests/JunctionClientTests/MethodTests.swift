import JunctionClient
import JunctionClientTesting
import Synchronization
import Testing

/// The bytes that a method sends, and the value that it makes of the answer. The conformance suite has further methods.
struct MethodTests {
    /// Calls a daemon that answers one request with `result`. Returns the answer and the request.
    private func exchange<Answer>(
        answering result: String,
        _ ask: (JunctionClient) async throws -> Answer
    ) async throws -> (request: String, answer: Answer) {
        let seen = Mutex("")
        let daemon = ScriptedDaemon({ peer in
            guard let line = peer.line() else { return }
            seen.withLock { $0 = line }
            peer.send(#"{"jsonrpc":"2.0","id":1,"result":\#(result)}"#)
            _ = peer.line()
        })
        let answer = try await ask(daemon.client)
        return (seen.withLock { $0 }, answer)
    }

    @Test func `a sign-in by device returns the codes`() async throws {
        let establishing = snapshotJSON(state: "establishing").replacing(
            #""termination":null"#,
            with: #"""
                "termination":null,"authorization":{"userCode":"WDJB-MJHT","verificationUri":"https://id.example/device",\#
                "verificationUriComplete":null,"expiresAt":"2026-11-21T06:35:34Z"}
                """#
        )
        let (request, snapshot) = try await exchange(answering: establishing) { try await $0.signIn(.device) }

        #expect(request == #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"device"}}"#)
        #expect(snapshot.state == .establishing)
        #expect(snapshot.authorization?.userCode == SecretText("WDJB-MJHT"))
        #expect(snapshot.authorization?.verificationUri == "https://id.example/device")
        #expect(snapshot.authorization?.verificationUriComplete == nil)
        #expect(snapshot.authorization?.expiresAt.description == "2026-11-21T06:35:34Z")
    }

    @Test func `authorizationPage returns the address of a page`() async throws {
        let (request, page) = try await exchange(answering: #"{"url":"https://id.example/authorize?x=1"}"#) {
            try await $0.authorizationPage(
                redirectUri: "http://127.0.0.1:4711/callback",
                state: "s",
                codeChallenge: "c"
            )
        }

        #expect(
            request == #"""
                {"jsonrpc":"2.0","id":1,"method":"session.authorizationPage",\#
                "params":{"redirectUri":"http://127.0.0.1:4711/callback","state":"s","codeChallenge":"c"}}
                """#
        )
        #expect(page == "https://id.example/authorize?x=1")
    }

    @Test(arguments: [
        (Duration.zero, "{}"), (.seconds(90), #"{"minimumValidity":90}"#),
        (.milliseconds(1500), #"{"minimumValidity":1.5}"#),
    ])
    func `accessToken sends the requested validity`(validity: Duration, params: String) async throws {
        let (request, token) = try await exchange(
            answering: """
                {"accessToken":"at-\\u00e9","tokenType":"Bearer","expiresAt":"2026-11-21T07:20:34Z","userId":"user-1"}
                """
        ) { try await $0.accessToken(minimumValidity: validity) }

        #expect(request == #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":\#(params)}"#)
        #expect(token.accessToken.revealed() == "at-é")
        #expect(token.expiresAt == Timestamp("2026-11-21T07:20:34Z"))
        #expect(token.userId == "user-1")
    }

    @Test func `a printed access token does not show the token`() {
        let token = AccessToken(
            accessToken: SecretText("hush"),
            expiresAt: Timestamp(milliseconds: 0),
            userId: "user-1"
        )
        var dumped = ""
        dump(token, to: &dumped)

        #expect(!"\(token)".contains("hush"))
        #expect(!String(reflecting: token).contains("hush"))
        #expect(!dumped.contains("hush"))
    }

    @Test func `the header names of an answer are in lower case`() async throws {
        let result = #"{"status":404,"headers":{"X-A":"1"},"bodyBase64":"/w=="}"#

        let (_, answer) = try await exchange(answering: result) { try await $0.call(ApiRequest(path: "/")) }

        #expect(answer.headers["x-a"] == "1")
    }

    @Test func `diagnose returns the checks`() async throws {
        let (request, diagnosis) = try await exchange(
            answering: #"{"checks":[{"name":"clock","verdict":"problem","detail":"slow","remedy":"set it"}]}"#
        ) { try await $0.diagnose() }

        #expect(request == #"{"jsonrpc":"2.0","id":1,"method":"daemon.diagnose","params":{}}"#)
        #expect(diagnosis.checks == [.init(name: "clock", verdict: .problem, detail: "slow", remedy: "set it")])
    }
}
