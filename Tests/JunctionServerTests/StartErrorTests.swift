import Glibc
import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionTesting
import NIOCore
import NIOPosix
import Testing

/// The server of a daemon that could not start: it has no session, and answers each call with the error of the start.
struct StartErrorTests {
    private final class SessionError: Sendable {
        private let folder = TemporaryFolder()
        private let server: SessionServer
        private let loop = MultiThreadedEventLoopGroup.singleton.next()

        init(
            policy: AccessPolicy = .own,
            limits: CallerLimits = CallerLimits(),
            patience: ServerSettings.Patience = .init()
        ) throws {
            let settings = ServerSettings(policy: policy, limits: limits, patience: patience)
            server = try loop.submit { [loop] in
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
        func visit() throws -> DoorClient { try DoorClient(.path(folder.path + "/http"), to: self) }

        func replaceError(with message: String) throws {
            try loop.submit { [server] in
                server.replaceStartError(with: WireError(.misconfigured, message))
            }.wait()
        }

        func drain() throws { try loop.flatSubmit { [server] in server.drain() }.wait() }
    }

    // MARK: JSON-RPC

    @Test func `each call is answered with the error, and with the present one`() throws {
        let refusal = try SessionError()
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

    @Test func `a reload is carried out for whoever may manage, and for no other caller`() throws {
        let client = try SessionError().connect()
        let stranger = try SessionError(policy: AccessPolicy(rules: [], daemonUser: getuid() + 1)).connect()

        #expect(try client.result(of: "daemon.reload")["pendingRestart"]?.kind == .array)
        if getuid() != 0 { #expect(try stranger.error(of: "daemon.reload").code == 1013) }
    }

    @Test func `what is no call is answered as ever`() throws {
        let client = try SessionError().connect()

        try client.say("not JSON")
        #expect(try client.hearValue()["error"]?.code == -32700)
        try client.say(#"{"jsonrpc":"2.0","method":"session.signOut"}"#)
        try client.say(#"[{"jsonrpc":"2.0","id":1,"method":"session.status"},1]"#)
        let answers = Array(try client.hearValue().elements)
        #expect(answers.map { $0["error"]?.code } == [1013, -32600])
    }

    @Test func `the end of the server answers what was received`() throws {
        let refusal = try SessionError()
        let client = try refusal.connect()
        #expect(try client.error(of: "session.status").code == 1013)
        try client.say(#"{"jsonrpc":"2.0","id":1,"method":"session.status"}"#)

        try refusal.drain()

        #expect(try client.hearValue()["error"]?.code == 1013)
        #expect(try client.hear() == nil)
    }

    @Test func `a connection ends after its time`() throws {
        var patience = ServerSettings.Patience()
        patience.connection = .milliseconds(20)
        let refusal = try SessionError(patience: patience)

        #expect(try refusal.connect().hear() == nil)
        #expect(try refusal.visit().isAtEnd())
    }

    @Test func `a connection over the limit of its user is told the error, too`() throws {
        let refusal = try SessionError(limits: CallerLimits(connections: 1))
        let first = try refusal.connect()
        #expect(try first.error(of: "session.status").code == 1013)
        let second = try refusal.connect()
        #expect(try second.hearValue()["error"]?["code"]?.integer == 1013)
    }

    @Test func `all users together have a limit of connections`() throws {
        let refusal = try SessionError(limits: CallerLimits(connectionsOfAll: 2))
        let (first, second) = (try refusal.connect(), try refusal.connect())

        #expect(try refusal.connect().hear() == nil)
        #expect(try refusal.visit().isAtEnd())

        for client in [first, second] { #expect(try client.error(of: "session.status").code == 1013) }
    }

    // MARK: HTTP

    @Test(arguments: ["GET", "POST", "DELETE", "OPTIONS"])
    func `every request is answered with the error`(method: String) throws {
        let refusal = try SessionError()

        for target in ["/v2/user/:userId", "/.junction/status", "/.junction/token", "/"] {
            let client = try refusal.visit()
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

    @Test func `a request for the head alone gets no body`() throws {
        let refusal = try SessionError()
        let client = try refusal.visit()

        let answer = try client.ask("HEAD", "/v2/user/:userId")

        #expect(answer.kind == "misconfigured")
        #expect(try client.isAtEnd())
    }

    @Test
    func `whoever waits to be asked for a body is answered before, and whoever sends it all the same is heard out`()
        throws
    {
        let refusal = try SessionError()
        let waiting = try refusal.visit()
        try waiting.request("PUT", "/v2/user/x", "Expect: 100-continue", "Content-Length: 1000000")
        #expect(try waiting.answer().kind == "misconfigured")

        let sending = try refusal.visit()
        let answer = try sending.ask("PUT", "/v2/user/x", body: String(repeating: "x", count: 1 << 20))

        #expect(answer.kind == "misconfigured")
        sending.finish()
        #expect(try sending.isAtEnd())
    }

    @Test func `there is one answer to a connection, and the next one has what is the matter then`() throws {
        let refusal = try SessionError()
        let client = try refusal.visit()
        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.answer().text.contains("nonsense"))
        #expect(try client.isAtEnd())

        try refusal.replaceError(with: "other")

        #expect(try refusal.visit().ask("GET", "/").text.contains("other"))
    }

    @Test func `what is no HTTP is told so`() throws {
        let refusal = try SessionError()
        let client = try refusal.visit()

        try client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.status\"}\n")

        #expect(try client.answer().status == 400)
        #expect(try client.isAtEnd())
    }
}
