import Foundation
import Glibc
import JunctionNetworkHelper
import JunctionSecret
import JunctionSession
import JunctionTesting
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import JunctionProviders

/// The process of the real network helper: its start, its end, and the requests that it was handling.
struct HelperProcessTests {
    @Test(arguments: ["", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"])
    func `a request is ambiguous if its helper is killed before the whole answer has come`(answer: String) async throws
    {
        let helper = try HelperWithOwnName()
        let server = try await ScriptedServer.start([.stall(answer)]) { _ in helper.signal(SIGKILL) }
        let http = helper.http()
        let failure = await http.failure(of: try call(server.url))

        #expect(failure?.says(.died) == true)
        #expect(failure?.ambiguous == true)
        await http.shutdown()
        try await server.stop()
    }

    @Test func `a request has not left if its helper is killed before the TLS handshake`() async throws {
        let helper = try HelperWithOwnName()
        let http = helper.http()
        // Accepts connections and sends nothing.
        let server = try await ServerBootstrap(group: ScriptedServer.group)
            .childChannelInitializer { channel in
                helper.signal(SIGKILL)
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let failure = await http.failure(of: try call("https://127.0.0.1:\(port)"))

        #expect(failure?.says(.died) == true)
        #expect(failure?.ambiguous == false)
        await http.shutdown()
        try await server.close()
    }

    /// Waits until the event loop has handled all earlier events: it reports the end of this socket pair after them.
    private static func hasLooked(_ loop: any EventLoop) async throws {
        let (one, other) = try makeSocketPair()
        let channel = try await ClientBootstrap(group: loop).withConnectedSocket(one).get()
        close(other)
        try await channel.closeFuture.get()
    }

    @Test(.timeLimit(.minutes(5)))
    func `a request succeeds after its idle helper was killed`() async throws {
        let helper = try HelperWithOwnName()
        let server = try await ScriptedServer.start([.answer(200, [], "one"), .answer(200, [], "two")])
        let http = helper.http()
        #expect(try await http.answer(to: call(server.url)).body.text == "one")
        let first = try #require(helper.process)
        helper.signal(SIGKILL)
        // The kernel closes the sockets of the process before its parent can wait for it.
        try await Self.isGone(first)
        try await Self.hasLooked(helper.loop)

        #expect(try await http.answer(to: call(server.url)).body.text == "two")
        #expect(helper.process != first)
        await http.shutdown()
        try await server.stop()
    }

    @Test(.timeLimit(.minutes(5)))
    func `a stopped helper is given up, and a new one handles the next request`() async throws {
        // On a busy machine the helper's own limit may be reached first. The test repeats with more time then.
        for seconds in [1, 4, 16] {
            let helper = try HelperWithOwnName()
            let stopped = Mutex<pid_t?>(nil)
            let server = try await ScriptedServer.start([.stall(""), .answer(200, [], "next")]) { request in
                guard request.line.hasPrefix("POST") else { return }
                stopped.withLock { $0 = helper.process }
                helper.signal(SIGSTOP)
            }
            var limits = OutgoingHTTP.Limits.patient
            (limits.request, limits.grace) = (.seconds(seconds), .milliseconds(100))
            let http = helper.http(limits)
            let failure = await http.failure(of: try call(server.url, "POST"))
            let isTooEarly = failure?.detail == "No answer from \(server.place) within \(seconds) s"
            if !isTooEarly {
                #expect(failure?.says(.silent) == true)
                #expect(failure?.ambiguous == true)
                // The stopped helper must not stay beside the new one.
                try await Self.isGone(try #require(stopped.withLock { $0 }))
                #expect(try await http.answer(to: call(server.url)).body.text == "next")
            }
            await http.shutdown()
            try await server.stop()
            if !isTooEarly { return }
        }
        Issue.record("The helper was never stopped in time")
    }

    @Test(.timeLimit(.minutes(5)))
    func `a stopped idle helper ends with its connection`() async throws {
        let helper = try HelperWithOwnName()
        let server = try await ScriptedServer.start([.answer(200, [], "")])
        let http = helper.http()
        _ = try await http.answer(to: call(server.url))
        let process = try #require(helper.process)
        helper.signal(SIGSTOP)
        await http.shutdown()

        try await Self.isGone(process)
        try await server.stop()
    }

    @Test(.timeLimit(.minutes(5)))
    func `a closed helper leaves no zombie`() async throws {
        let helper = try HelperWithOwnName()
        let server = try await ScriptedServer.start([.answer(200, [], "")])
        var limits = OutgoingHTTP.Limits.patient
        limits.idle = .zero
        let http = helper.http(limits)
        let answering = try call(server.url)
        async let answer = http.answer(to: answering)
        _ = try await answer
        // The process has ended already, or ends without a signal of the test.
        if let process = helper.process { try await Self.isGone(process) }

        #expect(helper.process == nil)
        await http.shutdown()
        try await server.stop()
    }

    @Test func `a helper stays when the thread that requested it has ended`() async throws {
        let helper = try HelperWithOwnName()
        let place = helper.place
        let (socket, thread) = try await onThread {
            let (socket, process) = try place.connect()
            // The helper runs. The test greets it at once, because a helper without a greeting exits.
            #expect(Self.hears(from: socket))
            Self.say(.hello(version: DaemonMessage.version), to: socket)
            #expect(process != nil)
            return (socket, Self.number(of: "/proc/thread-self"))
        }
        defer { close(socket) }
        // The kernel signals the children of a thread before it frees the number of the thread.
        while FileManager.default.fileExists(atPath: "/proc/self/task/\(thread)") { await Task.yield() }

        let limits = TransferLimits(resolve: 1, connect: 1, silence: 1, whole: 1, longestAnswer: 1)
        let request = TransferRequest(method: "GET", url: "no URL", limits: limits)
        Self.say(.open(request), to: socket)
        #expect(try await onThread { Self.hears(from: socket) })
    }

    private static func say(_ message: DaemonMessage, to socket: Int32) {
        _ = Frame.encode(message, of: 1)?.withUnsafeBytes {
            send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a helper without a greeting exits`() async throws {
        let helper = try HelperWithOwnName()
        let (socket, _) = try helper.place.connect()
        defer { close(socket) }
        try await onThread { while Self.hears(from: socket) {} }

        while helper.process != nil {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test func `a helper inherits only its connection and standard error`() async throws {
        // cat reads its input and writes nothing, so the process stays as it was started.
        let helper = try HelperWithOwnName("/bin/cat")
        let http = helper.http()
        let call = try call("https://provider.example")
        let task = Task { await http.failure(of: call) }
        let process = try await helper.started()
        let folder = "/proc/\(process)"

        #expect(FileManager.default.contents(atPath: folder + "/environ")?.isEmpty == true)
        let open = try FileManager.default.contentsOfDirectory(atPath: folder + "/fd").filter { number in
            // The dynamic loader may have libraries open for a moment.
            let file = try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/fd/" + number)
            return file.map { file in !["/usr/lib", "/lib", "/etc/ld.so"].contains { file.hasPrefix($0) } } ?? false
        }
        #expect(Set(open) == ["0", "1", "2"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/fd/0").hasPrefix("socket:"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/fd/1") == "/dev/null")
        #expect(getsid(process) == process)
        let status = try String(contentsOfFile: folder + "/status", encoding: .utf8).split(separator: "\n")
        for set in ["SigBlk", "SigIgn"] {
            let value = status.first { $0.hasPrefix(set) }?.split(separator: "\t").last
            // The C library uses signals 32 and 33 itself.
            #expect(value.flatMap { UInt64($0, radix: 16) }.map { $0 & ~(3 << 31) } == 0, "\(set)")
        }
        task.cancel()
        _ = await task.value
        await http.shutdown()
    }

    @Test func `a missing helper program is reported as the cause`() async throws {
        let path = "/tmp/no-such-program"
        let http = OutgoingHTTP(eventLoop: ScriptedServer.group.any(), helper: .program(path: path), userAgent: "test")
        let failure = await http.failure(of: try call("https://provider.example"))

        #expect(failure?.ambiguous == false)
        #expect(
            failure?.message == """
                The network helper \(path) cannot be started (No such file or directory): \
                install junctiond-courier in the folder of junctiond
                """
        )
        await http.shutdown()
    }

    @Test func `another program in the place of the helper is detected`() async throws {
        let helper = try HelperWithOwnName("/bin/true")
        let http = helper.http()
        let failure = await http.failure(of: try call("https://provider.example"))

        #expect(failure?.says(.died) == true)
        #expect(failure?.ambiguous == false)
        await http.shutdown()
    }

    @Test(.timeLimit(.minutes(5)))
    func `a helper of another version may still report the reason before it is ended`() async throws {
        let folder = TemporaryFolder()
        let hello = HelperMessage.hello(version: DaemonMessage.version + 1)
        let greeting = Frame.encode(hello, of: 0)?.withUnsafeBytes { Data($0) }
        try folder.write(#require(greeting), to: "greeting")
        // Sends a greeting, and writes to standard error when the connection has closed.
        let script = """
            #!/bin/sh
            /bin/cat \(folder.path)/greeting >&0
            /bin/cat >/dev/null 2>&1
            : >\(folder.path)/said
            """
        // Another process makes the program: a process that this one forks at the same time would hold it open for
        // writing, and the helper could not be started (ETXTBSY).
        let program = folder.path + "/courier"
        let install = try Process.run(
            URL(fileURLWithPath: "/usr/bin/install"),
            arguments: ["-m", "700", folder.write(script, to: "script"), program]
        )
        install.waitUntilExit()
        var limits = OutgoingHTTP.Limits.patient
        limits.grace = .seconds(600)
        let helper = try HelperWithOwnName(program)
        let http = helper.http(limits)

        #expect(await http.failure(of: try call("https://provider.example"))?.says(.ofAnotherVersion) == true)
        while !FileManager.default.fileExists(atPath: folder.path + "/said") {
            try Task.checkCancellation()
            await Task.yield()
        }
        withExtendedLifetime(helper) {}
        await http.shutdown()
    }

    @Test func `a hundred connections share one certificate store`() async throws {
        let folder = TemporaryFolder()
        // As many as a distribution has.
        let authorities = try folder.write(Certificates.some(150), to: "authorities.pem")
        let server = try await SilentServer.start()
        let helper = try HelperWithOwnName()
        let http = helper.http(.patient, try NetworkSettingsSource(caFile: authorities))
        let call = try call("https://127.0.0.1:\(server.port)", "POST")

        let calls = (0..<100).map { _ in Task { await http.failure(of: call) } }
        // A connection has its certificate store when it has sent its first TLS message.
        for await _ in server.greetings.prefix(100) {}
        let memory = try Self.privateMemory(of: try await helper.started())

        // One store takes less than 3 MB, a hundred more than 150 MB. The rest of a connection takes less than 0.1 MB.
        #expect(memory < 48 << 20)
        for call in calls { call.cancel() }
        for call in calls { _ = await call.value }
        await http.shutdown()
        try await server.stop()
    }

    /// Returns the private memory of a process in bytes.
    private static func privateMemory(of process: pid_t) throws -> Int {
        let lines = try String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("Private_Dirty:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) << 10
    }

    private func call(_ url: String, _ method: String = "GET") throws -> HTTPCall {
        HTTPCall(method: method, origin: try HTTPOrigin(url), target: "/")
    }

    /// Returns whether the peer sends data rather than closing the connection.
    private static func hears(from socket: Int32) -> Bool {
        var room = [UInt8](repeating: 0, count: 64)
        return recv(socket, &room, room.count, 0) > 0
    }

    private static func number(of link: String) -> String {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
        return path?.split(separator: "/").last.map(String.init) ?? ""
    }

    /// Waits until the process has ended and its parent has waited for it.
    private static func isGone(_ process: pid_t) async throws {
        while kill(process, 0) == 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

/// A network helper with a unique program name, by which the test finds its process.
private final class HelperWithOwnName: Sendable {
    private let folder = TemporaryFolder()
    private var path: String { folder.path + "/courier" }
    let loop: any EventLoop = ScriptedServer.group.next()

    init(_ program: String? = nil) throws {
        let program = program ?? Program.path(of: "junctiond-courier")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: program)
    }

    var place: HelperEndpoint { .program(path: path) }

    func http(_ limits: OutgoingHTTP.Limits = .patient, _ network: NetworkSettingsSource = NetworkSettingsSource())
        -> OutgoingHTTP
    {
        OutgoingHTTP(
            eventLoop: loop,
            helper: place,
            network: network,
            userAgent: "test",
            limits: limits
        )
    }

    /// The process, if there is one that has not ended.
    var process: pid_t? {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.lazy.compactMap { pid_t($0) }.first { process in
            guard let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") else { return false }
            return line.split(separator: 0).first.map { String(decoding: $0, as: UTF8.self) } == self.path
        }
    }

    /// Waits until the process has executed its program.
    func started() async throws -> pid_t {
        while true {
            if let process { return process }
            await Task.yield()
        }
    }

    func signal(_ number: Int32) {
        if let process { kill(process, number) }
    }
}

/// A server that accepts connections, reports each connection that sends data, and answers nothing.
private final class SilentServer: Sendable {
    /// One element for each connection that has sent data.
    let greetings: AsyncStream<Void>
    private let listener: any Channel

    private init(_ listener: any Channel, _ greetings: AsyncStream<Void>) {
        (self.listener, self.greetings) = (listener, greetings)
    }

    var port: Int { listener.localAddress?.port ?? 0 }

    static func start() async throws -> SilentServer {
        let (greetings, continuation) = AsyncStream.makeStream(of: Void.self)
        let listener = try await ServerBootstrap(group: ScriptedServer.group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Listening { continuation.yield() })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return SilentServer(listener, greetings)
    }

    func stop() async throws { try await listener.close() }

    private final class Listening: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private var first: (() -> Void)?

        init(_ first: @escaping () -> Void) { self.first = first }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            first?()
            first = nil
        }
    }
}
