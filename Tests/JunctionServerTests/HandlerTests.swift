import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionTesting
import NIOCore
import Testing

/// Apps that are asked when the session is to be renewed, over the socket.
struct HandlerTests {
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

    /// The token is old enough for a renewal, whatever the machine has drawn, and young enough to be served.
    private func becomeDue() throws {
        try server.pass(.seconds(3_000))
    }

    /// The renewal that is told next with this phase.
    private func renewal(_ phase: String) throws -> JSONValue {
        while true {
            let snapshot = try #require(try watcher.hearValue()["params"]?["snapshot"])
            if let renewal = snapshot["renewal"], renewal["phase"]?.string == phase { return renewal }
        }
    }

    /// Waits until a renewal has begun and its session is scheduled again.
    private func renewalEnds() throws {
        _ = try renewal("inFlight")
        _ = try renewal("scheduled")
    }

    // MARK: Asking

    @Test func `a renewal that is due is asked for, and goes on with the answer`() throws {
        let app = try register()

        try becomeDue()

        let question = try app.hearQuestion()
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
    func `what the app's server made reaches the provider`(answer: String, given: String) throws {
        let app = try register()
        try becomeDue()

        try app.answer(try app.hearQuestion(), answer)

        try renewalEnds()
        #expect(server.provider.renewalAnswers.map(\.words) == [given])
    }

    @Test func `a renewal waits for a handler, and begins when one registers`() throws {
        try becomeDue()
        _ = try renewal("waitingForHandler")

        let app = try register()

        try app.answer(try app.hearQuestion(), #"{"action":"renew"}"#)
        _ = try renewal("scheduled")
    }

    @Test func `a sign-in without a token asks for the missing one`() throws {
        let server = try TestServer()
        let app = try HandlerApp(server)
        try app.register()
        let client = try server.connect()
        try client.say(
            #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"registration","userId":"alice"}}"#
        )

        let question = try app.hearQuestion()
        #expect(question.params["reason"]?.string == "missing")
        #expect(question.params["userId"]?.string == "alice")
        #expect(question.params["expiresAt"]?.isNull == true)
        try app.answer(question, #"{"action":"renewWithAuthToken","authToken":"jwt"}"#)

        let snapshot = try #require(try client.hearValue()["result"])
        #expect(snapshot.state == "established")
        #expect(snapshot["scheme"]?.string == "registration")
    }

    @Test func `who asks for a renewal gets what the handler made of it`() throws {
        let app = try register()
        let client = try server.connect()
        try client.say(#"{"jsonrpc":"2.0","id":1,"method":"session.renew"}"#)

        let question = try app.hearQuestion()
        #expect(question.params["reason"]?.string == "requested")
        try app.answer(question, #"{"action":"renew"}"#)

        #expect(try client.hearValue()["result"]?["accessToken"]?["generation"]?.integer == 2)
    }

    // MARK: One after the other

    /// The round is over and nobody could; ten minutes and a bit later the next one begins.
    private func nextRound() throws {
        _ = try renewal("postponed")
        try server.pass(.seconds(661))
    }

    @Test func `a user's latest handler is asked first, and the others in the rounds that follow`() throws {
        let apps = try (0..<3).map { _ in try register() }
        try becomeDue()

        try apps[2].answer(try apps[2].hearQuestion(), #"{"action":"unableToRetrieveAuthToken"}"#)
        try nextRound()
        try apps[1].answer(try apps[1].hearQuestion(), error: #"{"code":1,"message":"no network"}"#)
        try nextRound()
        try apps[0].answer(try apps[0].hearQuestion(), #"{"action":"renew"}"#)

        try renewalEnds()
        #expect(server.provider.renewalCalls == 1)
    }

    @Test func `a handler that dies while it is asked is unable`() throws {
        let next = try register()
        do {
            let app = try register()
            try becomeDue()
            _ = try app.hearQuestion()
        }
        try nextRound()

        try next.answer(try next.hearQuestion(), #"{"action":"renew"}"#)

        try renewalEnds()
        #expect(try server.counters.handlers == 1)
    }

    @Test func `a handler that sends no more is unable`() throws {
        let next = try register()
        let app = try register()
        try becomeDue()
        _ = try app.hearQuestion()

        app.client.finish()
        try nextRound()

        _ = try next.hearQuestion()
        #expect(try app.client.hear() == nil)
    }

    @Test func `a handler that hangs is passed over at its deadline, and its late answer is dropped`() throws {
        let next = try register()
        let app = try register()
        try becomeDue()
        let late = try app.hearQuestion()
        try server.pass(.seconds(5))
        try nextRound()
        let question = try next.hearQuestion()

        try app.answer(late, #"{"action":"renewWithAuthToken","authToken":"late"}"#)
        #expect(try app.client.result(of: "session.status")["renewal"]?["phase"]?.string == "inFlight")
        #expect(server.provider.renewalCalls == 0)

        try next.answer(question, #"{"action":"renewWithAuthToken","authToken":"fresh"}"#)
        try renewalEnds()
        #expect(server.provider.renewalAnswers.map(\.words) == ["authToken fresh"])
    }

    @Test func `a token for another user is refused, and the user stays`() throws {
        server.provider.failRenewals(.answerRefused("It is for mallory"), .answerRefused("It is for mallory"))
        let apps = [try register(), try register()]
        try becomeDue()

        for app in apps.reversed() {
            try app.answer(try app.hearQuestion(), #"{"action":"renewWithAuthToken","authToken":"mallory's"}"#)
            try nextRound()
        }

        #expect(try apps[0].client.result(of: "session.status")["userId"]?.string == "alice")
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
    func `unable, an error and nonsense postpone for ten minutes, and everybody sees until when`(
        answer: String
    ) throws {
        let app = try register()
        try becomeDue()
        let question = try app.hearQuestion()

        try app.client.say(#"{"jsonrpc":"2.0","id":\#(question.id),\#(answer)}"#)

        let renewal = try renewal("postponed")
        let now = Timestamp(milliseconds: server.clock.now().wall.milliseconds)
        let notBefore = try #require(renewal["notBefore"]?.string.flatMap(Timestamp.init))
        #expect((600_000...660_000).contains(notBefore.milliseconds - now.milliseconds))
        #expect(server.provider.renewalCalls == 0)
        #expect(try app.client.result(of: "session.status").state == "established")
    }

    @Test func `a handler that registers again does not pass a postponement, and session renew does`() throws {
        let app = try register()
        try becomeDue()
        try app.answer(try app.hearQuestion(), #"{"action":"unableToRetrieveAuthToken"}"#)
        _ = try renewal("postponed")

        _ = try app.client.result(of: "handler.unregister")
        let again = try register()
        try server.pass(.seconds(599))
        #expect(try again.client.result(of: "session.status")["renewal"]?["phase"]?.string == "postponed")

        try watcher.say(#"{"jsonrpc":"2.0","id":1,"method":"session.renew"}"#)
        #expect(try again.hearQuestion().params["reason"]?.string == "requested")
    }

    // MARK: What harms nobody

    @Test func `a second answer is dropped`() throws {
        let app = try register()
        try becomeDue()
        let question = try app.hearQuestion()

        try app.answer(question, #"{"action":"renew"}"#)
        try app.answer(question, #"{"action":"renewWithAuthToken","authToken":"second"}"#)

        try renewalEnds()
        _ = try app.client.result(of: "session.status")
        #expect(server.provider.renewalAnswers.map(\.words) == ["renew"])
    }

    @Test func `an answer after the sign-out signs nobody in`() throws {
        let app = try register()
        try becomeDue()
        let question = try app.hearQuestion()
        _ = try app.client.result(of: "session.signOut")

        try app.answer(question, #"{"action":"renewWithAuthToken","authToken":"fresh"}"#)

        #expect(try app.client.result(of: "session.status").state == "notLoggedIn")
        #expect(server.provider.renewalCalls == 0)
    }

    @Test func `another connection cannot answer the question`() throws {
        let app = try register()
        try becomeDue()
        let question = try app.hearQuestion()
        let other = try HandlerApp(server)

        try other.answer(question, #"{"action":"renewWithAuthToken","authToken":"mallory's"}"#)
        _ = try other.client.result(of: "session.status")
        try app.answer(question, #"{"action":"renew"}"#)

        try renewalEnds()
        #expect(server.provider.renewalAnswers.map(\.words) == ["renew"])
    }

    @Test(arguments: ["", #"{"jsonrpc":"2.0","id":9,"method":"handler.unregister"}"# + "\n"])
    func `an answer that is followed at once by the end of the duty still counts`(farewell: String) throws {
        let app = try register()
        try becomeDue()
        let question = try app.hearQuestion()

        try app.client.send(#"{"jsonrpc":"2.0","id":\#(question.id),"result":{"action":"renew"}}"# + "\n" + farewell)
        app.client.finish()

        try renewalEnds()
        #expect(server.provider.renewalCalls == 1)
    }

    // MARK: Duty

    @Test func `registering twice is being one handler`() throws {
        let app = try register()
        try app.register()
        #expect(try server.counters.handlers == 1)
        try becomeDue()

        try app.answer(try app.hearQuestion(), #"{"action":"unableToRetrieveAuthToken"}"#)

        _ = try renewal("postponed")
    }

    @Test func `who unregisters is not asked any more, and may do so twice`() throws {
        let other = try register()
        let app = try register()
        try becomeDue()
        _ = try app.hearQuestion()

        for _ in 0..<2 { #expect(try app.client.result(of: "handler.unregister").isNull) }
        try nextRound()

        _ = try other.hearQuestion()
        #expect(try server.counters.handlers == 1)
    }

    @Test func `the end of the daemon is not taken for unable`() throws {
        let app = try register()
        try becomeDue()
        _ = try app.hearQuestion()

        try server.loop.flatSubmit { [server = server.server] in server.drain() }.wait()

        #expect(try app.client.hear() == nil)
        let renewal = try server.onLoop { [owner = server.owner] in
            owner.assumeIsolated { $0.snapshot.facts.renewal }
        }
        #expect(renewal.phase == .inFlight)
    }
}

/// Who may be a session handler.
@Suite(.enabled(if: OrdinaryCaller.isPossible, "Only root can connect as somebody else"))
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

    @Test func `a new policy ends the duty of those whom it no longer allows`() throws {
        let policy = AccessPolicy(rules: [AccessRule(allow: [.handle])], daemonUser: 0)
        let server = try TestServer(policy, mode: 0o666)
        let client = try OrdinaryCaller().connect(server.path)
        _ = try client.result(of: "handler.register")

        try server.onLoop { [server = server.server] in
            server.reload(policy: AccessPolicy(rules: [], daemonUser: 0), exposesApi: true)
        }

        #expect(try server.counters.handlers == 0)
    }
}

/// A local app that answers what the daemon asks.
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

    func hearQuestion() throws -> Question {
        let message = try client.hearValue()
        #expect(message["method"]?.string == "session.willRenewAccessToken", "\(message.text)")
        return Question(id: try #require(message["id"]).text, params: try #require(message["params"]))
    }

    func answer(_ question: Question, _ result: String) throws {
        try client.say(#"{"jsonrpc":"2.0","id":\#(question.id),"result":\#(result)}"#)
    }

    func answer(_ question: Question, error: String) throws {
        try client.say(#"{"jsonrpc":"2.0","id":\#(question.id),"error":\#(error)}"#)
    }
}

extension JunctionSession.RenewalAnswer {
    /// What was given, secrets included, for tests to compare.
    fileprivate var words: String {
        switch self {
        case .renew: "renew"
        case .authToken(let token): "authToken \(token.text)"
        case .signature(let signature, let sequence): "signature \(signature.text) \(sequence)"
        }
    }
}
