import Dispatch
import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionTesting
import NIOCore
import Testing

/// What a reload withdraws from open connections: no connection uses a withdrawn right, and none waits for messages
/// that never come.
@Suite(.needsRoot)
struct ConnectionWithdrawnRightTests {
    private let caller = OrdinaryCaller()

    /// Makes a server with a signed-in user. The caller has these capabilities.
    private func serve(
        _ capabilities: Capability...,
        rules: RenewalRules = RenewalRules(),
        timeouts: ServerSettings.Timeouts = .init(),
        isSignedIn: Bool = true
    ) throws -> TestServer {
        let policy = AccessPolicy(rules: [AccessRule(allow: Set(capabilities))], daemonUser: 0)
        let server = try TestServer(policy, rules: rules, timeouts: timeouts, mode: 0o666)
        if isSignedIn { _ = try server.connectSignedIn() }
        return server
    }

    /// Reloads a configuration with these capabilities.
    private func reload(_ server: TestServer, _ capabilities: Capability...) throws {
        let policy = AccessPolicy(rules: [AccessRule(allow: Set(capabilities))], daemonUser: 0)
        try server.reload(policy)
    }

    @Test func `a watcher without the right is closed, and gets the reason when it connects again`() throws {
        let server = try serve(.status)
        let watcher = try caller.connect(server.path)
        _ = try watcher.result(of: "session.subscribe")

        try reload(server, .token)

        #expect(try watcher.receiveLine() == nil)
        #expect(try server.counters.watchers == 0)
        #expect(try caller.connect(server.path).error(of: "session.subscribe").code == 1007)
    }

    @Test func `a request with a right that remains is answered before the connection ends`() throws {
        let server = try serve(.status, .token, timeouts: .none)
        server.provider.hold()
        try server.pass(.seconds(4_000))
        let watcher = try caller.connect(server.path)
        _ = try watcher.result(of: "session.subscribe")
        try watcher.sendLine(#"{"jsonrpc":"2.0","id":2,"method":"token.get"}"#)
        // When this is answered, the daemon has read the earlier line.
        _ = try watcher.sendLine(#"{"jsonrpc":"2.0","id":3,"method":"session.status"}"#)
        #expect(try watcher.receiveValue()["id"]?.integer == 3)

        try reload(server, .token)
        #expect(try server.counters.watchers == 0)
        // When a later connection has been served, all immediate work is done.
        for _ in 0..<3 { _ = try server.connect().result(of: "session.status") }
        server.provider.release()

        #expect(try watcher.receiveValue()["result"]?["userId"]?.string == "alice")
        #expect(try watcher.receiveLine() == nil)
    }

    @Test func `a handler without the right is closed, and the next handler is asked`() throws {
        let server = try serve(.handle, rules: RenewalRules(mode: .handler, handlerTimeout: .seconds(5)))
        let next = try server.connect()
        _ = try next.result(of: "handler.register")
        let handler = try caller.connect(server.path)
        _ = try handler.result(of: "handler.register")
        try server.pass(.seconds(3_000))
        #expect(try handler.receiveValue()["method"]?.string == "session.willRenewAccessToken")

        try reload(server, .status)

        #expect(try handler.receiveLine() == nil)
        #expect(try next.receiveValue()["method"]?.string == "session.willRenewAccessToken")
        #expect(try server.counters.handlers == 1)
    }

    @Test func `a caller that keeps the right through another entry keeps the connection`() throws {
        let server = try serve(.status, .handle)
        let watcher = try caller.connect(server.path)
        _ = try watcher.result(of: "session.subscribe")
        let handler = try caller.connect(server.path)
        _ = try handler.result(of: "handler.register")

        let rules = [AccessRule(allow: [.manage], user: 1), AccessRule(allow: [.status, .handle], user: caller.user)]
        try server.reload(AccessPolicy(rules: rules, daemonUser: 0))

        #expect(try watcher.result(of: "session.status").state == "established")
        #expect(try server.counters.watchers == 1)
        #expect(try server.counters.handlers == 1)
    }

    @Test func `a connection that does not use the right stays open, and later calls are refused`() throws {
        let server = try serve(.status)
        let client = try caller.connect(server.path)
        _ = try client.result(of: "session.status")

        try reload(server, .token)

        #expect(try client.error(of: "session.status").code == 1007)
        #expect(try client.result(of: "token.get")["userId"]?.string == "alice")
    }

    @Test func `a token is not sent after the right to it was withdrawn`() throws {
        let server = try serve(.status, .token)
        server.provider.hold()
        try server.pass(.seconds(4_000))
        let client = try caller.connect(server.path)
        try client.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"token.get"}"#)
        // When this is answered, the daemon has read the earlier line.
        try client.sendLine(#"{"jsonrpc":"2.0","id":2,"method":"session.status"}"#)
        #expect(try client.receiveValue()["id"]?.integer == 2)

        try reload(server, .status)
        server.provider.release()

        let answer = try client.receiveValue()
        #expect(answer["id"]?.integer == 1)
        #expect(answer["error"]?["data"]?["capability"]?.string == "token")
        #expect(server.audit.lines.last == "refused token.get token \(caller.user)")
        #expect(try server.counters.tokensServed == 0)
    }

    @Test func `an API call is not sent a second time after the right to it was withdrawn`() throws {
        let server = try serve(.status, .api)
        server.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        let renewalIsHeld = DispatchSemaphore(value: 0)
        server.provider.hold { renewalIsHeld.signal() }
        let client = try caller.connect(server.path)
        let call = #"{"method":"GET","path":"/v2/user/alice"}"#
        try client.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"api.request","params":\#(call)}"#)
        renewalIsHeld.wait()

        try reload(server, .status)
        server.provider.release()

        let answer = try client.receiveValue()
        #expect(answer["id"]?.integer == 1)
        #expect(answer["error"]?["data"]?["capability"]?.string == "api")
        #expect(server.provider.apiCalls.count == 1)
    }

    @Test func `a caller that has lost manage cannot identify the user`() throws {
        let server = try serve(.manage)
        _ = try server.connect().result(of: "session.signOut")
        let client = try caller.connect(server.path)
        try client.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"session.identify","params":{"externalUserId":"7"}}"#)
        let question = try client.receiveValue()
        #expect(question["method"]?.string == "session.authenticate")

        try reload(server, .status)
        let id = try #require(question["id"]).text
        try client.sendLine(#"{"jsonrpc":"2.0","id":\#(id),"result":{"scheme":"signInToken","token":"bob"}}"#)

        #expect(try client.receiveValue()["error"]?.code == 1007)
        #expect(try client.result(of: "session.status").state == "notLoggedIn")
    }

    /// Holds a sign-in of root at a provider that does not answer. The caller's request waits behind it.
    private func queue(_ server: TestServer, _ request: String) throws -> (first: TestClient, waiting: TestClient) {
        let exchangeIsHeld = DispatchSemaphore(value: 0)
        server.provider.failExchanges(.unavailable(Unavailability("No answer")))
        server.provider.hold { exchangeIsHeld.signal() }
        let first = try server.connect()
        let credential = #"{"scheme":"signInToken","token":"alice"}"#
        try first.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":\#(credential)}"#)
        exchangeIsHeld.wait()
        let waiting = try caller.connect(server.path)
        try waiting.sendLine(request)
        // When this is answered, the daemon has read the earlier line.
        try waiting.sendLine(#"{"jsonrpc":"2.0","id":2,"method":"session.status"}"#)
        #expect(try waiting.receiveValue()["id"]?.integer == 2)
        return (first, waiting)
    }

    @Test(arguments: [
        #""session.signIn","params":{"scheme":"signInToken","token":"bob"}"#,
        #""session.signIn","params":{"scheme":"apiKey","apiKey":"sk_us_1","environment":"sandbox","region":"us"}"#,
        #""session.identify","params":{"externalUserId":"7"}"#,
    ])
    func `a waiting request does not begin after the right to it was withdrawn`(call: String) throws {
        let server = try serve(.status, .manage, isSignedIn: false)
        let (first, waiting) = try queue(server, #"{"jsonrpc":"2.0","id":1,"method":\#(call)}"#)

        try reload(server, .status)

        let answer = try waiting.receiveValue()
        #expect(answer["id"]?.integer == 1)
        #expect(answer["error"]?["data"]?["capability"]?.string == "manage")
        server.provider.release()
        #expect(try first.receiveValue()["error"]?.code == 1006)
        let status = try first.result(of: "session.status")
        #expect(status.state == "notLoggedIn")
        #expect(status["flags"]?.text == "[]")
        #expect(server.provider.exchangeCalls == 1)
        #expect(!server.audit.lines.contains("signed in \(caller.user)"))
    }

    @Test func `a waiting request begins after a reload that keeps the right`() throws {
        let server = try serve(.status, .manage, isSignedIn: false)
        let credential = #"{"scheme":"signInToken","token":"bob"}"#
        let request = #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":\#(credential)}"#
        let (_, waiting) = try queue(server, request)

        try reload(server, .manage)
        server.provider.release()

        #expect(try waiting.receiveValue()["result"]?["userId"]?.string == "bob")
    }

    @Test func `a sign-in in progress does not count if the right to it is withdrawn`() throws {
        let server = try serve(.status, .manage, isSignedIn: false)
        let exchangeIsHeld = DispatchSemaphore(value: 0)
        server.provider.hold { exchangeIsHeld.signal() }
        let client = try caller.connect(server.path)
        let credential = #"{"scheme":"signInToken","token":"bob"}"#
        try client.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":\#(credential)}"#)
        exchangeIsHeld.wait()

        try reload(server, .token)
        server.provider.release()

        #expect(try client.receiveValue()["error"]?["data"]?["capability"]?.string == "manage")
        #expect(try server.connect().result(of: "session.status").state == "notLoggedIn")
        #expect(!server.audit.lines.contains("signed in \(caller.user)"))
    }

    @Test func `the result of a renewal is not sent to a caller that has lost the right to it`() throws {
        let server = try serve(.token)
        let renewalIsHeld = DispatchSemaphore(value: 0)
        server.provider.hold { renewalIsHeld.signal() }
        let client = try caller.connect(server.path)
        try client.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"session.renew"}"#)
        renewalIsHeld.wait()

        try reload(server, .handle)
        server.provider.release()

        let answer = try client.receiveValue()
        #expect(answer["error"]?["data"]?["capability"]?.string == "token")
        #expect(answer["result"] == nil)
    }
}
