import Dispatch
import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionTesting
import NIOCore
import Testing

/// What a reload takes away from connections that are open: nobody goes on with a right that is gone, and nobody is left
/// waiting for what will never come.
@Suite(.enabled(if: OrdinaryCaller.isPossible, "Only root can connect as somebody else"))
struct WithdrawnRightTests {
    private let caller = OrdinaryCaller()

    /// The owner of the daemon is signed in; the caller may do what the rule says.
    private func serve(
        _ capabilities: Capability...,
        rules: RenewalRules = RenewalRules(),
        patience: ServerSettings.Patience = .init(),
        isSignedIn: Bool = true
    ) throws -> TestServer {
        let policy = AccessPolicy(rules: [AccessRule(allow: Set(capabilities))], daemonUser: 0)
        let server = try TestServer(policy, rules: rules, patience: patience, mode: 0o666)
        if isSignedIn { _ = try server.connectSignedIn() }
        return server
    }

    /// The new configuration allows this.
    private func reload(_ server: TestServer, _ capabilities: Capability...) throws {
        let policy = AccessPolicy(rules: [AccessRule(allow: Set(capabilities))], daemonUser: 0)
        try server.onLoop { [server = server.server] in server.reload(policy: policy, exposesApi: true) }
    }

    @Test func `a watcher that may not see the state any more sees the end, and learns why when it comes back`() throws
    {
        let server = try serve(.status)
        let watcher = try caller.connect(server.path)
        _ = try watcher.result(of: "session.subscribe")

        try reload(server, .token)

        #expect(try watcher.hear() == nil)
        #expect(try server.counters.watchers == 0)
        #expect(try caller.connect(server.path).error(of: "session.subscribe").code == 1007)
    }

    @Test func `what it asked with the right that it keeps is answered before the end, however long that takes`() throws
    {
        let server = try serve(.status, .token, patience: .none)
        server.provider.hold()
        try server.pass(.seconds(4_000))
        let watcher = try caller.connect(server.path)
        _ = try watcher.result(of: "session.subscribe")
        try watcher.say(#"{"jsonrpc":"2.0","id":2,"method":"token.get"}"#)
        // What came before this has been read when this is answered.
        _ = try watcher.say(#"{"jsonrpc":"2.0","id":3,"method":"session.status"}"#)
        #expect(try watcher.hearValue()["id"]?.integer == 3)

        try reload(server, .token)
        #expect(try server.counters.watchers == 0)
        // Whatever was due at once is done when a connection that came later has been served.
        for _ in 0..<3 { _ = try server.connect().result(of: "session.status") }
        server.provider.release()

        #expect(try watcher.hearValue()["result"]?["userId"]?.string == "alice")
        #expect(try watcher.hear() == nil)
    }

    @Test func `a handler that may not be asked any more sees the end, and the question goes to the next`() throws {
        let server = try serve(.handle, rules: RenewalRules(mode: .handler, handlerTimeout: .seconds(5)))
        let next = try server.connect()
        _ = try next.result(of: "handler.register")
        let handler = try caller.connect(server.path)
        _ = try handler.result(of: "handler.register")
        try server.pass(.seconds(3_000))
        #expect(try handler.hearValue()["method"]?.string == "session.willRenewAccessToken")

        try reload(server, .status)

        #expect(try handler.hear() == nil)
        #expect(try next.hearValue()["method"]?.string == "session.willRenewAccessToken")
        #expect(try server.counters.handlers == 1)
    }

    @Test func `who keeps the right keeps the connection, whichever entry it comes from`() throws {
        let server = try serve(.status, .handle)
        let watcher = try caller.connect(server.path)
        _ = try watcher.result(of: "session.subscribe")
        let handler = try caller.connect(server.path)
        _ = try handler.result(of: "handler.register")

        try server.onLoop { [server = server.server, caller] in
            let rules = [
                AccessRule(allow: [.manage], user: 1), AccessRule(allow: [.status, .handle], user: caller.user),
            ]
            server.reload(policy: AccessPolicy(rules: rules, daemonUser: 0), exposesApi: true)
        }

        #expect(try watcher.result(of: "session.status").state == "established")
        #expect(try server.counters.watchers == 1)
        #expect(try server.counters.handlers == 1)
    }

    @Test func `a connection that does not use the right stays open, and is refused from then on`() throws {
        let server = try serve(.status)
        let client = try caller.connect(server.path)
        _ = try client.result(of: "session.status")

        try reload(server, .token)

        #expect(try client.error(of: "session.status").code == 1007)
        #expect(try client.result(of: "token.get")["userId"]?.string == "alice")
    }

    @Test func `a token that was waited for is not handed out after the right to it was withdrawn`() throws {
        let server = try serve(.status, .token)
        server.provider.hold()
        try server.pass(.seconds(4_000))
        let client = try caller.connect(server.path)
        try client.say(#"{"jsonrpc":"2.0","id":1,"method":"token.get"}"#)
        // What came before this has been read when this is answered.
        try client.say(#"{"jsonrpc":"2.0","id":2,"method":"session.status"}"#)
        #expect(try client.hearValue()["id"]?.integer == 2)

        try reload(server, .status)
        server.provider.release()

        let answer = try client.hearValue()
        #expect(answer["id"]?.integer == 1)
        #expect(answer["error"]?["data"]?["capability"]?.string == "token")
        #expect(server.audit.lines.last == "refused token.get token \(caller.user)")
        #expect(try server.counters.tokensServed == 0)
    }

    @Test func `a call to the API does not leave a second time after the right to it was withdrawn`() throws {
        let server = try serve(.status, .api)
        server.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        let renewalIsHeld = DispatchSemaphore(value: 0)
        server.provider.hold { renewalIsHeld.signal() }
        let client = try caller.connect(server.path)
        let call = #"{"method":"GET","path":"/v2/user/alice"}"#
        try client.say(#"{"jsonrpc":"2.0","id":1,"method":"api.request","params":\#(call)}"#)
        renewalIsHeld.wait()

        try reload(server, .status)
        server.provider.release()

        let answer = try client.hearValue()
        #expect(answer["id"]?.integer == 1)
        #expect(answer["error"]?["data"]?["capability"]?.string == "api")
        #expect(server.provider.apiCalls.count == 1)
    }

    @Test func `who may not manage any more does not name the user either`() throws {
        let server = try serve(.manage)
        _ = try server.connect().result(of: "session.signOut")
        let client = try caller.connect(server.path)
        try client.say(#"{"jsonrpc":"2.0","id":1,"method":"session.identify","params":{"externalUserId":"7"}}"#)
        let question = try client.hearValue()
        #expect(question["method"]?.string == "session.authenticate")

        try reload(server, .status)
        let id = try #require(question["id"]).text
        try client.say(#"{"jsonrpc":"2.0","id":\#(id),"result":{"scheme":"signInToken","token":"bob"}}"#)

        #expect(try client.hearValue()["error"]?.code == 1007)
        #expect(try client.result(of: "session.status").state == "notLoggedIn")
    }

    /// A sign-in of root's is on its way to a provider that will not answer, and behind it waits what the caller says.
    private func queue(_ server: TestServer, _ request: String) throws -> (first: TestClient, waiting: TestClient) {
        let exchangeIsHeld = DispatchSemaphore(value: 0)
        server.provider.failExchanges(.unavailable(Unavailability("No answer")))
        server.provider.hold { exchangeIsHeld.signal() }
        let first = try server.connect()
        let credential = #"{"scheme":"signInToken","token":"alice"}"#
        try first.say(#"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":\#(credential)}"#)
        exchangeIsHeld.wait()
        let waiting = try caller.connect(server.path)
        try waiting.say(request)
        // What came before this has been read when this is answered.
        try waiting.say(#"{"jsonrpc":"2.0","id":2,"method":"session.status"}"#)
        #expect(try waiting.hearValue()["id"]?.integer == 2)
        return (first, waiting)
    }

    @Test(arguments: [
        #""session.signIn","params":{"scheme":"signInToken","token":"bob"}"#,
        #""session.signIn","params":{"scheme":"apiKey","apiKey":"sk_us_1","environment":"sandbox","region":"us"}"#,
        #""session.identify","params":{"externalUserId":"7"}"#,
    ])
    func `what waits for its turn does not begin after the right to it was withdrawn`(call: String) throws {
        let server = try serve(.status, .manage, isSignedIn: false)
        let (first, waiting) = try queue(server, #"{"jsonrpc":"2.0","id":1,"method":\#(call)}"#)

        try reload(server, .status)

        let answer = try waiting.hearValue()
        #expect(answer["id"]?.integer == 1)
        #expect(answer["error"]?["data"]?["capability"]?.string == "manage")
        server.provider.release()
        #expect(try first.hearValue()["error"]?.code == 1006)
        let status = try first.result(of: "session.status")
        #expect(status.state == "notLoggedIn")
        #expect(status["flags"]?.text == "[]")
        #expect(server.provider.exchangeCalls == 1)
        #expect(!server.audit.lines.contains("signed in \(caller.user)"))
    }

    @Test func `who keeps the right keeps its turn over a reload`() throws {
        let server = try serve(.status, .manage, isSignedIn: false)
        let credential = #"{"scheme":"signInToken","token":"bob"}"#
        let request = #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":\#(credential)}"#
        let (_, waiting) = try queue(server, request)

        try reload(server, .manage)
        server.provider.release()

        #expect(try waiting.hearValue()["result"]?["userId"]?.string == "bob")
    }

    @Test func `a sign-in that has left does not count when the right to it is withdrawn`() throws {
        let server = try serve(.status, .manage, isSignedIn: false)
        let exchangeIsHeld = DispatchSemaphore(value: 0)
        server.provider.hold { exchangeIsHeld.signal() }
        let client = try caller.connect(server.path)
        let credential = #"{"scheme":"signInToken","token":"bob"}"#
        try client.say(#"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":\#(credential)}"#)
        exchangeIsHeld.wait()

        try reload(server, .token)
        server.provider.release()

        #expect(try client.hearValue()["error"]?["data"]?["capability"]?.string == "manage")
        #expect(try server.connect().result(of: "session.status").state == "notLoggedIn")
        #expect(!server.audit.lines.contains("signed in \(caller.user)"))
    }

    @Test func `a renewal that was asked for is not told to whoever may not ask for it any more`() throws {
        let server = try serve(.token)
        let renewalIsHeld = DispatchSemaphore(value: 0)
        server.provider.hold { renewalIsHeld.signal() }
        let client = try caller.connect(server.path)
        try client.say(#"{"jsonrpc":"2.0","id":1,"method":"session.renew"}"#)
        renewalIsHeld.wait()

        try reload(server, .handle)
        server.provider.release()

        let answer = try client.hearValue()
        #expect(answer["error"]?["data"]?["capability"]?.string == "token")
        #expect(answer["result"] == nil)
    }
}
