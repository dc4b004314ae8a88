import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionTesting
import Testing

struct LimitTests {
    @Test func `a connection above the limit gets an error, and a closed one makes room`() throws {
        let server = try TestServer(limits: .with(\.connections, 2))
        let first = try server.connect()
        _ = try first.result(of: "session.status")
        do {
            let second = try server.connect()
            _ = try second.result(of: "session.status")
            let third = try server.connect()

            let refusal = try third.receiveValue()

            #expect(refusal["id"]?.isNull == true)
            #expect(refusal["error"]?.code == 1011)
            #expect(refusal["error"]?["data"]?["kind"]?.string == "busy")
            #expect(try third.receiveLine() == nil)
            second.finish()
            #expect(try second.receiveLine() == nil)
        }

        #expect(try server.connect().result(of: "session.status").state == "notLoggedIn")
        #expect(try server.counters.turnedAwayConnections == 1)
    }

    @Test func `the requests of a refused connection are not carried out`() throws {
        let server = try TestServer(limits: .with(\.connections, 0))
        let client = try server.connect()

        try? client.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"session.signOut"}"#)

        #expect(try client.receiveValue()["error"]?.code == 1011)
        #expect(try client.receiveLine() == nil)
        #expect(server.audit.lines.allSatisfy { $0.hasPrefix("turned away") })
    }

    @Test func `a request above the limit is a busy error, and an answer makes room`() throws {
        let server = try TestServer(limits: .with(\.inFlight, 1))
        let client = try server.signInHeld()

        // The limit applies to the user, not to the connection.
        #expect(try server.connect().error(of: "session.status").code == 1011)

        server.provider.release()
        #expect(try client.receiveValue()["result"]?["userId"]?.string == "alice")
        #expect(try client.result(of: "session.status").state == "established")
    }

    @Test func `a sign-out works above the limit of requests`() throws {
        let server = try TestServer(limits: .with(\.inFlight, 1))
        let client = try server.signInHeld()

        let other = try server.connect()
        #expect(try other.error(of: "session.status").code == 1011)
        #expect(try other.result(of: "session.signOut").state == "notLoggedIn")

        #expect(try client.receiveValue()["error"]?.code == 1003)
        server.provider.release()
    }

    /// Requests of which the daemon keeps 100,000 bytes until they are answered.
    private static let longRequests = [
        #"{"jsonrpc":"2.0","id":"\(x)","method":"token.get"}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"api.request","params":{"method":"POST","path":"/v2/user/alice","body":"\(x)"}}"#,
        #"[{"jsonrpc":"2.0","id":"\(x)","method":"token.get"}]"#,
        #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"signInToken","token":"\(x)"}}"#,
    ].map { $0.replacing(#"\(x)"#, with: String(repeating: "x", count: 100_000)) }

    @Test(arguments: ["GET /v2/user/alice", "GET /.junction/token"])
    func `the head of an HTTP request counts while the request waits`(line: String) throws {
        let server = try TestServer(limits: .with(\.accepted, 10_000))
        let client = try server.connectHTTPSignedIn()
        server.provider.hold()
        try server.pass(.seconds(4_000))
        let padding = String(repeating: "x", count: 10_000)
        try client.send("\(line) HTTP/1.1\r\nHost: junction\r\nJunction-Local: true\r\nX-Padding: \(padding)\r\n\r\n")
        while try server.counters.requests(of: .apiRequest) + server.counters.requests(of: .tokenGet) < 1 {
            try server.pass(.zero)
        }

        #expect(try server.connectHTTP().ask("GET", "/.junction/status").kind == "busy")

        server.provider.release()
        #expect(try client.answer().status == 200)
        #expect(try server.connectHTTP().ask("GET", "/.junction/status").status == 200)
    }

    @Test(arguments: longRequests)
    func `a user's unanswered requests have a limit in bytes, and an answer makes room`(request: String) throws {
        let server = try TestServer(limits: .with(\.accepted, 150_000))
        let client = try server.signInHeld()
        let other = try server.connect()

        for _ in 0..<3 { try other.sendLine(request) }

        // Two requests wait, and the third exceeds the limit. The limit applies to the user, even after the connection
        // has gone.
        let refused = try other.receiveValue()
        let answer = refused.kind == .array ? try #require(Array(refused.elements).first) : refused
        #expect(answer["error"]?.code == 1011)
        #expect(try server.connect().error(of: "session.status").code == 1011)

        server.provider.release()
        #expect(try client.receiveValue()["result"]?["userId"]?.string == "alice")
        for _ in 0..<2 { _ = try other.receiveValue() }
        #expect(try client.result(of: "session.status").state == "established")
    }

    @Test func `disconnected connections leave no request behind`() throws {
        let server = try TestServer(limits: .with(\.inFlight, 2))
        _ = try server.signInHeld()
        server.provider.release()
        let client = try server.connect()

        #expect(try client.result(of: "token.get")["userId"]?.string == "alice")
        #expect(try client.result(of: "session.signOut").state == "notLoggedIn")
    }
}
