import Dispatch
import Glibc
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionTesting
import NIOCore
import Testing

/// What one HTTP client can delay, and which other clients it can delay.
struct HTTPFlowTests {
    private typealias Answer = JunctionSession.ApiAnswer

    private static let page = "GET /.junction/openapi.json HTTP/1.1\r\nHost: junction\r\n\r\n"

    // MARK: The end of the input

    @Test func `unread input at the end of the input is bounded, without any right`() throws {
        // In this test, no connection is closed for being slow.
        let server = try TestServer(timeouts: .with(\.reading, .seconds(3_600)))
        let client = try server.connectHTTP()
        client.socket.setSendBuffer(4 << 20)
        // The client does not read its answers, so the daemon does not read the other requests; the kernel keeps them.
        let pages = String(repeating: Self.page, count: 10_000)
        while client.socket.sendWhatFits(Array(pages.utf8)) > 0 {}

        client.finish()

        // A client with more unread input than a socket holds is not served any more.
        while try server.counters.openConnections > 0 {}
        withExtendedLifetime(client) {}
    }

    @Test(arguments: ["", "GET /.junction/status HTTP/1.1\r\nHost: junction\r\nConnection: close\r\n\r\n"])
    func `requests before the end of the input are answered, even if the answers are read late`(last: String) throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        let body = [UInt8](repeating: 120, count: 1 << 20)
        server.provider.answerCalls(Answer(status: 200, headers: [], body: body))

        try client.send("GET /v2/user/alice HTTP/1.1\r\nHost: junction\r\n\r\n" + last)
        client.finish()
        // The whole answer was written with its head, and the loop has had several turns since then.
        let answer = try client.head()
        for _ in 0..<10 { _ = try server.connect().result(of: "session.status") }

        #expect(answer.header("content-length") == "\(body.count)")
        _ = try client.bytes(body.count)
        if !last.isEmpty { #expect(try client.answer().status == 200) }
        #expect(try client.isAtEnd())
    }

    @Test func `many requests that arrive with the end of the input are all answered`() throws {
        let server = try TestServer()
        let client = try server.connectHTTP()
        let count = 60

        try client.send(String(repeating: Self.page, count: count))
        client.finish()

        for _ in 0..<count { #expect(try client.answer().status == 200) }
        #expect(try client.isAtEnd())
    }

    @Test func `a complete answer is not cut off by the end of the daemon`() throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        let body = [UInt8](repeating: 120, count: 1 << 20)
        server.provider.answerCalls(Answer(status: 200, headers: [], body: body))
        try client.request("GET", "/v2/user/alice")
        // The head and the body were written together.
        let answer = try client.head()

        let drained = server.drain()
        try server.onLoop {}

        #expect(answer.header("content-length") == "\(body.count)")
        _ = try client.bytes(body.count)
        #expect(try client.isAtEnd())
        try drained.wait()
    }

    // MARK: Rights

    @Test(.needsRoot)
    func `a request ends early when the caller loses the right to the API`() throws {
        let server = try TestServer(AccessPolicy(rules: [AccessRule(allow: [.api])], daemonUser: 0))
        _ = try server.connectSignedIn()
        let client = try OrdinaryCaller().connectHTTP(server)
        try client.send("PUT /v2/user/alice/x HTTP/1.1\r\nHost: junction\r\nContent-Length: 100000\r\n\r\nabc")
        while server.provider.uploaded < 3 {}

        try server.reload(AccessPolicy(rules: [], daemonUser: 0))

        let upload = try #require(server.provider.apiCalls.first?.upload)
        #expect(try server.onLoop { upload.breach != nil })
        #expect(try client.isAtEnd())
    }

    // MARK: Shares

    @Test func `an answer counts for the limit until its end`() throws {
        let server = try TestServer(limits: .with(\.inFlight, 1))
        let client = try server.connectHTTPSignedIn()
        let stream = BodyStream()
        server.provider.answerCalls(Answer(status: 200, headers: [], body: [], stream: stream))
        try client.request("GET", "/v2/user/alice")
        _ = try client.head()

        #expect(try server.connectHTTP().ask("GET", "/v2/user/alice").kind == "busy")
        try server.onLoop { stream.finish(.complete) }

        #expect(try client.chunk() == nil)
        #expect(try client.ask("GET", "/v2/user/alice").status == 200)
    }

    @Test func `an answer that was given up no longer counts`() throws {
        let server = try TestServer(limits: .with(\.inFlight, 1))
        var client: HTTPTestClient? = try server.connectHTTPSignedIn()
        let stream = BodyStream()
        server.provider.answerCalls(Answer(status: 200, headers: [], body: [], stream: stream))
        try client?.request("GET", "/v2/user/alice")
        _ = try client?.head()

        client = nil
        while try server.onLoop({ !stream.isAbandoned }) {}

        #expect(try server.connectHTTP().ask("GET", "/v2/user/alice").status == 200)
    }

    @Test(.needsRoot)
    func `no user has more than a quarter of the transfers, and other users get theirs`() throws {
        let policy = AccessPolicy(rules: [AccessRule(allow: [.api])], daemonUser: 0)
        let server = try TestServer(policy, callsPerMinute: 1_000)
        _ = try server.connectSignedIn()
        let quarter = 48
        let streams = (0..<quarter).map { _ in BodyStream() }
        for stream in streams {
            server.provider.answerCalls(Answer(status: 200, headers: [], body: [], stream: stream))
        }
        let clients = try streams.map { _ in
            let client = try server.connectHTTP()
            try client.request("GET", "/v2/user/alice")
            #expect(try client.head().status == 200)
            return client
        }

        let refused = try server.connectHTTP().ask("GET", "/v2/user/alice")
        #expect(refused.status == 429)
        #expect(refused.kind == "busy")
        #expect(try OrdinaryCaller().connectHTTP(server).ask("GET", "/v2/user/alice").status == 200)
        #expect(try server.connectHTTP().ask("GET", "/.junction/status").status == 200)

        try server.onLoop { streams[0].finish(.complete) }
        #expect(try clients[0].chunk() == nil)
        #expect(try clients[0].ask("GET", "/v2/user/alice").status == 200)
    }

    @Test func `requests that arrive together give other clients a turn`() throws {
        let server = try TestServer()
        let (many, other) = (try server.connectHTTP(), try server.connectHTTP())
        // Both connections are accepted from now on.
        for client in [many, other] { #expect(try client.ask("GET", "/.junction/metrics").status == 200) }
        let count = 100
        let release = server.holdLoop()
        try many.send(String(repeating: "GET /.junction/status HTTP/1.1\r\nHost: junction\r\n\r\n", count: count))
        try other.request("GET", "/.junction/metrics")
        release.signal()

        // The metrics contain the number of requests that were answered before.
        let text = try other.answer().text
        let told = try #require(Int(text.split(separator: " ")[1]))

        #expect(told < count / 2)
        for _ in 0..<count { #expect(try many.answer().status == 200) }
    }

    @Test func `a document that never changes is made once`() throws {
        let server = try TestServer()
        let client = try server.connectHTTP()

        let first = try client.ask("GET", "/.junction/openapi.json").body
        #expect(try client.ask("GET", "/.junction/openapi.json").body == first)
        #expect(try server.connectHTTP().ask("GET", "/.junction/openapi.json").body == first)

        #expect(server.introspection.descriptionsTold == 1)
    }

    // MARK: Deadlines

    @Test func `an incomplete head after another request has a deadline`() throws {
        var timeouts = ServerSettings.Timeouts.none
        timeouts.line = .milliseconds(20)
        let server = try TestServer(timeouts: timeouts)
        let client = try server.connectHTTP()

        try client.send("GET /.junction/status HTTP/1.1\r\nHost: junction\r\n\r\nGET /.junction/status HTTP/1.1\r\nHo")

        #expect(try client.answer().status == 200)
        #expect(try client.answer().status == 408)
        #expect(try client.isAtEnd())
    }

    @Test func `a client that is answered early has no deadline for the rest of its request`() throws {
        var timeouts = ServerSettings.Timeouts.none
        timeouts.line = .seconds(1)
        let server = try TestServer(timeouts: timeouts)
        let client = try server.connectHTTPSignedIn()
        let stream = BodyStream()
        server.provider.answerBeforeUploads()
        server.provider.answerCalls(Answer(status: 200, headers: [], body: [], stream: stream))
        let length = 100_000
        let head = "PUT /v2/user/alice/x HTTP/1.1\r\nHost: junction\r\nContent-Length: \(length)\r\n\r\n"
        try client.send(Array(head.utf8) + [UInt8](repeating: 1, count: 40_000))
        #expect(try client.head().status == 200)

        // Timers that were set before this one have fired.
        try server.loop.scheduleTask(in: .seconds(1)) {}.futureResult.wait()
        try server.onLoop {
            [UInt8](repeating: 2, count: 5).withUnsafeBytes { stream.put($0) }
            stream.finish(.complete)
        }

        #expect(try client.chunk()?.count == 5)
        #expect(try client.chunk() == nil)
    }

    @Test func `a chunked body is not requested before its path was checked`() throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        let framing = "Host: junction\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"

        try client.send("PUT /v2/user/alice/x HTTP/1.1\r\n" + framing)
        #expect(try client.answer().status == 100)
        try client.send("3\r\nabc\r\n0\r\n\r\n")
        #expect(try client.answer().status == 200)
        #expect(server.provider.uploaded == 3)

        try client.send("PUT /v2/user/bob/x HTTP/1.1\r\n" + framing)
        #expect(try client.answer().status == 403)
        #expect(try client.isAtEnd())
    }

    @Test(arguments: ["5 ", " 5", "\t5", "5   "])
    func `blanks around a content length are ignored`(length: String) throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()

        try client.send("POST /v2/user/alice HTTP/1.1\r\nHost: junction\r\nContent-Length: \(length)\r\n\r\nhello")

        #expect(try client.answer().status == 200)
        #expect(server.provider.apiCalls.first?.body == Array("hello".utf8))
    }
}
