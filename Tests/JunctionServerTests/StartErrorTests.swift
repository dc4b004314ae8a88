import Glibc
import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionTesting
import NIOCore
import NIOPosix
import Testing

/// The server of a daemon that could not start. It has no session, and answers each call with the start error.
struct StartErrorTests {
    private final class FailedStartServer: Sendable {
        private let folder = TemporaryFolder()
        private let server: SessionServer
        private let loop = MultiThreadedEventLoopGroup.singleton.next()

        init(
            policy: AccessPolicy = .own,
            limits: CallerLimits = CallerLimits(),
            timeouts: ServerSettings.Timeouts = .init()
        ) throws {
            var settings = ServerSettings(policy: policy)
            (settings.limits, settings.timeouts) = (limits, timeouts)
            server = try loop.submit { [loop, settings] in
                SessionServer(
                    startError: WireError(.misconfigured, "nonsense"),
                    settings: settings,
                    eventLoop: loop,
                    reload: { answer in answer(.success([])) }
                )
            }.wait()
            let rpc = try ListeningSocket(creatingAt: folder.path + "/rpc")
            let http = try ListeningSocket(creatingAt: folder.path + "/http")
            try loop.flatSubmit { [server] in server.start(on: rpc) }.wait()
            try loop.flatSubmit { [server] in server.start(on: http, speaking: .http) }.wait()
        }

        deinit { try? drain() }

        func connect() throws -> TestClient { try TestClient(folder.path + "/rpc", of: self) }
        func connectHTTP() throws -> HTTPTestClient { try HTTPTestClient(.path(folder.path + "/http"), to: self) }

        func replaceError(with message: String) throws {
            try loop.submit { [server] in
                server.replaceStartError(with: WireError(.misconfigured, message))
            }.wait()
        }

        func drain() throws { try loop.flatSubmit { [server] in server.drain() }.wait() }
    }

    // MARK: JSON-RPC

    @Test func `each call is answered with the present error`() throws {
        let refusal = try FailedStartServer()
        let client = try refusal.connect()

        for method in [
            "session.status", "token.get", "session.subscribe", "handler.register", "rpc.discover", "no.such",
        ] {
            let error = try client.error(of: method, #"{"unknown":1}"#)
            #expect(error.code == 1013)
            #expect(error["message"]?.string?.contains("nonsense") == true)
        }
        try refusal.replaceError(with: "other")

        #expect(try client.error(of: "session.status")["message"]?.string?.contains("other") == true)
    }

    @Test func `a reload is carried out only for callers with manage`() throws {
        let client = try FailedStartServer().connect()
        let stranger = try FailedStartServer(policy: AccessPolicy(rules: [], daemonUser: getuid() + 1)).connect()

        #expect(try client.result(of: "daemon.reload")["pendingRestart"]?.kind == .array)
        if getuid() != 0 { #expect(try stranger.error(of: "daemon.reload").code == 1013) }
    }

    @Test func `invalid input gets its usual error`() throws {
        let client = try FailedStartServer().connect()

        try client.sendLine("not JSON")
        #expect(try client.receiveValue()["error"]?.code == -32700)
        try client.sendLine(#"{"jsonrpc":"2.0","method":"session.signOut"}"#)
        try client.sendLine(#"[{"jsonrpc":"2.0","id":1,"method":"session.status"},1]"#)
        let answers = Array(try client.receiveValue().elements)
        #expect(answers.map { $0["error"]?.code } == [1013, -32600])
    }

    @Test func `draining the server answers the received calls`() throws {
        let refusal = try FailedStartServer()
        let client = try refusal.connect()
        #expect(try client.error(of: "session.status").code == 1013)
        try client.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"session.status"}"#)

        try refusal.drain()

        #expect(try client.receiveValue()["error"]?.code == 1013)
        #expect(try client.receiveLine() == nil)
    }

    @Test func `a connection ends after its time limit`() throws {
        let refusal = try FailedStartServer(timeouts: .with(\.connection, .milliseconds(20)))

        #expect(try refusal.connect().receiveLine() == nil)
        #expect(try refusal.connectHTTP().isAtEnd())
    }

    @Test func `a connection above the limit of its user gets the start error`() throws {
        let refusal = try FailedStartServer(limits: .with(\.connections, 1))
        let first = try refusal.connect()
        #expect(try first.error(of: "session.status").code == 1013)
        let second = try refusal.connect()
        #expect(try second.receiveValue()["error"]?["code"]?.integer == 1013)
    }

    @Test func `all users together have a limit of connections`() throws {
        let refusal = try FailedStartServer(limits: .with(\.connectionsOfAll, 2))
        let (first, second) = (try refusal.connect(), try refusal.connect())

        #expect(try refusal.connect().receiveLine() == nil)
        #expect(try refusal.connectHTTP().isAtEnd())

        for client in [first, second] { #expect(try client.error(of: "session.status").code == 1013) }
    }

    // MARK: HTTP

    @Test(arguments: ["GET", "POST", "DELETE", "OPTIONS"])
    func `every request is answered with the start error`(method: String) throws {
        let refusal = try FailedStartServer()

        for target in ["/v2/user/:userId", "/.junction/status", "/.junction/token", "/"] {
            let client = try refusal.connectHTTP()
            let answer = try client.ask(method, target, body: method == "POST" ? "{}" : nil)
            #expect(answer.status == 503)
            #expect(answer.kind == "misconfigured")
            #expect(answer.header("connection") == "close")
            #expect(answer.header("content-type") == "application/problem+json")
            let problem = try JSONValue.parse(answer.body)
            #expect(problem["kind"]?.string == "misconfigured")
            #expect(problem["detail"]?.string == "nonsense")
            #expect(try client.isAtEnd())
        }
    }

    @Test func `a HEAD request gets no body`() throws {
        let refusal = try FailedStartServer()
        let client = try refusal.connectHTTP()

        let answer = try client.ask("HEAD", "/v2/user/:userId")

        #expect(answer.kind == "misconfigured")
        #expect(try client.isAtEnd())
    }

    @Test
    func `a request with Expect is answered before its body, and a body that is sent anyway is read`()
        throws
    {
        let refusal = try FailedStartServer()
        let waiting = try refusal.connectHTTP()
        try waiting.request("PUT", "/v2/user/x", "Expect: 100-continue", "Content-Length: 1000000")
        #expect(try waiting.answer().kind == "misconfigured")

        let sending = try refusal.connectHTTP()
        let answer = try sending.ask("PUT", "/v2/user/x", body: String(repeating: "x", count: 1 << 20))

        #expect(answer.kind == "misconfigured")
        sending.finish()
        #expect(try sending.isAtEnd())
    }

    @Test func `a connection gets one answer, and the next connection gets the present error`() throws {
        let refusal = try FailedStartServer()
        let client = try refusal.connectHTTP()
        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.answer().text.contains("nonsense"))
        #expect(try client.isAtEnd())

        try refusal.replaceError(with: "other")

        #expect(try refusal.connectHTTP().ask("GET", "/").text.contains("other"))
    }

    @Test func `invalid HTTP gets an error`() throws {
        let refusal = try FailedStartServer()
        let client = try refusal.connectHTTP()

        try client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.status\"}\n")

        #expect(try client.answer().status == 400)
        #expect(try client.isAtEnd())
    }
}
