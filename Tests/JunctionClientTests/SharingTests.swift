import JunctionClient
import JunctionClientTesting
import JunctionJSON
import JunctionProtocol
import Testing

/// Many tasks on one connection, and the end of that connection.
struct SharingTests {
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
