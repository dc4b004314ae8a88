import Dispatch
import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionTesting
import NIOCore
import Synchronization
import Testing

/// Callers that use as much as they can. They delay no other caller, and the kept memory is bounded.
struct FloodTests {
    private let discover = #"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#

    /// Makes a server whose interface document is as long as the window of a connection.
    private func serve(
        limits: CallerLimits = CallerLimits(),
        _ timeouts: (inout ServerSettings.Timeouts) -> Void = { _ in }
    ) throws -> TestServer {
        var settings = ServerSettings.Timeouts()
        timeouts(&settings)
        let server = try TestServer(limits: limits, timeouts: settings)
        let rest = OpenRPCDocument(version: "").json().count
        server.introspection.versionSize.withLock { $0 = (1 << 16) - rest }
        return server
    }

    @Test func `requests of a peer that does not read are answered up to the window, then as it reads`()
        throws
    {
        let server = try serve()
        let lines = Array(String(repeating: discover + "\n", count: 1_000).utf8)
        let flood = try (0..<20).map { _ in try server.connect() }
        let whole = flood.map { client in
            let sent = client.socket.sendWhatFits(lines)
            client.finish()
            return sent / (discover.utf8.count + 1)
        }

        #expect(try server.connect().result(of: "session.status").state == "notLoggedIn")
        // The bytes that the kernel takes for a peer that does not read, and a little more.
        #expect(try server.counters.requests(of: .rpcDiscover) <= 20 * 8)

        var answers = 0
        while let answer = try flood[0].receiveLine() {
            // An incomplete last line causes the last, shorter answer.
            if answer.utf8.count > 1 << 16 { answers += 1 }
        }
        #expect(answers == whole[0])
        #expect(server.introspection.descriptionsTold == 1)
    }

    @Test func `a batch is answered up to one mebibyte, and its other requests are refused`() throws {
        let server = try serve()
        let client = try server.connect()
        let batch = "[" + Array(repeating: discover, count: 1_000).joined(separator: ",") + "]"

        try client.sendLine(batch)
        let answers = Array(try client.receiveValue().elements)

        #expect(answers.count == 1_000)
        let refused = answers.filter { $0["error"]?.code == 1011 }.count
        #expect(answers.filter { $0["result"] != nil }.count == 1_000 - refused)
        #expect(refused == 1_000 - 16)
        #expect(try client.result(of: "session.status").state == "notLoggedIn")
    }

    @Test func `a line that does not end in time ends the connection with an error`() throws {
        let server = try serve { $0.line = .zero }
        let client = try server.connect()

        try client.send(#"{"jsonrpc""#)

        #expect(try client.receiveValue()["error"]?.code == -32600)
        #expect(try client.receiveLine() == nil)
    }

    @Test func `a peer that never reads its answers is closed`() throws {
        let server = try serve { $0.reading = .zero }
        let client = try server.connect()

        _ = client.socket.sendWhatFits(Array(String(repeating: discover + "\n", count: 1_000).utf8))

        let (loop, sessions) = (server.loop, server.server)
        let gone = loop.makePromise(of: Void.self)
        @Sendable func look() {
            let counters = sessions.counters
            if counters.acceptedConnections == 1, counters.openConnections == 0 { return gone.succeed() }
            // Scheduled later, because a due task keeps the loop from polling its sockets.
            loop.scheduleTask(in: .milliseconds(1), look)
        }
        loop.execute(look)
        try gone.futureResult.wait()
        withExtendedLifetime(client) {}
    }

    @Test func `when a user has too many unread answers, the peer that reads is not closed`() throws {
        let server = try serve(limits: .with(\.held, 21 << 19))
        server.introspection.versionSize.withLock { $0 = 3 << 20 }
        let next = try server.connect()
        let idle = try (0..<3).map { _ in
            let client = try server.connect()
            _ = try client.result(of: "session.status")
            try client.sendLine(discover)
            // When this is answered, the daemon has read the earlier line.
            _ = try next.result(of: "session.status")
            return client
        }

        let reader = try server.connect()
        try reader.sendLine(discover)

        #expect(try reader.receiveValue()["result"] != nil)
        // Only the peer that has left the most unread for the longest time is closed.
        #expect(throws: (any Error).self) { try idle[0].receiveValue() }
        #expect(try idle[2].receiveValue()["result"] != nil)
    }

    @Test func `a user's unfinished lines have a limit, and the line that exceeds it gets an error`() throws {
        let server = try serve(limits: .with(\.held, 400_000))
        let small = try server.connect()
        try small.send("[")
        let clients = try (0..<3).map { _ in try server.connect() }
        let told = Mutex<[Int64]>([])
        let isTold = DispatchSemaphore(value: 0)
        let listening = clients.map { client in
            Thread {
                let code = (try? client.receiveValue())?["error"]?.code
                told.withLock { $0.append(code ?? 0) }
                isTold.signal()
            }
        }

        for client in clients { try client.send([UInt8](repeating: UInt8(ascii: "1"), count: 150_000)) }
        isTold.wait()
        #expect(told.withLock { $0 } == [1011])

        for client in clients { try? client.send("]\n") }
        for thread in listening { thread.join() }
        #expect(told.withLock { $0 } == [1011, -32700, -32700])
        try small.send("]\n")
        #expect(try small.receiveValue()["error"]?.code == -32600)
    }
}
