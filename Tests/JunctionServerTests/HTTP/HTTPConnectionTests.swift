import Glibc
import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionTesting
import NIOCore
import Testing

/// HTTP over a real socket, byte by byte.
struct HTTPConnectionTests {
    private typealias Answer = JunctionSession.ApiAnswer

    // MARK: The API

    @Test func `a request is a call of the user, and its answer is returned unchanged`() throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        server.provider.answerCalls(
            Answer(
                status: 404,
                headers: [
                    (name: "Content-Type", value: "text/plain"), (name: "Content-Length", value: "9"),
                    (name: "Junction-Error", value: "notSignedIn"), (name: "X-Two", value: "1"),
                    (name: "X-Two", value: "2"),
                ],
                body: Array("no".utf8)
            )
        )

        let answer = try client.ask("GET", "/v2/user/:userId?a=b+c", "Accept: text/plain", "Authorization: x")

        #expect(answer.status == 404)
        #expect(answer.text == "no")
        #expect(answer.header("content-type") == "text/plain")
        #expect(answer.headers.filter { $0.name == "X-Two" }.map(\.value) == ["1", "2"])
        #expect(answer.kind == nil)
        let call = try #require(server.provider.apiCalls.first)
        #expect(call.path == "/v2/user/alice")
        #expect(call.query.map { $0.name + "=" + $0.value } == ["a=b c"])
        #expect(call.body == nil)
        #expect(call.leavesOutOtherHeaders)
        #expect(try server.counters.requests(of: .apiRequest) == 1)
    }

    @Test(arguments: [
        "Content-Length: 5\r\n\r\nhello",
        "Transfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nT: 1\r\n\r\n",
    ])
    func `a short body is complete before the call, so that the call can be repeated`(body: String) throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        server.provider.answerCalls(
            Answer(status: 401, headers: [], body: []),
            Answer(status: 200, headers: [], body: [])
        )

        try client.send("POST /v2/user/alice/x HTTP/1.1\r\nhost: junction\r\n\(body)")

        #expect(try client.answer().status == 200)
        #expect(server.provider.apiCalls.map(\.body) == [Array("hello".utf8), Array("hello".utf8)])
        #expect(server.provider.renewalCalls == 1)
    }

    @Test func `a long body is sent once, and its 401 is returned after the renewal`() throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        server.provider.answerCalls(Answer(status: 401, headers: [], body: Array("old".utf8)))

        let answer = try client.ask("POST", "/v2/user/alice/x", body: String(repeating: "x", count: 100_000))

        #expect(answer.status == 401)
        #expect(answer.text == "old")
        #expect(answer.kind == nil)
        #expect(server.provider.uploaded == 100_000)
        #expect(server.provider.renewalCalls == 1)
        #expect(server.provider.apiCalls.count == 1)
        #expect(try client.ask("GET", "/v2/user/alice").status == 200)
    }

    @Test(arguments: ["", "Expect: 100-continue\r\n"])
    func `a path of another user is refused without a call and without its body`(expectation: String) throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()

        let length = "Content-Length: 100000000\r\n"
        try client.send("PUT /v2/user/bob HTTP/1.1\r\nHost: junction\r\n\(length)\(expectation)\r\n")
        let answer = try client.answer()

        #expect(answer.status == 403)
        #expect(answer.kind == "permissionDenied")
        #expect(answer.header("connection") == "close")
        #expect(answer.header("content-type") == "application/problem+json")
        let problem = try JSONValue.parse(answer.body)
        #expect(problem["kind"]?.string == "permissionDenied")
        #expect(problem["status"]?.integer == 403)
        #expect(problem["detail"]?.string?.contains("own resources") == true)
        #expect(try client.isAtEnd())
        #expect(server.provider.apiCalls.isEmpty)
    }

    @Test(.needsRoot) func `a caller without the right is refused, and that is recorded`() throws {
        let server = try TestServer(AccessPolicy(rules: [AccessRule(allow: [.status])], daemonUser: 0))
        let client = try OrdinaryCaller().connectHTTP(server)

        #expect(try client.ask("GET", "/v2/user/:userId").kind == "permissionDenied")
        #expect(try client.ask("GET", "/.junction/token", "Junction-Local: true").status == 403)
        #expect(try client.ask("GET", "/.junction/status").status == 200)
        #expect(server.audit.lines == ["refused api.request api 12345", "refused token.get token 12345"])
    }

    @Test func `errors of the daemon have a status, a kind and a time to wait`() throws {
        let server = try TestServer(callsPerMinute: 1)
        let client = try server.connectHTTP()

        let nobody = try client.ask("GET", "/v2/user/:userId")
        #expect(nobody.status == 401)
        #expect(nobody.kind == "notSignedIn")
        #expect(nobody.header("www-authenticate") != nil)

        _ = try server.connectSignedIn()
        server.provider.failCalls(Unavailability("It is away", retryAfter: .milliseconds(1_500)))
        let away = try client.ask("GET", "/v2/user/:userId")
        #expect(away.status == 503)
        #expect(away.kind == "providerUnavailable")
        #expect(away.header("retry-after") == "2")
        #expect(try JSONValue.parse(away.body)["retryAfter"]?.double == 1.5)

        let often = try client.ask("GET", "/v2/user/:userId")
        #expect(often.status == 429)
        #expect(often.kind == "busy")
    }

    @Test func `a HEAD request gets no body, not even for an error`() throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        server.provider.answerCalls(Answer(status: 200, headers: [(name: "content-length", value: "7")], body: []))

        let head = try client.ask("HEAD", "/v2/user/alice")
        #expect(head.status == 200)
        #expect(head.header("content-length") == "7")
        #expect(try client.ask("HEAD", "/v2/user/bob").status == 403)
        #expect(try client.ask("GET", "/.junction/metrics").status == 200)
    }

    @Test func `with api.expose off there is no call`() throws {
        let server = try TestServer(exposesApi: false)
        let client = try server.connectHTTPSignedIn()

        let answer = try client.ask("GET", "/v2/user/:userId")

        #expect(answer.status == 403)
        let problem = try JSONValue.parse(answer.body)
        #expect(problem["detail"]?.string?.contains("api.expose") == true)
        #expect(problem["remedy"]?.string == "set api.expose = true in the daemon's configuration and reload it")
    }

    // MARK: Pages

    @Test func `the pages have the same content as the JSON-RPC methods`() throws {
        let server = try TestServer()
        let other = try server.connectSignedIn()
        let client = try server.connectHTTP()

        let status = try client.ask("GET", "/.junction/status")
        #expect(try status.text == other.result(of: "session.status").text)
        #expect(status.header("content-type") == "application/json")
        #expect(status.header("cache-control") == "no-store")

        let token = try client.ask("GET", "/.junction/token", "Junction-Local: true")
        #expect(try token.text == other.result(of: "token.get").text)
        #expect(server.audit.lines.filter { $0.hasPrefix("token") }.count == 2)

        let metrics = try client.ask("GET", "/.junction/metrics")
        #expect(metrics.text == "statuses 2 watchers 0\n")
        #expect(metrics.header("content-type") == "text/plain; version=0.0.4; charset=utf-8")

        let document = try client.ask("GET", "/.junction/openapi.json")
        #expect(try JSONValue.parse(document.body)["openapi"]?.string == "3.1.0")
    }

    @Test func `a wait for a token is counted over both sockets`() throws {
        let server = try TestServer()
        let (client, other) = (try server.connectHTTPSignedIn(), try server.connect())
        server.provider.hold()
        try server.pass(.seconds(4_000))

        try client.request("GET", "/.junction/token", "Junction-Local: true")
        try other.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"token.get"}"#)
        while try server.counters.requests(of: .tokenGet) < 2 { try server.pass(.zero) }
        server.provider.release()
        let (answer, otherAnswer) = (try client.answer(), try other.receiveValue())

        #expect(try answer.text == #require(otherAnswer["result"]).text)
        #expect(try server.counters.tokenWaits.cumulative.last == 2)
        #expect(try server.counters.tokensServed == 2)
    }

    @Test func `both sockets accept and refuse the same values of minimumValidity`() throws {
        let server = try TestServer()
        let (client, other) = (try server.connectHTTPSignedIn(), try server.connect())
        var random = Randomness(seed: 5)
        let fixed = [
            "0", "-0", "-1", "60", "2880", "2881", "86401", "1e3", "1e400", "NaN", "inf", "0x10", "01", "null",
            "\"5\"", "",
        ]
        let drawn = (0..<100).map { _ in "\(Int(random.next() % 6_000) - 500).\(random.next() % 1_000)" }
        var (served, refused) = (0, 0)
        for text in fixed + drawn {
            let query = text.replacing("\"", with: "%22").replacing(" ", with: "%20")
            let answer = try client.ask("GET", "/.junction/token?minimumValidity=\(query)", "Junction-Local: true")
            let isNumber = (try? JSONValue.parse(Array(text.utf8)))?.kind == .number
            let call = try other.call("token.get", #"{"minimumValidity":\#(isNumber ? text : "false")}"#)
            if let error = call["error"] {
                refused += 1
                #expect(answer.status == 400, "\(text)")
                let problem = try JSONValue.parse(answer.body)
                #expect(problem["detail"]?.string == error["message"]?.string, "\(text)")
                #expect(problem["maximum"]?.double == error["data"]?["maximum"]?.double, "\(text)")
            } else {
                served += 1
                #expect(answer.text == call["result"]?.text, "\(text)")
            }
        }
        #expect(served > 20 && refused > 20)
    }

    @Test(arguments: [
        ("token?minValidity=5", "'minValidity' is not a parameter"), ("token?changes=state", "'changes' is not a"),
        ("token?=5", "'' is not a parameter"),
        ("token?minimumValidity=1&minimumValidity=1", "'minimumValidity' is given more than once"),
        ("token?minimumValidity=+5", "'minimumValidity' must be a number"),
        ("token?minimumValidity=5%20", "'minimumValidity' must be a number"),
        ("events?change=state", "'change' is not a parameter"), ("status?x=y", "'x' is not a parameter"),
        ("events?changes=all&changes=state", "'changes' is given more than once"),
    ])
    func `a page takes only its own parameters, once`(query: String, detail: String) throws {
        let client = try TestServer().connectHTTPSignedIn()

        let answer = try client.ask("GET", "/.junction/\(query)", "Junction-Local: true")

        #expect(answer.status == 400 && answer.kind == "invalidParams")
        #expect(try JSONValue.parse(answer.body)["detail"]?.string?.contains(detail) == true)
        #expect(try client.ask("GET", "/.junction/token?minimumValidity=5", "Junction-Local: true").status == 200)
    }

    @Test func `events contain every state until the connection ends`() throws {
        let server = try TestServer()
        let client = try server.connectHTTP()
        try client.request("GET", "/.junction/events")
        #expect(try client.head().header("content-type") == "text/event-stream")
        #expect(try client.state() == "notLoggedIn")
        #expect(try server.counters.watchers == 1)

        let other = try server.connectSignedIn()
        #expect(try client.state() == "establishing")
        #expect(try client.state() == "established")
        _ = try other.result(of: "session.signOut")
        #expect(try client.state() == "notLoggedIn")
    }

    @Test func `events of the state alone contain no renewal`() throws {
        let server = try TestServer()
        let other = try server.connectSignedIn()
        let client = try server.connectHTTP()
        try client.request("GET", "/.junction/events?changes=state")
        _ = try client.head()
        #expect(try client.state() == "established")

        _ = try other.result(of: "session.renew")
        _ = try other.result(of: "session.signOut")

        #expect(try client.state() == "notLoggedIn")
        let wrong = try server.connectHTTP().ask("GET", "/.junction/events?changes=some")
        #expect(wrong.status == 400 && wrong.kind == "invalidParams")
        #expect(try JSONValue.parse(wrong.body)["detail"]?.string?.contains("must be 'all' or 'state'") == true)
    }

    @Test(.needsRoot) func `events end when the caller loses the right to them`() throws {
        let server = try TestServer(AccessPolicy(rules: [AccessRule(allow: [.status])], daemonUser: 0))
        let client = try OrdinaryCaller().connectHTTP(server)
        try client.request("GET", "/.junction/events")
        _ = try client.head()
        _ = try client.state()
        let none = AccessPolicy(rules: [AccessRule(allow: [])], daemonUser: 0)

        try server.reload(none)

        #expect(try client.isAtEnd())
        #expect(try server.counters.watchers == 0)
        #expect(try OrdinaryCaller().connectHTTP(server).ask("GET", "/.junction/events").kind == "permissionDenied")
    }

    @Test(.needsRoot) func `an answer ends early when the caller loses the right to the API`() throws {
        let server = try TestServer(AccessPolicy(rules: [AccessRule(allow: [.api])], daemonUser: 0))
        _ = try server.connectSignedIn()
        let client = try OrdinaryCaller().connectHTTP(server)
        let stream = BodyStream()
        server.provider.answerCalls(Answer(status: 200, headers: [], body: [], stream: stream))
        try client.request("GET", "/v2/user/alice")
        _ = try client.head()

        try server.reload(AccessPolicy(rules: [], daemonUser: 0))

        #expect(try client.isAtEnd())
        #expect(try server.onLoop { stream.isAbandoned })
    }

    @Test func `a drain completes events, and closes idle connections at once`() throws {
        let server = try TestServer(timeouts: .none)
        let (listener, idle) = (try server.connectHTTP(), try server.connectHTTP())
        try listener.request("GET", "/.junction/events")
        _ = try listener.head()
        _ = try listener.state()
        #expect(try idle.ask("GET", "/.junction/status").status == 200)

        let drained = server.drain()

        #expect(try listener.chunk() == nil)
        #expect(try listener.isAtEnd())
        #expect(try idle.isAtEnd())
        try drained.wait()
    }

    // MARK: The connection

    @Test func `requests that arrive together are answered one after the other`() throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        server.provider.answerCalls(
            Answer(status: 201, headers: [], body: Array("1".utf8)),
            Answer(status: 202, headers: [], body: Array("2".utf8))
        )
        let first = "POST /v2/user/alice/1 HTTP/1.1\r\nHost: junction\r\nContent-Length: 3\r\n\r\nabc"
        let second = "GET /v2/user/alice/2 HTTP/1.1\r\nHost: junction\r\n\r\n"
        let page = "GET /.junction/metrics HTTP/1.1\r\nHost: junction\r\nConnection: close\r\n\r\n"

        try client.send(first + second + page + second)

        #expect(try client.answer().text == "1")
        #expect(try client.answer().text == "2")
        let last = try client.answer()
        #expect(last.status == 200)
        #expect(last.header("connection") == "close")
        #expect(try client.isAtEnd())
        #expect(server.provider.apiCalls.map(\.path) == ["/v2/user/alice/1", "/v2/user/alice/2"])
    }

    @Test func `thousands of requests are read only as they are answered`() throws {
        let server = try TestServer(callsPerMinute: 100_000)
        let client = try server.connectHTTPSignedIn()
        let count = 5_000
        let asked = Thread.asking(
            client,
            String(repeating: "GET /v2/user/:userId HTTP/1.1\r\nHost: junction\r\n\r\n", count: count)
        )

        for _ in 0..<count { #expect(try client.answer().status == 200) }

        asked.join()
        #expect(server.provider.apiCalls.count == count)
    }

    @Test(arguments: [50, 70_000])
    func `a body with Expect is requested when it is needed`(count: Int) throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        let head = "Host: junction\r\nContent-Length: \(count)\r\nExpect: 100-continue\r\n\r\n"

        try client.send("PUT /v2/user/alice/x HTTP/1.1\r\n" + head)
        #expect(try client.answer().status == 100)
        try client.send([UInt8](repeating: 1, count: count))
        #expect(try client.answer().status == 200)

        // A body is not requested if the head is refused.
        try client.send("PUT /v2/user/alice/x HTTP/1.1\r\nOrigin: x\r\n" + head)
        #expect(try client.answer().status == 403)
    }

    @Test func `a connection above the limit gets an error`() throws {
        let server = try TestServer(limits: .with(\.connections, 1))
        let first = try server.connectHTTP()
        #expect(try first.ask("GET", "/.junction/status").status == 200)

        let second = try server.connectHTTP()

        let answer = try second.answer()
        #expect(answer.status == 429)
        #expect(answer.header("retry-after") == "1")
        #expect(try second.isAtEnd())
    }

    // MARK: Invalid and ambiguous HTTP

    struct Nonsense: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var bytes: String
        var status: Int

        init(_ what: String, _ bytes: String, _ status: Int = 400) {
            (testDescription, self.bytes, self.status) = (what, bytes, status)
        }
    }

    private static let post = "POST /v2/user/alice/x HTTP/1.1\r\nHost: junction\r\n"
    private static let get = "GET /v2/user/alice HTTP/1.1\r\nHost: junction\r\n"

    static let nonsense = [
        Nonsense("no HTTP", "hello\r\n\r\n"),
        Nonsense("TLS", "\u{16}\u{3}\u{1}\u{2}\r\n\r\n"),
        Nonsense("JSON-RPC", #"{"jsonrpc":"2.0","id":1,"method":"session.status"}"# + "\n"),
        Nonsense("no version", "GET /v2/user/alice\r\nHost: junction\r\n\r\n", 505),
        Nonsense("version 1.0", "GET /v2/user/alice HTTP/1.0\r\nHost: junction\r\n\r\n", 505),
        Nonsense("version 2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        Nonsense("version 9.9", "GET / HTTP/9.9\r\nHost: junction\r\n\r\n", 505),
        Nonsense("no host", "GET / HTTP/1.1\r\n\r\n"),
        Nonsense("another host", "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", 421),
        Nonsense("two hosts", get + "Host: junction\r\n\r\n"),
        Nonsense("the form for proxies", "GET http://junction/v2/user/alice HTTP/1.1\r\nHost: junction\r\n\r\n"),
        Nonsense("a tunnel", "CONNECT junction:80 HTTP/1.1\r\nHost: junction\r\n\r\n", 405),
        Nonsense("no path", "OPTIONS * HTTP/1.1\r\nHost: junction\r\n\r\n", 405),
        Nonsense("an upgrade", get + "Connection: upgrade\r\nUpgrade: websocket\r\n\r\n"),
        Nonsense("lines that end with LF alone", "GET /v2/user/alice HTTP/1.1\nHost: junction\n\n"),
        Nonsense("one line that does", get + "X: y\nZ: w\r\n\r\n"),
        Nonsense("a CR within a value", get + "X: y\rZ: w\r\n\r\n"),
        Nonsense("a NUL within a value", get + "X: y\0z\r\n\r\n"),
        Nonsense("a folded header", get + "X: y\r\n z\r\n\r\n"),
        Nonsense("a header that is folded at once", get + "X:\r\n z\r\n\r\n"),
        Nonsense("a blank before the colon", get + "X : y\r\n\r\n"),
        Nonsense("a blank before the first header", "GET / HTTP/1.1\r\n Host: junction\r\n\r\n"),
        Nonsense("a header without a name", get + ": y\r\n\r\n"),
        Nonsense("a header without a colon", get + "X\r\n\r\n"),
        Nonsense("length and chunks", post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Nonsense("chunks and length", post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"),
        Nonsense("two lengths", post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
        Nonsense("the same length twice", post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"),
        Nonsense("a list of lengths", post + "Content-Length: 3, 3\r\n\r\nabc"),
        Nonsense("a length with a sign", post + "Content-Length: +3\r\n\r\nabc"),
        Nonsense("a negative length", post + "Content-Length: -3\r\n\r\nabc"),
        Nonsense("a hexadecimal length", post + "Content-Length: 0x3\r\n\r\nabc"),
        Nonsense("a length with a blank", post + "Content-Length: 1 2\r\n\r\nabc"),
        Nonsense("an empty length", post + "Content-Length:\r\n\r\n"),
        Nonsense("a length that is too long", post + "Content-Length: 99999999999999999999\r\n\r\n"),
        Nonsense("another coding", post + "Transfer-Encoding: gzip\r\n\r\n", 501),
        Nonsense("two codings", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
        Nonsense("chunks twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Nonsense("chunks in disguise", post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501),
        Nonsense("a chunk without a size", post + "Transfer-Encoding: chunked\r\n\r\n\r\nabc\r\n0\r\n\r\n"),
        Nonsense("a chunk with a sign", post + "Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n"),
        Nonsense(
            "a chunk that is longer than it says",
            post + "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n"
        ),
        Nonsense(
            "a chunk's size that ends with LF alone",
            post + "Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n"
        ),
        Nonsense("a chunk that ends with LF alone", post + "Transfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n"),
        Nonsense("a chunk of too much", post + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n"),
        Nonsense("a path that is too long", "GET /\(String(repeating: "x", count: 40_000)) HTTP/1.1\r\n", 431),
        Nonsense("a header that is too long", get + "X: \(String(repeating: "x", count: 40_000))\r\n\r\n", 431),
        Nonsense("a name that is too long", get + String(repeating: "x", count: 40_000) + ": y\r\n\r\n", 431),
        Nonsense(
            "headers that are too long together",
            get + String(repeating: "X: \(String(repeating: "x", count: 9_000))\r\n", count: 5),
            431
        ),
        Nonsense("too many headers", get + String(repeating: "X: y\r\n", count: 200) + "\r\n", 431),
        Nonsense(
            "trailers that are too many",
            post + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + String(repeating: "X: y\r\n", count: 200) + "\r\n",
            431
        ),
    ]

    @Test(arguments: nonsense)
    func `invalid HTTP gets an error and ends the connection`(nonsense: Nonsense) throws {
        let server = try TestServer(timeouts: .none)
        let client = try server.connectHTTPSignedIn()

        // The answer may come before all bytes were sent.
        _ = client.socket.sendWhatFits(Array(nonsense.bytes.utf8))
        let answer = try client.answer(toHead: false)

        #expect(answer.status == nonsense.status, "\(answer.text)")
        #expect(answer.header("connection") == "close")
        #expect(answer.kind != nil)
        #expect(try client.isAtEnd())
        #expect(server.provider.apiCalls.isEmpty)
    }

    @Test func `invalid input after a valid request ends the connection after that request's answer`() throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()

        try client.send("GET /v2/user/alice HTTP/1.1\r\nHost: junction\r\n\r\nXXXX\r\n\r\n")

        #expect(try client.answer().status == 200)
        #expect(try client.answer().status == 400)
        #expect(try client.isAtEnd())
    }

    @Test func `an incomplete request gets an error`() throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()

        try client.send("POST /v2/user/alice HTTP/1.1\r\nHost: junction\r\nContent-Length: 10\r\n\r\nabc")
        client.finish()

        #expect(try client.answer().status == 400)
        #expect(server.provider.apiCalls.isEmpty)
    }

    // MARK: Slow clients

    @Test(arguments: [
        "GET /v2/user/alice HTTP/1.1\r\nHost: jun",
        "POST /v2/user/alice HTTP/1.1\r\nHost: junction\r\nContent-Length: 10\r\n\r\nabc",
        "POST /v2/user/alice HTTP/1.1\r\nHost: junction\r\nContent-Length: 100000\r\n\r\nabc",
        "POST /v2/user/alice HTTP/1.1\r\nHost: junction\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nabc",
    ])
    func `a client that does not complete its request gets a timeout`(beginning: String) throws {
        var timeouts = ServerSettings.Timeouts.none
        timeouts.line = .milliseconds(20)
        let server = try TestServer(timeouts: timeouts)
        let client = try server.connectHTTPSignedIn()

        try client.send(beginning)

        #expect(try client.answer().status == 408)
        #expect(try client.isAtEnd())
    }

    @Test func `an idle client without a request stays connected`() throws {
        var timeouts = ServerSettings.Timeouts.none
        timeouts.line = .zero
        let server = try TestServer(timeouts: timeouts)
        let client = try server.connectHTTP()

        for _ in 0..<3 { #expect(try client.ask("GET", "/.junction/status").status == 200) }
    }

    @Test func `an answer that the client does not read is given up`() throws {
        var timeouts = ServerSettings.Timeouts.none
        timeouts.reading = .milliseconds(1)
        let server = try TestServer(timeouts: timeouts)
        let client = try server.connectHTTPSignedIn()
        let stream = BodyStream()
        server.provider.answerCalls(Answer(status: 200, headers: [], body: [], stream: stream))
        let source = Source(stream, of: .max)

        try client.request("GET", "/v2/user/alice")

        while try server.onLoop({ !stream.isAbandoned }) {}
        #expect(source.given > 0)
        withExtendedLifetime(client) {}
    }

    // MARK: Long bodies

    private static let long = 64 << 20
    /// The most bytes between the two programs: the memory of the sockets, the kept part of a body, and a piece at each
    /// end.
    private static let between = 1 << 20

    @Test func `an answer may be long, and is taken as the client reads`() throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        let stream = BodyStream()
        server.provider.answerCalls(Answer(status: 200, headers: [(name: "x", value: "y")], body: [], stream: stream))
        let source = Source(stream, of: Self.long)
        try client.request("GET", "/v2/user/alice")
        #expect(try client.head().header("transfer-encoding") == "chunked")

        var read = 0
        while let chunk = try client.chunk() {
            read += chunk.count
            guard read % (8 << 20) < chunk.count else { continue }
            // The source provides bytes only when there is space.
            #expect(try server.onLoop { source.given } - read < Self.between)
        }

        #expect(read == Self.long)
        #expect(try client.ask("GET", "/v2/user/alice").status == 200)
    }

    @Test(arguments: ["2", "70000", "0", "-1"])
    func `the provider's content length does not decide where an answer ends`(length: String) throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        let stream = BodyStream()
        let headers = ["Content-Length": length, "Transfer-Encoding": "gzip", "Connection": "close", "X": "y"]
        let named = headers.map { (name: $0.key, value: $0.value) }
        server.provider.answerCalls(Answer(status: 200, headers: named, body: [], stream: stream))
        try client.request("GET", "/v2/user/alice")
        try server.onLoop {
            Array("hello".utf8).withUnsafeBytes { stream.put($0) }
            stream.finish(.complete)
        }

        let answer = try client.answer()

        #expect(answer.text == "hello")
        #expect(
            answer.headers.map { "\($0.name.lowercased()): \($0.value)" }.sorted() == [
                "transfer-encoding: chunked", "x: y",
            ]
        )
        // The next answer belongs to the next request.
        #expect(try client.ask("GET", "/.junction/status").status == 200)
    }

    @Test(arguments: [204, 304])
    func `an answer without a body ends with its head, whatever length it has`(status: Int) throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        server.provider.answerCalls(Answer(status: status, headers: [(name: "content-length", value: "7")], body: []))

        let answer = try client.ask("GET", "/v2/user/alice")

        #expect(answer.status == status)
        #expect(answer.headers.isEmpty)
        #expect(try client.ask("GET", "/.junction/status").status == 200)
    }

    @Test func `an answer that ends early has no final chunk`() throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        let stream = BodyStream()
        server.provider.answerCalls(Answer(status: 200, headers: [], body: [], stream: stream))
        try client.request("GET", "/v2/user/alice")
        _ = try client.head()

        try server.onLoop {
            [UInt8](repeating: 1, count: 5).withUnsafeBytes { stream.put($0) }
            stream.finish(.broken(Unavailability("It has gone")))
        }

        #expect(try client.chunk()?.count == 5)
        #expect(try client.isAtEnd())
    }

    @Test(arguments: [true, false])
    func `a request may be long, and is read as the provider takes it`(isChunked: Bool) throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        server.provider.leaveUploads()
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(Self.long)"
        try client.send("PUT /v2/user/alice/x HTTP/1.1\r\nHost: junction\r\n\(framing)\r\n\r\n")
        let piece = [UInt8](repeating: 120, count: 1 << 16)
        let sent = isChunked ? Array("10000\r\n".utf8) + piece + Array("\r\n".utf8) : piece
        var rest = Self.long / piece.count

        // Sends as much as fits while the provider takes nothing. The kernel reports when that is, after the daemon has
        // read what it wants.
        var bytes = 0
        var left = sent[...]
        var idle = 0
        while idle < 1_000 {
            let count = client.socket.sendWhatFits(Array(left))
            idle = count == 0 ? idle + 1 : 0
            if count == 0 { try server.onLoop {} }
            bytes += count
            left = left.dropFirst(count)
            if left.isEmpty {
                left = sent[...]
                rest -= 1
            }
        }
        #expect(bytes < Self.between)

        server.provider.takeUploads()
        try client.send(Array(left))
        rest -= 1
        for _ in 0..<rest { try client.send(sent) }
        if isChunked { try client.send("0\r\n\r\n") }

        #expect(try client.answer().status == 200)
        #expect(server.provider.uploaded == Self.long)
    }

    @Test func `a request that ends early is not forwarded as a complete one`() throws {
        let server = try TestServer()
        let client = try server.connectHTTPSignedIn()
        try client.send("PUT /v2/user/alice/x HTTP/1.1\r\nHost: junction\r\nContent-Length: 100000\r\n\r\nabc")
        while server.provider.uploaded < 3 {}

        client.finish()

        #expect(try client.answer().status == 400)
        let upload = try #require(server.provider.apiCalls.first?.upload)
        #expect(upload.breach != nil)
    }
}

extension HTTPTestClient {
    fileprivate func state() throws -> String? {
        let event = String(decoding: try #require(try chunk()), as: UTF8.self)
        #expect(event.hasPrefix("event: snapshot\ndata: {"))
        #expect(event.hasSuffix("}\n\n"))
        return try JSONValue.parse(Array(event.dropFirst("event: snapshot\ndata: ".count).dropLast(2).utf8)).state
    }
}

extension Thread {
    /// Sends a text on another thread.
    fileprivate static func asking(_ client: HTTPTestClient, _ text: String) -> Thread {
        Thread { try? client.send(text) }
    }
}

/// Provides a number of bytes, as much as there is space for at a time, on the server's loop.
private final class Source: @unchecked Sendable {
    private(set) var given = 0
    private static let room = 1 << 16

    init(_ stream: BodyStream, of count: Int) {
        let piece = [UInt8](repeating: 120, count: 1 << 14)
        stream.whenTaken { [unowned self] _ in
            while stream.count < Self.room, given < count {
                piece.withUnsafeBytes { stream.put($0) }
                given += piece.count
            }
            if given >= count { stream.finish(.complete) }
        } abandoned: {
        }
    }
}
