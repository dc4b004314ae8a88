import Foundation
import JunctionNetworkHelper
import JunctionSecret
import JunctionSession
import NIOCore
import NIOPosix
import Testing

@testable import JunctionProviders

/// Transfers by the real network helper.
struct HelperTransferTests {
    @Test func `many requests run at the same time`() async throws {
        let count = 150
        try await Stage.play((0..<count).map { _ in .answer(200, [], "fine") }, ownHelper: true) { stage in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<count {
                    let call = try call(stage, number % 2 == 0 ? "GET" : "POST")
                    group.addTask { try await stage.http.answer(to: call).status }
                }
                for try await status in group { #expect(status == 200) }
            }
            #expect(stage.server.requests.count == count)
        }
    }

    @Test func `a body of 8 MiB is sent and received`() async throws {
        let body = String(repeating: "0123456789abcdef", count: 1 << 19)
        try await Stage.play([.answer(200, [], body)]) { stage in
            var call = try call(stage, "PUT")
            call.body = .plain(Array(body.utf8))
            let answer = try await stage.http.apiAnswer(to: call)

            #expect(answer.body.count == body.utf8.count)
            #expect(answer.body == Array(body.utf8))
            #expect(stage.server.requests.first?.body == body)
        }
    }

    @Test func `a header line that is too long is reported as an answer that is not HTTP`() async throws {
        let line = String(repeating: "x", count: 120 << 10)
        try await Stage.play([.raw("HTTP/1.1 200 OK\r\nx-a: \(line)\r\ncontent-length: 0\r\n\r\n")]) { stage in
            let failure = await stage.http.failure(of: try call(stage, "GET"))
            #expect(failure?.detail == "\(stage.server.place) did not answer in HTTP")
            #expect(failure?.ambiguous == true)
        }
    }

    @Test func `an answer that arrives before the request was sent is accepted`() async throws {
        let server = try await ServerBootstrap(group: ScriptedServer.group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(EarlyAnswerServer())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let helper = OutgoingHTTP(
            eventLoop: ScriptedServer.group.next(),
            helper: .built,
            userAgent: "test",
            limits: .patient
        )
        var call = HTTPCall(method: "PUT", origin: try HTTPOrigin("http://127.0.0.1:\(port)"), target: "/")
        call.body = .plain([UInt8](repeating: 0x20, count: 8 << 20))

        let answer = try await helper.apiAnswer(to: call)
        #expect(answer.status == 413)
        #expect(answer.body == Array("too much".utf8))
        await helper.shutdown()
        try await server.close()
    }

    @Test func `an answer that is one byte too long fails`() async throws {
        try await Stage.play([.answer(200, [], "12345"), .answer(200, [], "1234")]) { stage in
            var call = try call(stage, "GET")
            call.longestAnswer = 4
            let failure = await stage.http.failure(of: call)

            #expect(failure?.detail == "The answer of \(stage.server.place) is longer than 4 bytes")
            #expect(try await stage.http.answer(to: call).body.text == "1234")
        }
    }

    @Test(
        arguments: [
            ("HEAD", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", 200, ""),
            ("GET", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
            ("GET", "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", 304, ""),
            (
                "GET", "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", 200,
                "ok"
            ),
            ("POST", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n", 201, ""),
            (
                "GET",
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\nx-trailer: t\r\n\r\n",
                200, "abc"
            ),
            ("GET", "HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, "until the end"),
        ] as [(String, String, Int, String)]
    )
    func `an answer is read as in RFC 9112`(method: String, bytes: String, status: Int, body: String) async throws {
        try await Stage.play([.raw(bytes)]) { stage in
            let answer = try await stage.http.answer(to: try call(stage, method))

            #expect(answer.status == status)
            #expect(answer.body.text == body)
            #expect(answer.header("x-trailer") == nil)
        }
    }

    @Test func `a header line that looks like a status line is not read as one`() async throws {
        let bytes = "HTTP/1.1 403 Forbidden\r\nHTTP/1.1 200 OK: x\r\nx-a: 1\r\ncontent-length: 2\r\n\r\nno"
        try await Stage.play([.raw(bytes)]) { stage in
            let answer = try await stage.http.answer(to: try call(stage, "GET"))

            #expect(answer.status == 403)
            #expect(answer.headers.map(\.name) == ["x-a", "content-length"])
            #expect(answer.body.text == "no")
        }
    }

    @Test func `control characters and invalid UTF-8 in a header do no harm`() async throws {
        try await Stage.play([.raw("HTTP/1.1 200 OK\r\nx-a: \u{1}b\u{7F}ä\tc \r\n: none\r\ncontent-length: 0\r\n\r\n")])
        {
            let answer = try await $0.http.answer(to: try call($0, "GET"))

            #expect(answer.header("x-a") == " b ä c")
        }
    }

    @Test(
        arguments: [
            "SSH-2.0-OpenSSH\r\n", "HTTP/1.1 99999 What\r\n\r\n", "HTTP/1.1 700 What\r\n\r\n",
            "HTTP/1.1 200 OK\r\nx: \(String(repeating: "a", count: 1 << 16))\r\n\r\n",
        ]
    )
    func `an invalid answer is reported as not HTTP`(bytes: String) async throws {
        try await Stage.play([.raw(bytes)]) { stage in
            let failure = await stage.http.failure(of: try call(stage, "GET"))

            #expect([.answer, .connection].contains(failure?.cause))
            #expect(failure?.ambiguous == true)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 101 Switching Protocols\r\n\r\nbody",
        "HTTP/1.1 101 Switching Protocols\r\ncontent-length: 4\r\n\r\nbody",
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 4\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\ncontent-length: 4x\r\n\r\nbody",
    ])
    func `an invalid answer ends only its own transfer`(bytes: String) async throws {
        let odd = try await ScriptedServer.start([.raw(bytes)]) { _ in }
        try await Stage.play([.answer(200, [], "fine"), .answer(200, [], "fine")], ownHelper: true) { stage in
            let slow = try await ScriptedServer.start([.stall("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nha")]) { _ in
            }
            let waiting = Task { await stage.http.failure(of: try call(slow, "GET")) }
            while slow.requests.isEmpty { await Task.yield() }

            let failure = await stage.http.failure(of: try call(odd, "GET"))

            #expect(failure?.detail == "\(odd.place) did not answer in HTTP")
            #expect(failure?.ambiguous == true)
            #expect(try await stage.http.answer(to: try call(stage, "GET")).body.text == "fine")
            try await slow.stop()
            // This transfer ran until its server closed the connection.
            #expect(try await waiting.value?.detail == "\(slow.place) closed the connection without a complete answer")
        }
        try await odd.stop()
    }

    private func call(_ server: ScriptedServer, _ method: String) throws -> HTTPCall {
        HTTPCall(method: method, origin: try HTTPOrigin(server.url), target: "/")
    }

    private func call(_ stage: Stage, _ method: String) throws -> HTTPCall {
        HTTPCall(method: method, origin: try HTTPOrigin(stage.server.url), target: "/")
    }
}

/// A server that answers the first bytes of a request and reads nothing more.
private final class EarlyAnswerServer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        _ = context.channel.setOption(.autoRead, value: false)
        let answer = "HTTP/1.1 413 Content Too Large\r\ncontent-length: 8\r\n\r\ntoo much"
        context.channel.writeAndFlush(ByteBuffer(string: answer), promise: nil)
    }
}
