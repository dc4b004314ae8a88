import JunctionClient
import JunctionClientTesting
import Synchronization
import Testing

/// The bytes that each method sends, and the value that it makes of the answer.
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

    @Test func `status asks for the snapshot and ignores unknown members`() async throws {
        let (request, snapshot) = try await exchange(answering: snapshotJSON()) { try await $0.status() }

        #expect(request == #"{"jsonrpc":"2.0","id":1,"method":"session.status","params":{}}"#)
        #expect(snapshot.revision == 17)
        #expect(snapshot.state == .established)
        #expect(snapshot.isSignedIn)
        #expect(snapshot.flags.last == Snapshot.Flag(rawValue: "shiny"))
        #expect(snapshot.userId == "user-1")
        #expect(snapshot.accessToken?.expiresAt.description == "2026-11-21T07:20:34Z")
        #expect(snapshot.renewal.phase == .scheduled)
        #expect(snapshot.storage.durable)
    }

    @Test func `signIn sends the credential`() async throws {
        let (request, snapshot) = try await exchange(answering: snapshotJSON()) {
            try await $0.signIn(.signInToken(SecretText("to\"ken")))
        }

        #expect(
            request == #"""
                {"jsonrpc":"2.0","id":1,"method":"session.signIn",\#
                "params":{"scheme":"signInToken","token":"to\"ken"}}
                """#
        )
        #expect(snapshot.externalUserId == "joe")
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

    @Test func `signOut reports whether it is durable`() async throws {
        let (request, snapshot) = try await exchange(
            answering: snapshotJSON(state: "notLoggedIn", durable: false)
        ) { try await $0.signOut() }

        #expect(request == #"{"jsonrpc":"2.0","id":1,"method":"session.signOut","params":{}}"#)
        #expect(snapshot.state == .notLoggedIn)
        #expect(!snapshot.storage.durable)
    }

    @Test(arguments: [(String?.some("user-1"), #""user-1""#), (nil, "null")])
    func `reconcile sends the expected user or null`(user: String?, written: String) async throws {
        let (request, result) = try await exchange(
            answering: #"{"action":"switch","snapshot":\#(snapshotJSON())}"#
        ) { try await $0.reconcile(userId: user) }

        #expect(
            request == #"{"jsonrpc":"2.0","id":1,"method":"session.reconcile","params":{"userId":\#(written)}}"#
        )
        #expect(result.action == .switch)
    }

    @Test func `renew returns the new state`() async throws {
        let (request, result) = try await exchange(answering: snapshotJSON(revision: 18)) { try await $0.renew() }

        #expect(request == #"{"jsonrpc":"2.0","id":1,"method":"session.renew","params":{}}"#)
        #expect(result.snapshot?.revision == 18)
        #expect(result.state == .established && result.accessToken == result.snapshot?.accessToken)
    }

    @Test func `renew without the capability status returns the state and the times of the token`() async throws {
        let (_, result) = try await exchange(
            answering: """
                {"state":"established","accessToken":{"issuedAt":"2026-11-21T06:20:34Z",\
                "expiresAt":"2026-11-21T07:20:34Z","generation":4}}
                """
        ) { try await $0.renew() }

        #expect(result.snapshot == nil)
        #expect(result.state == .established && result.accessToken?.generation == 4)
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

    @Test func `an API call returns the answer with any status`() async throws {
        let request = ApiRequest(
            method: "POST",
            path: "/v2/user/user-1",
            query: ["a": "b c"],
            headers: ["accept": "text/plain"],
            body: Array("hi".utf8)
        )
        let (sent, answer) = try await exchange(
            answering: #"{"status":404,"headers":{"X-A":"1"},"bodyBase64":"/w=="}"#
        ) { try await $0.call(request) }

        #expect(
            sent == """
                {"jsonrpc":"2.0","id":1,"method":"api.request","params":{"method":"POST","path":"/v2/user/user-1",\
                "query":{"a":"b c"},"headers":{"accept":"text/plain"},"body":"hi"}}
                """
        )
        #expect(answer.status == 404)
        #expect(answer.headers["x-a"] == "1")
        #expect(answer.body == [0xFF])
    }

    @Test func `info, metrics and diagnose are decoded`() async throws {
        let (infoRequest, info) = try await exchange(
            answering: """
                {"name":"junctiond","version":"0.1.0","protocolVersion":1,"provider":"junction","pid":7,\
                "startedAt":"2026-11-21T06:20:34Z","uptime":3.5}
                """
        ) { try await $0.info() }
        let (metricsRequest, metrics) = try await exchange(answering: #"{"text":"up 1\n"}"#) { try await $0.metrics() }
        let (diagnoseRequest, diagnosis) = try await exchange(
            answering: #"{"checks":[{"name":"clock","verdict":"problem","detail":"slow","remedy":"set it"}]}"#
        ) { try await $0.diagnose() }

        #expect(infoRequest == #"{"jsonrpc":"2.0","id":1,"method":"daemon.info","params":{}}"#)
        #expect(info.uptime == 3.5)
        #expect(metricsRequest == #"{"jsonrpc":"2.0","id":1,"method":"daemon.metrics","params":{}}"#)
        #expect(metrics == "up 1\n")
        #expect(diagnoseRequest == #"{"jsonrpc":"2.0","id":1,"method":"daemon.diagnose","params":{}}"#)
        #expect(diagnosis.checks == [.init(name: "clock", verdict: .problem, detail: "slow", remedy: "set it")])
    }
}
