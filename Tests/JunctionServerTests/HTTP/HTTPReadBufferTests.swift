import NIOCore
import NIOEmbedded
import Testing

@testable import JunctionServer

/// The bytes that the buffer keeps, and those that it passes on.
struct HTTPReadBufferTests {
    private let channel = EmbeddedChannel()
    private let readBuffer: HTTPReadBuffer
    private let passed = Passed()

    init() throws {
        readBuffer = HTTPReadBuffer(RoundRobinScheduler(channel.embeddedEventLoop)) {}
        try channel.pipeline.syncOperations.addHandler(readBuffer)
        try channel.pipeline.syncOperations.addHandler(passed)
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
    }

    /// Records what the buffer passes on.
    private final class Passed: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        var pieces: [String] = []
        var ends = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            pieces.append(String(buffer: unwrapInboundIn(data)))
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .inputClosed? = event as? ChannelEvent { ends += 1 }
        }
    }

    private func send(_ text: String) throws { _ = try channel.writeInbound(ByteBuffer(string: text)) }

    private func end() { channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }

    private func turn() { channel.embeddedEventLoop.advanceTime(by: .milliseconds(1)) }

    @Test func `no bytes are passed on before they are requested, and the end comes last`() throws {
        readBuffer.ask(for: .lines)
        try send("GET / HTTP/1.1\r\n\r\nbodyGET /2 HTTP/1.1\r\n\r\n")
        try send("rest")
        end()
        turn()
        #expect(passed.pieces == ["GET / HTTP/1.1\r\n\r\n"])
        #expect(readBuffer.held == 4 + 19 + 4)

        readBuffer.ask(for: .bytes(4))
        turn()
        readBuffer.ask(for: .lines)
        turn()
        #expect(passed.pieces.dropFirst() == ["body", "GET /2 HTTP/1.1\r\n\r\n"])
        #expect(passed.ends == 0)

        readBuffer.ask(for: .bytes(100))
        turn()
        #expect(passed.pieces.last == "rest")
        #expect(passed.ends == 1)
        #expect(readBuffer.held == 0)
    }

    @Test func `more bytes than a socket holds end the connection if they are not requested`() throws {
        let piece = String(repeating: "GET / HTTP/1.1\r\n\r\n", count: 512)
        var sent = 0
        while channel.isActive, sent < 4 << 20 {
            try send(piece)
            sent += piece.utf8.count
            #expect(readBuffer.held <= HTTPReadBuffer.most)
        }

        #expect(!channel.isActive)
        #expect(sent <= HTTPReadBuffer.most + piece.utf8.count)
        #expect(passed.pieces.isEmpty)
        #expect(readBuffer.held == 0)
    }

    @Test func `when the daemon ends, bytes above a socket's size are dropped, and the connection stays open`() throws {
        readBuffer.dropsSurplus = true
        for _ in 0..<100 { try send(String(repeating: "x", count: 16_384)) }
        #expect(channel.isActive)
        #expect(readBuffer.held == HTTPReadBuffer.most)
    }

    @Test func `at most one piece of many lines is passed on`() throws {
        readBuffer.ask(for: .lines)
        try send(String(repeating: "1\r\nx\r\n", count: 10_000))
        #expect(passed.pieces.map(\.utf8.count) == [HTTPReadBuffer.longestPiece])
        #expect(readBuffer.held == 60_000 - HTTPReadBuffer.longestPiece)
    }

    @Test func `dropped bytes are not kept, and the end is reported`() throws {
        readBuffer.ask(for: .nothing)
        for _ in 0..<100 { try send(String(repeating: "x", count: 16_384)) }
        #expect(channel.isActive)
        #expect(readBuffer.held == 0)
        end()
        #expect(passed.pieces.isEmpty)
        #expect(passed.ends == 1)
    }
}
