import Glibc
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionTesting
import NIOCore
import Testing

/// What a program of the HTTP API can make wait, and who else has to wait for it.
struct HTTPFlowTests {
    private typealias Answer = JunctionSession.ApiAnswer

    private static let page = "GET /.junction/openapi.json HTTP/1.1\r\nHost: junction\r\n\r\n"

    // MARK: The end of the sending

    @Test func `what waits unread when the sending ends is bounded, without any right`() throws {
        var patience = ServerSettings.Patience()
        // It is not for being slow that anybody goes here.
        patience.reading = .seconds(3_600)
        let server = try TestServer(patience: patience)
        let client = try server.visit()
        client.socket.setSendBuffer(4 << 20)
        // Its answers are not read, so the rest is not asked for; the kernel keeps that.
        let pages = String(repeating: Self.page, count: 10_000)
        while client.socket.sendWhatFits(Array(pages.utf8)) > 0 {}

        client.finish()

        // Whoever leaves more here than a socket holds by itself is not served any more.
        while try server.counters.openConnections > 0 {}
        withExtendedLifetime(client) {}
    }

    @Test(arguments: ["", "GET /.junction/status HTTP/1.1\r\nHost: junction\r\nConnection: close\r\n\r\n"])
    func `what was asked before the sending ended is answered, however late it is read`(last: String) throws {
        let server = try TestServer()
        let client = try server.visitSignedIn()
        let body = [UInt8](repeating: 120, count: 1 << 20)
        server.provider.answerCalls(Answer(status: 200, headers: [], body: body))

        try client.send("GET /v2/user/alice HTTP/1.1\r\nHost: junction\r\n\r\n" + last)
        client.finish()
        // The whole answer was written with its head, and the loop has had its turns since then.
        let answer = try client.head()
        for _ in 0..<10 { _ = try server.connect().result(of: "session.status") }

        #expect(answer.header("content-length") == "\(body.count)")
        _ = try client.bytes(body.count)
        if !last.isEmpty { #expect(try client.answer().status == 200) }
        #expect(try client.isAtEnd())
    }

    @Test func `many requests that came with the end of the sending are all answered`() throws {
        let server = try TestServer()
        let client = try server.visit()
        let count = 60

        try client.send(String(repeating: Self.page, count: count))
        client.finish()

        for _ in 0..<count { #expect(try client.answer().status == 200) }
        #expect(try client.isAtEnd())
    }

    @Test func `an answer that is complete is not cut off by the end of the daemon`() throws {
        let server = try TestServer()
        let client = try server.visitSignedIn()
        let body = [UInt8](repeating: 120, count: 1 << 20)
        server.provider.answerCalls(Answer(status: 200, headers: [], body: body))
        try client.request("GET", "/v2/user/alice")
        // All of it was written together.
        let answer = try client.head()

        let drained = server.loop.flatSubmit { [server = server.server] in server.drain() }
        try server.onLoop {}

        #expect(answer.header("content-length") == "\(body.count)")
        _ = try client.bytes(body.count)
        #expect(try client.isAtEnd())
        try drained.wait()
    }

    // MARK: Rights

    @Test(.enabled(if: OrdinaryCaller.isPossible, "Only root can connect as somebody else"))
    func `who loses the right to the API while a request is sent sees its end, and it goes no further`() throws {
        let server = try TestServer(AccessPolicy(rules: [AccessRule(allow: [.api])], daemonUser: 0))
        _ = try server.connectSignedIn()
        let client = try OrdinaryCaller().visit(server)
        try client.send("PUT /v2/user/alice/x HTTP/1.1\r\nHost: junction\r\nContent-Length: 100000\r\n\r\nabc")
        while server.provider.uploaded < 3 {}

        try server.onLoop { [server = server.server] in
            server.reload(policy: AccessPolicy(rules: [], daemonUser: 0), exposesApi: true)
        }

        let upload = try #require(server.provider.apiCalls.first?.upload)
        #expect(try server.onLoop { upload.breach != nil })
        #expect(try client.isAtEnd())
    }

    // MARK: Shares

    @Test func `an answer that goes on counts until its end`() throws {
        let server = try TestServer(limits: CallerLimits(inFlight: 1))
        let client = try server.visitSignedIn()
        let stream = BodyStream()
        server.provider.answerCalls(Answer(status: 200, headers: [], body: [], stream: stream))
        try client.request("GET", "/v2/user/alice")
        _ = try client.head()

        #expect(try server.visit().ask("GET", "/v2/user/alice").kind == "busy")
        try server.onLoop { stream.finish(.complete) }

        #expect(try client.chunk() == nil)
        #expect(try client.ask("GET", "/v2/user/alice").status == 200)
    }

    @Test func `an answer that is given up counts no more`() throws {
        let server = try TestServer(limits: CallerLimits(inFlight: 1))
        var client: DoorClient? = try server.visitSignedIn()
        let stream = BodyStream()
        server.provider.answerCalls(Answer(status: 200, headers: [], body: [], stream: stream))
        try client?.request("GET", "/v2/user/alice")
        _ = try client?.head()

        client = nil
        while try server.onLoop({ !stream.isAbandoned }) {}

        #expect(try server.visit().ask("GET", "/v2/user/alice").status == 200)
    }

    @Test(.enabled(if: OrdinaryCaller.isPossible, "Only root can connect as somebody else"))
    func `no user has more than a quarter of the ways out, and the others have theirs`() throws {
        let policy = AccessPolicy(rules: [AccessRule(allow: [.api])], daemonUser: 0)
        let server = try TestServer(policy, callsPerMinute: 1_000)
        _ = try server.connectSignedIn()
        let quarter = 48
        let streams = (0..<quarter).map { _ in BodyStream() }
        for stream in streams {
            server.provider.answerCalls(Answer(status: 200, headers: [], body: [], stream: stream))
        }
        let clients = try streams.map { _ in
            let client = try server.visit()
            try client.request("GET", "/v2/user/alice")
            #expect(try client.head().status == 200)
            return client
        }

        let refused = try server.visit().ask("GET", "/v2/user/alice")
        #expect(refused.status == 429)
        #expect(refused.kind == "busy")
        #expect(try OrdinaryCaller().visit(server).ask("GET", "/v2/user/alice").status == 200)
        #expect(try server.visit().ask("GET", "/.junction/status").status == 200)

        try server.onLoop { streams[0].finish(.complete) }
        #expect(try clients[0].chunk() == nil)
        #expect(try clients[0].ask("GET", "/v2/user/alice").status == 200)
    }

    @Test func `requests that came together let others have their turn`() throws {
        let server = try TestServer()
        let (many, other) = (try server.visit(), try server.visit())
        // Both are heard from now on, whoever came first.
        for client in [many, other] { #expect(try client.ask("GET", "/.junction/metrics").status == 200) }
        let count = 100
        let isHeld = Signal()
        let held = server.loop.submit { isHeld.wait() }
        try many.send(String(repeating: "GET /.junction/status HTTP/1.1\r\nHost: junction\r\n\r\n", count: count))
        try other.request("GET", "/.junction/metrics")
        isHeld.give()
        try held.wait()

        // It says how many were answered before it.
        let text = try other.answer().text
        let told = try #require(Int(text.split(separator: " ")[1]))

        #expect(told < count / 2)
        for _ in 0..<count { #expect(try many.answer().status == 200) }
    }

    @Test func `what never changes is made once`() throws {
        let server = try TestServer()
        let client = try server.visit()

        let first = try client.ask("GET", "/.junction/openapi.json").body
        #expect(try client.ask("GET", "/.junction/openapi.json").body == first)
        #expect(try server.visit().ask("GET", "/.junction/openapi.json").body == first)

        #expect(server.introspection.descriptionsTold == 1)
    }

    // MARK: Who is waited for

    @Test func `a head that began behind another request is not waited for either`() throws {
        var patience = ServerSettings.Patience.none
        patience.line = .milliseconds(20)
        let server = try TestServer(patience: patience)
        let client = try server.visit()

        try client.send("GET /.junction/status HTTP/1.1\r\nHost: junction\r\n\r\nGET /.junction/status HTTP/1.1\r\nHo")

        #expect(try client.answer().status == 200)
        #expect(try client.answer().status == 408)
        #expect(try client.isAtEnd())
    }

    @Test func `who is answered before everything was sent may take its time`() throws {
        var patience = ServerSettings.Patience.none
        patience.line = .seconds(1)
        let server = try TestServer(patience: patience)
        let client = try server.visitSignedIn()
        let stream = BodyStream()
        server.provider.answerBeforeUploads()
        server.provider.answerCalls(Answer(status: 200, headers: [], body: [], stream: stream))
        let length = 100_000
        let head = "PUT /v2/user/alice/x HTTP/1.1\r\nHost: junction\r\nContent-Length: \(length)\r\n\r\n"
        try client.send(Array(head.utf8) + [UInt8](repeating: 1, count: 40_000))
        #expect(try client.head().status == 200)

        // A timer that was set before this one has rung before it.
        try server.loop.scheduleTask(in: .seconds(1)) {}.futureResult.wait()
        try server.onLoop {
            [UInt8](repeating: 2, count: 5).withUnsafeBytes { stream.put($0) }
            stream.finish(.complete)
        }

        #expect(try client.chunk()?.count == 5)
        #expect(try client.chunk() == nil)
    }

    @Test func `a body in chunks is not asked for before its path was judged`() throws {
        let server = try TestServer()
        let client = try server.visitSignedIn()
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
    func `blanks around a length are none of it`(length: String) throws {
        let server = try TestServer()
        let client = try server.visitSignedIn()

        try client.send("POST /v2/user/alice HTTP/1.1\r\nHost: junction\r\nContent-Length: \(length)\r\n\r\nhello")

        #expect(try client.answer().status == 200)
        #expect(server.provider.apiCalls.first?.body == Array("hello".utf8))
    }
}
