import JunctionClient
import JunctionClientTesting
import JunctionJSON
import JunctionProtocol
import Synchronization
import Testing

/// Many tasks on one connection, and the end of that connection.
struct SharingTests {
    @Test func `answers that arrive out of order reach their callers`() async throws {
        let daemon = ScriptedDaemon({ peer in
            let first = peer.message()
            let second = peer.message()
            for message in [second, first] {
                let isStatus = message?["method"]?.string == "session.status"
                peer.answer(message, isStatus ? snapshotJSON() : #"{"text":"up 1"}"#)
            }
            _ = peer.line()
        })
        let client = daemon.client

        async let snapshot = client.status()
        async let metrics = client.metrics()

        #expect(try await snapshot.revision == 17)
        #expect(try await metrics == "up 1")
    }

    @Test func `messages that no call waits for are ignored`() async throws {
        let asked = Mutex("")
        let daemon = ScriptedDaemon({ peer in
            let request = peer.message()
            peer.send(
                #"{"jsonrpc":"2.0","method":"session.changed","params":{"snapshot":\#(snapshotJSON(revision: 99))}}"#
            )
            peer.send(#"{"jsonrpc":"2.0","id":4711,"result":null}"#)
            peer.send(#"{"jsonrpc":"2.0","id":"q","method":"surprise.me"}"#)
            let response = peer.line() ?? ""
            asked.withLock { $0 = response }
            peer.answer(request, snapshotJSON())
            _ = peer.line()
        })

        let snapshot = try await daemon.client.status()

        #expect(snapshot.revision == 17)
        #expect(asked.withLock { $0 }.hasPrefix(#"{"jsonrpc":"2.0","id":"q","error":{"code":-32601"#))
    }

    @Test func `two hundred tasks share one connection`() async throws {
        let daemon = ScriptedDaemon({ peer in
            while let message = peer.message() { peer.answer(message, snapshotJSON()) }
        })
        let client = daemon.client

        let revisions = try await withThrowingTaskGroup(of: UInt64.self) { group in
            for _ in 0..<200 { group.addTask { try await client.status().revision } }
            return try await group.reduce(into: 0) { sum, revision in sum += revision }
        }

        #expect(revisions == 200 * 17)
    }

    @Test func `a connection that ends fails the waiting calls, and the next call makes a new one`() async throws {
        let daemon = ScriptedDaemon(
            { peer in
                _ = peer.line()
                _ = peer.line()
            },
            { peer in
                peer.answer(peer.message(), snapshotJSON(revision: 5))
                _ = peer.line()
            }
        )
        let client = daemon.client

        async let first = error { () throws(JunctionError) in _ = try await client.signOut() }
        async let second = error { () throws(JunctionError) in _ = try await client.renew() }

        #expect(await first?.kind == .connectionLost)
        #expect(await second?.kind == .connectionLost)
        #expect(try await client.status().revision == 5)
    }

    @Test func `a cancelled task stops waiting, and other calls continue`() async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let daemon = ScriptedDaemon({ peer in
            let slow = peer.message()
            arrived.finish()
            let quick = peer.message()
            // The answer for the cancelled call comes first.
            peer.answer(slow, snapshotJSON(revision: 1))
            peer.answer(quick, snapshotJSON(revision: 2))
            _ = peer.line()
        })
        let client = daemon.client

        let slow = Task { try await client.status() }
        for await _ in arrivals {}
        slow.cancel()
        let error = await #expect(throws: JunctionError.self) { _ = try await slow.value }

        #expect(error?.kind == .cancelled)
        #expect(try await client.status().revision == 2)
    }

    @Test func `a task that is cancelled before its call sends nothing`() async throws {
        let daemon = ScriptedDaemon({ peer in
            peer.answer(peer.message(), snapshotJSON())
            _ = peer.line()
        })
        let client = daemon.client

        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.metrics()
        }
        let error = await #expect(throws: JunctionError.self) { _ = try await cancelled.value }

        #expect(error?.kind == .cancelled)
        #expect(try await client.status().revision == 17)
    }

    @Test func `bodies larger than a socket buffer are sent and received`() async throws {
        let large = String(repeating: "é", count: 400_000)
        let larger = String(repeating: "x", count: 8 << 20)
        let daemon = ScriptedDaemon({ peer in
            let request = peer.message()
            let status = request?["params"]?["body"]?.string == large ? 200 : 500
            peer.answer(request, #"{"status":\#(status),"headers":{},"body":"\#(larger)"}"#)
            _ = peer.line()
        })

        let answer = try await daemon.client.call(ApiRequest(method: "POST", path: "/", body: Array(large.utf8)))

        #expect(answer.status == 200)
        #expect(answer.body.count == 8 << 20)
    }

    @Test func `a request that is too long for the daemon is not sent`() async throws {
        let daemon = ScriptedDaemon({ peer in
            peer.answer(peer.message(), snapshotJSON())
            _ = peer.line()
        })
        let client = daemon.client

        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        let error = await #expect(throws: JunctionError.self) {
            _ = try await client.call(ApiRequest(path: "/", body: body))
        }

        #expect(error?.kind == .requestTooLarge)
        #expect(try await client.status().revision == 17)
    }

    @Test func `a connection with an invalid message is closed while the client still exists`() async throws {
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let daemon = ScriptedDaemon({ peer in
            _ = peer.line()
            peer.send("nonsense")
            #expect(peer.line() == nil)
            ended.finish()
        })
        let client = daemon.client

        await #expect(throws: JunctionError.self) { try await client.status() }

        for await _ in ends {}
        withExtendedLifetime(client) {}
    }

    @Test func `the connection ends when the client is released`() async throws {
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let daemon = ScriptedDaemon({ peer in
            while let message = peer.message() { peer.answer(message, snapshotJSON()) }
            ended.finish()
        })

        var client: JunctionClient? = daemon.client
        _ = try await client?.status()
        client = nil

        for await _ in ends {}
    }

    private func error(_ ask: @Sendable () async throws(JunctionError) -> Void) async -> JunctionError? {
        do throws(JunctionError) {
            try await ask()
            return nil
        } catch {
            return error
        }
    }
}
