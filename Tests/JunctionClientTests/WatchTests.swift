import JunctionClientTesting
import JunctionJSON
import JunctionProtocol
import Testing

@testable import JunctionClient

/// The states of the session, across restarts of the daemon.
struct WatchTests {
    private func changed(_ revision: Int) -> String {
        #"{"jsonrpc":"2.0","method":"session.changed","params":{"snapshot":\#(snapshotJSON(revision: revision))}}"#
    }

    @Test func `after a deadline, a feed keeps its connection and waits again`() throws {
        let isLate = try WakeUpDescriptor()
        let daemon = ScriptedDaemon({ peer in
            peer.answer(peer.message(), snapshotJSON(revision: 1))
            isLate.waitForRing()
            peer.send(self.changed(2))
            _ = peer.line()
        })
        var feed = SnapshotFeed(from: SocketPath(daemon.path), patience: .onceConnected)

        #expect(try feed.next().value.revision == 1)
        let error = #expect(throws: JunctionError.self) { try feed.next(by: .after(.milliseconds(1))) }
        isLate.ring()

        #expect(error?.kind == .timedOut)
        #expect(try feed.next().value.revision == 2)
    }

    @Test func `all loops of a client share one subscription, which ends with the last loop`() async throws {
        let (ends, ended) = AsyncStream.makeStream(of: String?.self)
        // Accepts only one connection, so a second subscription would get no answer.
        let daemon = ScriptedDaemon({ peer in
            peer.answer(peer.message(), snapshotJSON(revision: 1))
            ended.yield(peer.line())
            ended.finish()
        })
        let client = daemon.client

        for try await first in client.watch() {
            for try await second in client.watch() {
                #expect(second == first)
                break
            }
            break
        }

        var seen: [String?] = []
        for await end in ends { seen.append(end) }
        #expect(seen == [nil])
    }

    @Test func `each loop receives each change`() async throws {
        let bothBegan = try WakeUpDescriptor()
        let daemon = ScriptedDaemon({ peer in
            peer.answer(peer.message(), snapshotJSON(revision: 1))
            bothBegan.waitForRing()
            peer.send(self.changed(2))
            _ = peer.line()
        })
        let client = daemon.client
        var (one, other) = (client.watch().makeAsyncIterator(), client.watch().makeAsyncIterator())

        #expect(try await one.next()?.revision == 1)
        #expect(try await other.next()?.revision == 1)
        bothBegan.ring()

        #expect(try await one.next()?.revision == 2)
        #expect(try await other.next()?.revision == 2)
    }

    @Test func `a loop that begins after the last one has ended subscribes again`() async throws {
        let daemon = ScriptedDaemon(
            { peer in
                peer.answer(peer.message(), snapshotJSON(revision: 1))
                _ = peer.line()
            },
            { peer in
                peer.answer(peer.message(), snapshotJSON(revision: 5))
                _ = peer.line()
            }
        )
        let client = daemon.client

        for try await snapshot in client.watch() {
            #expect(snapshot.revision == 1)
            break
        }
        for try await snapshot in client.watch() {
            #expect(snapshot.revision == 5)
            break
        }
    }

    @Test func `a cancelled task leaves the loop`() async throws {
        let daemon = ScriptedDaemon({ peer in
            peer.answer(peer.message(), snapshotJSON())
            _ = peer.line()
        })

        let watching = Task {
            var count = 0
            for try await _ in daemon.client.watch() {
                count += 1
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return count
        }

        #expect(try await watching.value == 1)
    }
}
