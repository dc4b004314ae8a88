import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionTesting
import NIOCore
import Testing

/// Apps that the daemon asks about renewals, over the socket.
struct HandlerSocketTests {
    private let server: TestServer
    private let watcher: TestClient

    init() throws {
        server = try TestServer(rules: RenewalRules(mode: .handler, handlerTimeout: .seconds(5)))
        watcher = try server.connectSignedIn()
        _ = try watcher.result(of: "session.subscribe")
    }

    private func register() throws -> HandlerApp {
        let app = try HandlerApp(server)
        try app.register()
        return app
    }

    /// Makes the token old enough for a renewal at any random time, and young enough to be served.
    private func becomeDue() throws {
        try server.pass(.seconds(3_000))
    }

    /// Returns the renewal of the next notification with this phase.
    private func renewal(_ phase: String) throws -> JSONValue {
        while true {
            let snapshot = try #require(try watcher.receiveValue()["params"]?["snapshot"])
            if let renewal = snapshot["renewal"], renewal["phase"]?.string == phase { return renewal }
        }
    }

    /// Waits until a renewal has begun and the next one is scheduled.
    private func renewalEnds() throws {
        _ = try renewal("inFlight")
        _ = try renewal("scheduled")
    }

    // MARK: Asking

    @Test func `a handler is asked about a due renewal, and its answer is used`() throws {
        let app = try register()

        try becomeDue()

        let question = try app.receiveQuestion()
        #expect(question.params["reason"]?.string == "expiring")
        #expect(question.params["userId"]?.string == "alice")
        #expect(question.params["renewalId"]?.string.flatMap(UInt32.init) != nil)
        #expect(question.params["expiresAt"]?.string == "2026-11-21T01:00:00Z")
        #expect(question.params["deadline"]?.string == "2026-11-21T00:50:05Z")
        try app.answer(question, #"{"action":"renew"}"#)
        try renewalEnds()
        #expect(server.provider.renewalAnswers.map(\.words) == ["renew"])
    }

    @Test(arguments: [
        (#"{"action":"renewWithAuthToken","authToken":"fr\u0065sh"}"#, "authToken fresh"),
        (
            #"{"action":"renewWithSignature","signature":"c2ln","sequence":"18446744073709551615"}"#,
            "signature c2ln 18446744073709551615"
        ),
    ])
    func `a token or signature of the app's server reaches the provider`(answer: String, given: String) throws {
        let app = try register()
        try becomeDue()

        try app.answer(try app.receiveQuestion(), answer)

        try renewalEnds()
        #expect(server.provider.renewalAnswers.map(\.words) == [given])
    }

    @Test func `a sign-in without a token asks the handler for it`() throws {
        let server = try TestServer()
        let app = try HandlerApp(server)
        try app.register()
        let client = try server.connect()
        try client.sendLine(
            #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"registration","userId":"alice"}}"#
        )

        let question = try app.receiveQuestion()
        #expect(question.params["reason"]?.string == "missing")
        #expect(question.params["userId"]?.string == "alice")
        #expect(question.params["expiresAt"]?.isNull == true)
        try app.answer(question, #"{"action":"renewWithAuthToken","authToken":"jwt"}"#)

        let snapshot = try #require(try client.receiveValue()["result"])
        #expect(snapshot.state == "established")
        #expect(snapshot["scheme"]?.string == "registration")
    }

    @Test func `session.renew returns the result of the handler's renewal`() throws {
        let app = try register()
        let client = try server.connect()
        try client.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"session.renew"}"#)

        let question = try app.receiveQuestion()
        #expect(question.params["reason"]?.string == "requested")
        try app.answer(question, #"{"action":"renew"}"#)

        #expect(try client.receiveValue()["result"]?["accessToken"]?["generation"]?.integer == 2)
    }

    // MARK: The order of handlers

    /// Waits until a round has ended without a result. A little more than ten minutes later, the next round begins.
    private func nextRound() throws {
        _ = try renewal("postponed")
        try server.pass(.seconds(661))
    }

    @Test func `a handler that does not answer is skipped at its deadline, and its late answer is dropped`() throws {
        let next = try register()
        let app = try register()
        try becomeDue()
        let late = try app.receiveQuestion()
        try server.pass(.seconds(5))
        try nextRound()
        let question = try next.receiveQuestion()

        try app.answer(late, #"{"action":"renewWithAuthToken","authToken":"late"}"#)
        #expect(try app.client.result(of: "session.status")["renewal"]?["phase"]?.string == "inFlight")
        #expect(server.provider.renewalCalls == 0)

        try next.answer(question, #"{"action":"renewWithAuthToken","authToken":"fresh"}"#)
        try renewalEnds()
        #expect(server.provider.renewalAnswers.map(\.words) == ["authToken fresh"])
    }

    // MARK: Postponement

    @Test(arguments: [
        #""result":{"action":"unableToRetrieveAuthToken"}"#,
        #""result":{"action":"dance"}"#,
        #""result":{"action":"renewWithAuthToken"}"#,
        #""result":{"action":"renewWithAuthToken","authToken":7}"#,
        #""result":{"action":"renewWithSignature","signature":"c2ln","sequence":"-1"}"#,
        #""result":{"action":"renewWithSignature","signature":"c2ln","sequence":"18446744073709551616"}"#,
        #""result":"renew""#,
        #""result":null"#,
        #""error":{"code":-32601,"message":"Method not found"}"#,
    ])
    func `unable, an error and an invalid answer postpone for ten minutes, and every caller sees until when`(
        answer: String
    ) throws {
        let app = try register()
        try becomeDue()
        let question = try app.receiveQuestion()

        try app.client.sendLine(#"{"jsonrpc":"2.0","id":\#(question.id),\#(answer)}"#)

        let renewal = try renewal("postponed")
        let now = Timestamp(milliseconds: server.clock.now().wall.milliseconds)
        let notBefore = try #require(renewal["notBefore"]?.string.flatMap(Timestamp.init))
        #expect((600_000...660_000).contains(notBefore.milliseconds - now.milliseconds))
        #expect(server.provider.renewalCalls == 0)
        #expect(try app.client.result(of: "session.status").state == "established")
    }

    // MARK: Ignored answers

    @Test func `another connection cannot answer the question`() throws {
        let app = try register()
        try becomeDue()
        let question = try app.receiveQuestion()
        let other = try HandlerApp(server)

        try other.answer(question, #"{"action":"renewWithAuthToken","authToken":"mallory's"}"#)
        _ = try other.client.result(of: "session.status")
        try app.answer(question, #"{"action":"renew"}"#)

        try renewalEnds()
        #expect(server.provider.renewalAnswers.map(\.words) == ["renew"])
    }

    @Test(arguments: ["", #"{"jsonrpc":"2.0","id":9,"method":"handler.unregister"}"# + "\n"])
    func `an answer that is followed at once by the end of the registration counts`(farewell: String) throws {
        let app = try register()
        try becomeDue()
        let question = try app.receiveQuestion()

        try app.client.send(#"{"jsonrpc":"2.0","id":\#(question.id),"result":{"action":"renew"}}"# + "\n" + farewell)
        app.client.finish()

        try renewalEnds()
        #expect(server.provider.renewalCalls == 1)
    }

    // MARK: Duty

    @Test func `registering twice makes one handler`() throws {
        let app = try register()
        try app.register()
        #expect(try server.counters.handlers == 1)
        try becomeDue()

        try app.answer(try app.receiveQuestion(), #"{"action":"unableToRetrieveAuthToken"}"#)

        _ = try renewal("postponed")
    }

    @Test func `a handler that unregisters is not asked any more, and may unregister twice`() throws {
        let other = try register()
        let app = try register()
        try becomeDue()
        _ = try app.receiveQuestion()

        for _ in 0..<2 { #expect(try app.client.result(of: "handler.unregister").isNull) }
        try nextRound()

        _ = try other.receiveQuestion()
        #expect(try server.counters.handlers == 1)
    }

    @Test func `the end of the daemon does not make a handler count as unable`() throws {
        let app = try register()
        try becomeDue()
        _ = try app.receiveQuestion()

        try server.loop.flatSubmit { [server = server.server] in server.drain() }.wait()

        #expect(try app.client.receiveLine() == nil)
        let renewal = try server.onLoop { [owner = server.owner] in
            owner.assumeIsolated { $0.snapshot.facts.renewal }
        }
        #expect(renewal.phase == .inFlight)
    }
}

/// Which callers may be session handlers.
@Suite(.needsRoot)
struct HandlerAccessTests {
    @Test(arguments: ["handler.register", "handler.unregister"])
    func `a caller without the capability is refused`(method: String) throws {
        let policy = AccessPolicy(rules: [AccessRule(allow: [.status, .token])], daemonUser: 0)
        let server = try TestServer(policy, mode: 0o666)

        let error = try OrdinaryCaller().connect(server.path).error(of: method)

        #expect(error.code == 1007)
        #expect(error["data"]?["capability"]?.string == "handle")
        #expect(try server.counters.handlers == 0)
    }

    @Test func `a new policy ends the registration of handlers that it does not allow`() throws {
        let policy = AccessPolicy(rules: [AccessRule(allow: [.handle])], daemonUser: 0)
        let server = try TestServer(policy, mode: 0o666)
        let client = try OrdinaryCaller().connect(server.path)
        _ = try client.result(of: "handler.register")

        try server.reload(AccessPolicy(rules: [], daemonUser: 0))

        #expect(try server.counters.handlers == 0)
    }
}

/// A local app that answers the daemon's questions.
private struct HandlerApp {
    let client: TestClient

    struct Question {
        let id: String
        let params: JSONValue
    }

    init(_ server: TestServer) throws {
        client = try server.connect()
    }

    func register() throws {
        #expect(try client.result(of: "handler.register")["registered"]?.text == "true")
    }

    func receiveQuestion() throws -> Question {
        let message = try client.receiveValue()
        #expect(message["method"]?.string == "session.willRenewAccessToken", "\(message.text)")
        return Question(id: try #require(message["id"]).text, params: try #require(message["params"]))
    }

    func answer(_ question: Question, _ result: String) throws {
        try client.sendLine(#"{"jsonrpc":"2.0","id":\#(question.id),"result":\#(result)}"#)
    }
}

extension JunctionSession.RenewalAnswer {
    /// The answer with its secrets, for comparison in tests.
    fileprivate var words: String {
        switch self {
        case .renew: "renew"
        case .authToken(let token): "authToken \(token.text)"
        case .signature(let signature, let sequence): "signature \(signature.text) \(sequence)"
        }
    }
}
