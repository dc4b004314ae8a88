import Glibc
import JunctionTesting
import NIOCore
import NIOPosix
import Synchronization

/// A scripted server of a provider: one step for each request. It has its own port and records every request.
final class ScriptedServer: Sendable {
    enum Step: Sendable {
        case answer(Int, [(String, String)], String)
        /// Sends these bytes and closes the connection.
        case raw(String)
        /// Sends these bytes and then nothing more.
        case stall(String)
        /// Reads the request and closes the connection.
        case closeConnection

        static func json(_ status: Int, _ body: String) -> Step {
            .answer(status, [("content-type", "application/json")], body)
        }
    }

    struct Request: Sendable {
        var line: String
        var headers: [(name: String, value: String)]
        var body: String

        func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
    }

    private struct Story {
        var steps: [Step]
        var requests: [Request] = []
        var connections: [any Channel] = []
        var holders: [Int32] = []
    }

    static let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    private let story: Mutex<Story>
    private let listener: any Channel
    private let front: TLSFront?
    /// The port for clients: that of the TLS front, if there is one.
    let port: Int

    /// Listens on a free port of the loopback interface.
    ///
    /// - Parameter onRequest: called after a request was recorded, before the answer.
    static func start(
        _ steps: [Step],
        tls: TestAuthority.Certificate? = nil,
        onRequest: @escaping @Sendable (Request) -> Void = { _ in }
    ) async throws -> ScriptedServer {
        let box = Mutex<ScriptedServer?>(nil)
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = ScriptedConnection { request in
                        let step = box.withLock { $0 }?.next(after: request) ?? .closeConnection
                        onRequest(request)
                        return step
                    }
                    try channel.pipeline.syncOperations.addHandler(handler)
                    box.withLock { $0 }?.opened(channel)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = listener.localAddress?.port ?? 0
        let server = ScriptedServer(steps, listener, port: port, front: try tls.map { try TLSFront($0, before: port) })
        box.withLock { $0 = server }
        listener.closeFuture.whenComplete { _ in box.withLock { $0 = nil } }
        return server
    }

    private init(_ steps: [Step], _ listener: any Channel, port: Int, front: TLSFront?) {
        self.story = Mutex(Story(steps: steps))
        self.listener = listener
        self.front = front
        self.port = front?.port ?? port
    }

    var place: String { "127.0.0.1:\(port)" }
    var url: String { "\(front == nil ? "http" : "https")://\(place)" }
    var requests: [Request] { story.withLock { $0.requests } }

    /// Appends steps, for a script that depends on the URL of the server.
    func script(_ steps: [Step]) {
        story.withLock { $0.steps += steps }
    }

    /// Refuses connections from now on. The port stays bound, so that no other process can answer there.
    func refuse() async throws {
        try await stop()
        try await keepPort()
    }

    /// Closes the server and its connections.
    func stop() async throws {
        front?.stop()
        if listener.isActive { try await listener.close() }
        for connection in story.withLock({ $0.connections }) { connection.close(promise: nil) }
    }

    /// Binds the port without listening. A process that another test is starting may hold a copy of the listener until
    /// its `exec`, so the port can be in use for a moment.
    private func keepPort() async throws {
        let address = TestAddress.loopback(port: UInt16(port))
        let holder = address.makeSocket()
        story.withLock { $0.holders.append(holder) }
        var reuse: Int32 = 1
        setsockopt(holder, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout.size(ofValue: reuse)))
        let deadline = ContinuousClock.now + .seconds(10)
        while !address.bind(holder) {
            guard errno == EADDRINUSE, ContinuousClock.now < deadline else {
                throw IOError(errnoCode: errno, reason: "keep the port \(port)")
            }
            await Task.yield()
        }
    }

    deinit {
        for holder in story.withLock({ $0.holders }) { close(holder) }
    }

    private func opened(_ channel: any Channel) {
        story.withLock { $0.connections.append(channel) }
    }

    private func next(after request: Request) -> Step {
        story.withLock { story in
            story.requests.append(request)
            return story.steps.isEmpty ? .answer(500, [], "the script has ended") : story.steps.removeFirst()
        }
    }
}

/// Reads requests byte by byte, without a parser that the client may share.
private final class ScriptedConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let step: (ScriptedServer.Request) -> ScriptedServer.Step
    private var received = ""

    init(_ step: @escaping (ScriptedServer.Request) -> ScriptedServer.Step) {
        self.step = step
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        while let request = takeRequest() { play(step(request), request, context) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func takeRequest() -> ScriptedServer.Request? {
        guard let end = received.firstRange(of: "\r\n\r\n") else { return nil }
        var lines = received[..<end.lowerBound].split(separator: "\r\n").map(String.init)
        let line = lines.removeFirst()
        let headers = lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: String(parts[0]), value: String(parts[1].drop { $0 == " " }))
        }
        let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        let rest = received[end.upperBound...]
        if headers.contains(where: { $0.name.lowercased() == "transfer-encoding" }) {
            // A chunked body is kept encoded, up to its last chunk.
            guard let last = rest.firstRange(of: "\r\n0\r\n\r\n") else { return nil }
            received = String(rest[last.upperBound...])
            return ScriptedServer.Request(line: line, headers: headers, body: String(rest[..<last.lowerBound]))
        }
        guard rest.utf8.count >= length, let body = String(rest.utf8.prefix(length)) else { return nil }
        received = String(rest.utf8.dropFirst(length)) ?? ""
        return ScriptedServer.Request(line: line, headers: headers, body: body)
    }

    private func play(_ step: ScriptedServer.Step, _ request: ScriptedServer.Request, _ context: ChannelHandlerContext)
    {
        switch step {
        case .answer(let status, let headers, let body):
            var text = "HTTP/1.1 \(status) Scripted\r\ncontent-length: \(body.utf8.count)\r\n"
            for (name, value) in headers { text += "\(name): \(value)\r\n" }
            text += "\r\n" + (request.line.hasPrefix("HEAD") ? "" : body)
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        case .raw(let text):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            context.close(promise: nil)
        case .stall(let text):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        case .closeConnection:
            context.close(promise: nil)
        }
    }
}
