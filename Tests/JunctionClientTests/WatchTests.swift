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

    /// Makes a watch with short pauses.
    private func updates(of daemon: ScriptedDaemon) -> SnapshotUpdates {
        SnapshotUpdates(of: SharedWatch(at: SocketPath(daemon.path), .all, backoff: Backoff(first: .milliseconds(1))))
    }

    @Test func `a watch begins with the present snapshot and continues with the changes`() async throws {
        let taken = try WakeUpDescriptor()
        let daemon = ScriptedDaemon({ peer in
            peer.answer(peer.message(), snapshotJSON(revision: 1))
            // The second change comes after the first was read: a slow reader would receive only the newest.
            for revision in 2...3 {
                taken.waitForRing()
                peer.send(self.changed(revision))
            }
            _ = peer.line()
        })

        var seen: [UInt64] = []
        for try await snapshot in daemon.client.watch() {
            seen.append(snapshot.revision)
            if seen.count == 3 { break }
            taken.ring()
        }

        #expect(seen == [1, 2, 3])
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

    @Test func `a watch subscribes once, and closes its connection when the loop ends`() async throws {
        let (ends, ended) = AsyncStream.makeStream(of: String?.self)
        let daemon = ScriptedDaemon({ peer in
            let request = peer.message()
            peer.answer(request, snapshotJSON())
            ended.yield(request?["method"]?.string)
            ended.yield(peer.line())
            ended.finish()
        })

        for try await _ in daemon.client.watch() { break }

        var seen: [String?] = []
        for await end in ends { seen.append(end) }
        #expect(seen == ["session.subscribe", nil])
    }

    @Test func `a watch continues with the new snapshot after a restart of the daemon`() async throws {
        let daemon = ScriptedDaemon(
            { peer in peer.answer(peer.message(), snapshotJSON(revision: 40)) },
            { peer in peer.answer(peer.message(), snapshotJSON(revision: 1)) },
            { peer in
                peer.answer(peer.message(), snapshotJSON(revision: 2))
                _ = peer.line()
            }
        )

        var last: UInt64 = 0
        for try await snapshot in updates(of: daemon) {
            last = snapshot.revision
            if last == 2 { break }
        }

        #expect(last == 2)
    }

    @Test func `a watch waits for a daemon that does not run yet`() async throws {
        let daemon = ScriptedDaemon(listening: false)
        let first = Task { [updates = updates(of: daemon)] in
            for try await snapshot in updates { return snapshot.revision }
            return 0
        }

        daemon.listen({ peer in
            peer.answer(peer.message(), snapshotJSON(revision: 8))
            _ = peer.line()
        })

        #expect(try await first.value == 8)
    }

    @Test func `an error that a new connection would not change is thrown`() async throws {
        let daemon = ScriptedDaemon({ peer in
            peer.refuse(peer.message(), #"{"code":1007,"message":"no","data":{"kind":"permissionDenied"}}"#)
            _ = peer.line()
        })

        let error = await #expect(throws: JunctionError.self) {
            for try await _ in daemon.client.watch() { Issue.record("There is no snapshot to see") }
        }

        #expect(error?.kind == .permissionDenied)
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
