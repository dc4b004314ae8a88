import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionTesting
import NIOCore
import Synchronization
import Testing

/// Callers that take what they can: none of them holds up another one, and what is kept for them has an end.
struct FloodTests {
    private let discover = #"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#

    /// A server whose interface is as long as what may wait for one peer.
    private func serve(
        limits: CallerLimits = CallerLimits(),
        _ patience: (inout ServerSettings.Patience) -> Void = { _ in }
    ) throws -> TestServer {
        var settings = ServerSettings.Patience()
        patience(&settings)
        let server = try TestServer(limits: limits, patience: settings)
        server.introspection.documentSize.withLock { $0 = 1 << 16 }
        return server
    }

    @Test func `who asks thousands of times and reads nothing is answered as far as it fits, and then as it reads`()
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
        // What the kernel takes for a peer that does not read, and a little more.
        #expect(try server.counters.requests(of: .rpcDiscover) <= 20 * 8)

        var answers = 0
        while let answer = try flood[0].hear() {
            // A line that was cut by the end of what fitted is a mistake, and the last.
            if answer.utf8.count > 1 << 16 { answers += 1 }
        }
        #expect(answers == whole[0])
        #expect(server.introspection.documentsMade.withLock { $0 } == 1)
    }

    @Test func `a batch is answered as far as a mebibyte goes, and the rest is to be asked again`() throws {
        let server = try serve()
        let client = try server.connect()
        let batch = "[" + Array(repeating: discover, count: 1_000).joined(separator: ",") + "]"

        try client.say(batch)
        let answers = Array(try client.hearValue().elements)

        #expect(answers.count == 1_000)
        let refused = answers.filter { $0["error"]?.code == 1011 }.count
        #expect(answers.filter { $0["result"] != nil }.count == 1_000 - refused)
        #expect(refused == 1_000 - 16)
        #expect(try client.result(of: "session.status").state == "notLoggedIn")
    }

    @Test func `a line that does not end is given up, with a reason`() throws {
        let server = try serve { $0.line = .zero }
        let client = try server.connect()

        try client.send(#"{"jsonrpc""#)

        #expect(try client.hearValue()["error"]?.code == -32600)
        #expect(try client.hear() == nil)
    }

    @Test func `who never reads its answers is closed`() throws {
        let server = try serve { $0.reading = .zero }
        let client = try server.connect()

        _ = client.socket.sendWhatFits(Array(String(repeating: discover + "\n", count: 1_000).utf8))

        let (loop, sessions) = (server.loop, server.server)
        let gone = loop.makePromise(of: Void.self)
        @Sendable func look() {
            let counters = sessions.counters
            if counters.acceptedConnections == 1, counters.openConnections == 0 { return gone.succeed() }
            // Later, because a task that is due keeps the loop from looking at its sockets.
            loop.scheduleTask(in: .milliseconds(1), look)
        }
        loop.execute(look)
        try gone.futureResult.wait()
        withExtendedLifetime(client) {}
    }

    @Test func `when a user's unread answers are too many, it is not the one who reads that is closed`() throws {
        let server = try serve(limits: CallerLimits(held: 21 << 19))
        server.introspection.documentSize.withLock { $0 = 3 << 20 }
        let next = try server.connect()
        let idle = try (0..<3).map { _ in
            let client = try server.connect()
            _ = try client.result(of: "session.status")
            try client.say(discover)
            // What came before this has been read when this is answered.
            _ = try next.result(of: "session.status")
            return client
        }

        let reader = try server.connect()
        try reader.say(discover)

        #expect(try reader.hearValue()["result"] != nil)
        // Who has left the most unread for the longest time is closed, and nobody else.
        #expect(throws: (any Error).self) { try idle[0].hearValue() }
        #expect(try idle[2].hearValue()["result"] != nil)
    }

    @Test func `a user's unfinished lines have a limit, and the one that goes over it is told`() throws {
        let server = try serve(limits: CallerLimits(held: 400_000))
        let small = try server.connect()
        try small.send("[")
        let clients = try (0..<3).map { _ in try server.connect() }
        let told = Mutex<[Int64]>([])
        let isTold = Signal()
        let listening = clients.map { client in
            Thread {
                let code = (try? client.hearValue())?["error"]?.code
                told.withLock { $0.append(code ?? 0) }
                isTold.give()
            }
        }

        for client in clients { try client.send([UInt8](repeating: UInt8(ascii: "1"), count: 150_000)) }
        isTold.wait()
        #expect(told.withLock { $0 } == [1011])

        for client in clients { try? client.send("]\n") }
        for thread in listening { thread.join() }
        #expect(told.withLock { $0 } == [1011, -32700, -32700])
        try small.send("]\n")
        #expect(try small.hearValue()["error"]?.code == -32600)
    }
}
