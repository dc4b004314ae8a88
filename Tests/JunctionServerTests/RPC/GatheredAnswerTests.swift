import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionTesting
import NIOCore
import Synchronization
import Testing

private typealias Answer = JunctionSession.ApiAnswer

/// Answers to `api.request`: each is one line, and their memory is bounded.
struct GatheredAnswerTests {
    private let call = #"{"method":"GET","path":"/v2/user/alice"}"#

    private func sendCall(_ client: TestClient, id: String = "1") throws {
        try client.sendLine(#"{"jsonrpc":"2.0","id":\#(id),"method":"api.request","params":\#(call)}"#)
    }

    private func answer(_ stream: BodyStream, length: Int? = nil) -> Answer {
        let headers = length.map { [(name: "Content-Length", value: "\($0)")] } ?? []
        return Answer(status: 200, headers: headers, body: [], stream: stream)
    }

    /// Waits until the provider was called this many times.
    private func wait(for calls: Int, at server: TestServer) throws {
        while server.provider.apiCalls.count < calls {}
        // The answer is known at the end of a turn of the loop.
        for _ in 0..<3 { try server.onLoop {} }
    }

    private func put(_ count: Int, into stream: BodyStream, of server: TestServer, end: BodyStream.End? = .complete)
        throws
    {
        try server.onLoop {
            [UInt8](repeating: UInt8(ascii: "a"), count: count).withUnsafeBytes { stream.put($0) }
            if let end { stream.finish(end) }
        }
        for _ in 0..<3 { try server.onLoop {} }
    }

    @Test func `a body is not delivered after its user has signed out, even if another user signs in`()
        throws
    {
        let server = try TestServer()
        let client = try server.connectSignedIn(as: "alice")
        let stream = BodyStream()
        server.provider.answerCalls(answer(stream))
        try sendCall(client)
        try wait(for: 1, at: server)
        try put(10, into: stream, of: server, end: nil)

        _ = try server.connect().result(of: "session.signOut")
        _ = try server.connectSignedIn(as: "bob")

        let line = try client.receiveValue()
        #expect(line["result"] == nil)
        #expect(line["error"]?["data"]?["kind"]?.string == "notSignedIn")
    }

    // MARK: The line

    private static let bodies: [[UInt8]] = [
        [], [0x61], Array(#"{"a":"\"b\\ \#n"}"#.utf8), Array(0x00...0x7F), Array("größe € 𝄞".utf8),
        [0xFF], [0xFF, 0x00], [0xFF, 0x00, 0x22], [0xC3],
        // Characters and groups of three bytes are split across pieces.
        Array(String(repeating: "€", count: 40_000).utf8), Array(repeating: 0xFE, count: 100_001),
        Array(repeating: 0xFE, count: 65_536), Array(repeating: 0x01, count: 70_000),
    ]

    @Test(arguments: bodies, [true, false])
    func `a gathered line equals a line that was written at once`(body: [UInt8], isStreamed: Bool) throws {
        let server = try TestServer()
        let client = try server.connectSignedIn()
        let stream = BodyStream()
        server.provider.answerCalls(
            Answer(
                status: 201,
                headers: [(name: "X-Y", value: "z")],
                body: isStreamed ? [] : body,
                stream: isStreamed ? stream : nil
            )
        )
        try sendCall(client, id: "7")
        if isStreamed {
            try wait(for: 1, at: server)
            try server.onLoop {
                body.withUnsafeBytes { bytes in
                    for start in stride(from: 0, to: bytes.count, by: 777) {
                        stream.put(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 777, bytes.count)]))
                    }
                }
                stream.finish(.complete)
            }
        }

        var expected: [UInt8] = []
        let whole = JunctionProtocol.ApiAnswer(status: 201, headers: ["x-y": "z"], body: body)
        expected.appendAnswer(of: ApiCall.self, whole, for: RequestID(7))
        #expect(try client.receiveLine() == String(decoding: expected, as: UTF8.self))
    }

    @Test func `answers and notifications during a long answer come after it`() throws {
        let server = try TestServer()
        let client = try server.connectSignedIn()
        _ = try client.result(of: "session.subscribe")
        server.provider.answerCalls(Answer(status: 200, headers: [], body: Array(repeating: 0x61, count: 4 << 20)))
        try sendCall(client)
        try wait(for: 1, at: server)
        try client.sendLine(#"{"jsonrpc":"2.0","id":2,"method":"access.whoami"}"#)
        _ = try server.connect().result(of: "session.signOut")

        #expect(try client.receiveValue()["result"]?["body"]?.string?.utf8.count == 4 << 20)
        var heard: [String] = []
        for _ in 0..<2 {
            let line = try client.receiveValue()
            heard.append(line["method"]?.string ?? "\(line["id"]?.integer ?? 0)")
        }
        #expect(heard.sorted() == ["2", "session.changed"])
        #expect(try client.result(of: "session.status").state == "notLoggedIn")
    }

    @Test func `an answer that ends early is an error, and the connection stays open`() throws {
        let server = try TestServer()
        let client = try server.connectSignedIn()
        let stream = BodyStream()
        server.provider.answerCalls(answer(stream))
        try sendCall(client)
        try wait(for: 1, at: server)
        try put(100_000, into: stream, of: server, end: .broken(Unavailability("The line is dead")))

        let error = try #require(try client.receiveValue()["error"])
        #expect(error.code == 1006)
        #expect(error["message"]?.string?.contains("The line is dead") == true)
        #expect(try client.result(of: "session.status").state == "established")
    }

    @Test func `an answer is delivered after the peer has ended its output`() throws {
        let server = try TestServer()
        let client = try server.connectSignedIn()
        let stream = BodyStream()
        server.provider.answerCalls(answer(stream))
        try sendCall(client)
        client.finish()
        try wait(for: 1, at: server)
        try put(3 << 20, into: stream, of: server)

        #expect(try client.receiveValue()["result"]?["body"]?.string?.utf8.count == 3 << 20)
        #expect(try client.receiveLine() == nil)
    }

    // MARK: Space

    /// Makes the server keep a whole answer of this length for the first client, and half of another for the second,
    /// which waits for space.
    private func fill(
        _ server: TestServer,
        _ first: TestClient,
        _ second: TestClient,
        with streams: [BodyStream],
        length: Int
    ) throws {
        server.provider.answerCalls(answer(streams[0], length: length), answer(streams[1], length: length))
        for stream in streams.dropFirst(2) { server.provider.answerCalls(answer(stream)) }
        try sendCall(first)
        try wait(for: 1, at: server)
        // The first client does not read, so all bytes stay except those that the kernel takes.
        try put(length, into: streams[0], of: server)
        try sendCall(second)
        try wait(for: 2, at: server)
        try put(length / 2, into: streams[1], of: server, end: nil)
    }

    @Test func `a long answer waits for space, and a short one does not`() throws {
        let server = try TestServer(limits: .with(\.answers, 1 << 20))
        let (first, second, third) = (try server.connectSignedIn(), try server.connect(), try server.connect())
        let streams = (0..<3).map { _ in BodyStream() }
        let length = 1_000_000
        try fill(server, first, second, with: streams, length: length)
        #expect(try server.onLoop { streams[1].count } == length / 2)
        try sendCall(third)
        try wait(for: 3, at: server)
        try put(1_000, into: streams[2], of: server)

        #expect(try third.receiveValue()["result"]?["body"]?.string?.utf8.count == 1_000)
        #expect(try first.receiveValue()["result"]?["body"]?.string?.utf8.count == length)
        while try server.onLoop({ streams[1].count > 0 }) {}
        try put(length / 2, into: streams[1], of: server)
        #expect(try second.receiveValue()["result"]?["body"]?.string?.utf8.count == length)
    }

    @Test func `answers that wait behind an unread body count for their user`() throws {
        let server = try TestServer(limits: .with(\.held, 1_500_000))
        server.introspection.versionSize.withLock { $0 = 1 << 16 }
        let (first, second) = (try server.connectSignedIn(), try server.connect())
        let (unread, last, other) = (BodyStream(), BodyStream(), BodyStream())
        server.provider.answerCalls(answer(unread, length: 1_000_000), answer(last), answer(other))
        try sendCall(first)
        try wait(for: 1, at: server)
        // A batch is answered up to 1 MiB.
        let documents = String(repeating: #",{"jsonrpc":"2.0","id":2,"method":"rpc.discover"}"#, count: 200)
        let batch = #"[{"jsonrpc":"2.0","id":1,"method":"api.request","params":\#(call)}\#(documents)]"#
        try first.sendLine(batch)
        try wait(for: 2, at: server)
        try put(1_000_000, into: unread, of: server)
        try put(1_000, into: last, of: server)

        // Two batches are more than the limit, so one of the connections is closed.
        try second.sendLine(batch)
        while try server.counters.openConnections == 2 {}
        #expect(try server.counters.openConnections == 1)
    }

    @Test func `an answer that waits too long for space is a busy error, and the call is not repeated`() throws {
        let server = try TestServer(limits: .with(\.answers, 1 << 20), timeouts: .with(\.room, .zero))
        let (first, second) = (try server.connectSignedIn(), try server.connect())
        let streams = (0..<2).map { _ in BodyStream() }
        let length = 1_000_000
        try fill(server, first, second, with: streams, length: length)

        let error = try #require(try second.receiveValue()["error"])
        #expect(error.code == 1011)
        #expect(error["data"]?["remedy"]?.string?.contains("has carried out the call") == true)
        #expect(error["data"]?["retryAfter"] == nil)
        #expect(streams[1].isAbandoned)
        #expect(try first.receiveValue()["result"]?["body"]?.string?.utf8.count == length)
        #expect(server.provider.apiCalls.count == 2)
    }

    @Test func `a user with too much unread gets a busy error until it is read`() throws {
        let server = try TestServer(limits: .with(\.answers, 1 << 20))
        let client = try server.connectSignedIn()
        server.provider.answerCalls(Answer(status: 200, headers: [], body: Array(repeating: 0x61, count: 4 << 20)))
        try sendCall(client)
        try wait(for: 1, at: server)

        let error = try server.connect().error(of: "api.request", call)
        #expect(error.code == 1011)
        #expect((error["data"]?["retryAfter"]?.double ?? 0) > 0)
        // Other requests of the user are not affected.
        #expect(try server.connect().result(of: "session.status").state == "established")

        _ = try client.receiveLine()
        #expect(try client.result(of: "api.request", call)["status"]?.integer == 200)
    }

    @Test func `a client that disconnects leaves no answer behind, gathered or not`() throws {
        let server = try TestServer(limits: .with(\.answers, 1 << 20))
        let streams = (0..<2).map { _ in BodyStream() }
        server.provider.answerCalls(
            answer(streams[0], length: 1_000_000),
            Answer(status: 200, headers: [], body: Array(repeating: 0x61, count: 4 << 20))
        )
        do {
            let clients = try (0..<2).map { _ in try server.connectSignedIn() }
            try sendCall(clients[0])
            try wait(for: 1, at: server)
            try put(100_000, into: streams[0], of: server, end: nil)
            try sendCall(clients[1])
            try wait(for: 2, at: server)
            #expect(try server.connect().error(of: "api.request", call).code == 1011)
        }
        while try server.counters.openConnections > 0 {}

        #expect(streams[0].isAbandoned)
        #expect(try server.connect().result(of: "api.request", call)["status"]?.integer == 200)
    }

    @Test func `an answer that comes after its caller has gone is not gathered`() throws {
        let server = try TestServer(limits: .with(\.calls, 1))
        let stream = BodyStream()
        server.provider.answerCalls(answer(stream, length: 1_000_000))
        do {
            let client = try server.signInHeld()
            // The call waits for the sign-in, but the client does not.
            try sendCall(client)
        }
        while try server.counters.openConnections > 0 {}
        server.provider.release()
        while try server.onLoop({ !stream.isAbandoned }) {}

        #expect(try server.connect().result(of: "api.request", call)["status"]?.integer == 200)
    }

    /// Sends a batch of calls whose answers have 600,000 bytes. Returns the bodies of the answers.
    private func sendBatch(of count: Int, to server: TestServer, on client: TestClient) throws -> [BodyStream] {
        let streams = (0..<count).map { _ in BodyStream() }
        for stream in streams { server.provider.answerCalls(answer(stream, length: 600_000)) }
        let calls = (1...count).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"api.request","params":\#(call)}"# }
        try client.sendLine("[" + calls.joined(separator: ",") + "]")
        try wait(for: count, at: server)
        return streams
    }

    @Test func `short answers fit into a batch, and a long one only while there is space`() throws {
        let server = try TestServer(limits: .with(\.answers, 1 << 20))
        let client = try server.connectSignedIn()
        let streams = try sendBatch(of: 3, to: server, on: client)
        try put(1_000, into: streams[0], of: server)
        try put(600_000, into: streams[1], of: server)
        try put(600_000, into: streams[2], of: server)

        let answers = Array(try client.receiveValue().elements)
        #expect(answers.compactMap { $0["id"]?.integer } == [1, 2, 3])
        #expect(answers[0]["result"]?["body"]?.string?.utf8.count == 1_000)
        #expect(answers[1]["result"]?["body"]?.string?.utf8.count == 600_000)
        #expect(answers[2]["error"]?.code == 1011)
        #expect(streams[2].isAbandoned)
        #expect(try client.result(of: "api.request", call)["status"]?.integer == 200)
    }

    @Test func `a body does not wait without end for the rest of its batch`() throws {
        let server = try TestServer(limits: .with(\.answers, 1 << 20), timeouts: .with(\.room, .zero))
        let client = try server.connectSignedIn()
        let streams = try sendBatch(of: 2, to: server, on: client)
        try put(600_000, into: streams[0], of: server)
        // There is space again, while the second call of the batch continues.
        try put(600_000, into: streams[1], of: server)

        let answers = Array(try client.receiveValue().elements)
        #expect(answers.compactMap { $0["id"]?.integer } == [1, 2])
        #expect(answers[0]["error"]?.code == 1011)
        #expect(answers[0]["error"]?["data"]?["remedy"]?.string?.contains("has carried out the call") == true)
        #expect(answers[1]["result"]?["body"]?.string?.utf8.count == 600_000)
        #expect(try client.result(of: "api.request", call)["status"]?.integer == 200)
    }

    @Test(.needsRoot)
    func `an answer that comes after the right was withdrawn is not delivered`() throws {
        let server = try TestServer(AccessPolicy(rules: [AccessRule(allow: [.api])], daemonUser: 0), mode: 0o666)
        _ = try server.connectSignedIn()
        let client = try OrdinaryCaller().connect(server.path)
        let stream = BodyStream()
        server.provider.answerCalls(answer(stream))
        try sendCall(client)
        try wait(for: 1, at: server)

        let stricter = AccessPolicy(rules: [AccessRule(allow: [.status])], daemonUser: 0)
        try server.reload(stricter)
        try put(1_000, into: stream, of: server)

        #expect(try client.receiveValue()["error"]?.code == 1007)
        #expect(server.audit.lines.last == "refused api.request api 12345")
    }

    // MARK: Transfers

    @Test(.needsRoot)
    func `one user cannot take all transfers over both sockets, and other users get theirs`() throws {
        let policy = AccessPolicy(rules: [AccessRule(allow: [.api])], daemonUser: 0)
        let server = try TestServer(policy, callsPerMinute: 1_000, mode: 0o666)
        let client = try server.connectSignedIn()
        let streams = (0..<48).map { _ in BodyStream() }
        for stream in streams { server.provider.answerCalls(answer(stream)) }
        for id in 1...47 { try sendCall(client, id: "\(id)") }
        try wait(for: 47, at: server)
        let visitor = try server.connectHTTP()
        try visitor.request("GET", "/v2/user/alice")
        #expect(try visitor.head().status == 200)

        #expect(try server.connect().error(of: "api.request", call).code == 1011)
        #expect(try server.connectHTTP().ask("GET", "/v2/user/alice").kind == "busy")
        #expect(try OrdinaryCaller().connect(server.path).result(of: "api.request", call)["status"]?.integer == 200)

        try server.onLoop { for stream in streams { stream.finish(.complete) } }
        for _ in 1...47 { #expect(try client.receiveValue()["result"]?["status"]?.integer == 200) }
        #expect(try client.result(of: "api.request", call)["status"]?.integer == 200)
    }
}
