import JunctionClientTesting
import JunctionJSON
import JunctionProtocol
import Testing

@testable import JunctionClient

/// The connection that `junctionctl` uses: one thread, and one call at a time.
struct ConnectionTests {
    @Test func `an answer keeps its text from the wire`() throws {
        let daemon = ScriptedDaemon({ peer in
            peer.answer(peer.message(), snapshotJSON())
            _ = peer.line()
        })
        var connection = try Connection(to: SocketPath(daemon.path))

        let answer = try connection.perform(SessionStatus.self, NoParams())

        #expect(answer.value.userId == "user-1")
        #expect(String(decoding: answer.json.rawText, as: UTF8.self) == snapshotJSON())
    }

    @Test func `a notification that arrives before an answer is kept`() throws {
        let daemon = ScriptedDaemon({ peer in
            let request = peer.message()
            peer.send(
                #"{"jsonrpc":"2.0","method":"session.changed","params":{"snapshot":\#(snapshotJSON(revision: 18))}}"#
            )
            peer.answer(request, snapshotJSON())
            peer.send(#"[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]"#)
            _ = peer.line()
        })
        var connection = try Connection(to: SocketPath(daemon.path))

        _ = try connection.perform(SessionSubscribe.self, .init())

        #expect(try connection.nextNotification().params?["snapshot"]?["revision"]?.integer == 18)
        #expect(try connection.nextNotification().name.string == "a")
        #expect(try connection.nextNotification().name.string == "b")
    }

    @Test func `a question of the daemon is answered before the call's answer`() throws {
        let daemon = ScriptedDaemon({ peer in
            let request = peer.message()
            peer.send(#"{"jsonrpc":"2.0","id":"d","method":"session.authenticate","params":{"externalUserId":"joe"}}"#)
            let token = peer.message()?["result"]?["token"]?.string ?? ""
            let outcome = token == "t" ? "signedIn" : "unchanged"
            peer.answer(request, #"{"outcome":"\#(outcome)","snapshot":\#(snapshotJSON())}"#)
            _ = peer.line()
        })
        var connection = try Connection(to: SocketPath(daemon.path))

        let answer = try connection.perform(SessionIdentify.self, .init(externalUserId: "joe")) { _ in
            .success(Credential.signInToken(SecretText("t")))
        }

        #expect(answer.value.outcome == .signedIn)
    }

    @Test func `an answer that arrives in pieces is assembled`() throws {
        let daemon = ScriptedDaemon({ peer in
            _ = peer.message()
            peer.send("\r")
            peer.send(#"{"jsonrpc":"2.0","id":1,"result":"# + snapshotJSON() + "}\r")
        })
        var connection = try Connection(to: SocketPath(daemon.path))

        #expect(try connection.perform(SessionStatus.self, NoParams()).value.revision == 17)
    }

    @Test func `a wait ends at its deadline`() throws {
        let daemon = ScriptedDaemon({ peer in while peer.line() != nil {} })
        var connection = try Connection(to: SocketPath(daemon.path))

        let error = #expect(throws: JunctionError.self) {
            try connection.perform(SessionStatus.self, NoParams(), by: .after(.zero))
        }

        #expect(error?.kind == .timedOut)
    }

    @Test func `a feed that must not wait reports a missing daemon`() {
        let daemon = ScriptedDaemon(listening: false)
        var feed = SnapshotFeed(from: SocketPath(daemon.path), patience: .onceConnected)

        let error = #expect(throws: JunctionError.self) { try feed.next() }

        #expect(error?.kind == .daemonUnreachable)
    }

    @Test func `a feed that waits for a daemon ends at its deadline`() {
        let daemon = ScriptedDaemon(listening: false)
        var feed = SnapshotFeed(from: SocketPath(daemon.path), patience: .always)

        let error = #expect(throws: JunctionError.self) { try feed.next(by: .after(.milliseconds(1))) }

        #expect(error?.kind == .timedOut)
    }

    @Test(arguments: [
        (Patience.onceConnected, [JunctionError.Kind.misconfigured, .daemonUnreachable]),
        (.whileAbsent, [.misconfigured]), (.always, []),
    ])
    func `a reconnection waits for a daemon as its patience says`(patience: Patience, ending: [JunctionError.Kind]) {
        for kind in [JunctionError.Kind.misconfigured, .daemonUnreachable] {
            var reconnection = Reconnection(to: SocketPath("/nowhere"), patience: patience, unless: nil)
            var ended: JunctionError.Kind?
            // The first attempt to reconnect comes at once.
            do throws(JunctionError) { try reconnection.wait(after: JunctionError(kind, "no")) } catch {
                ended = error.kind
            }
            #expect(ended == (ending.contains(kind) ? kind : nil))
        }
    }

    @Test func `a second lost connection without an answer is retried only after a pause`() throws {
        var reconnection = Reconnection(
            to: SocketPath("/nowhere"),
            patience: .always,
            backoff: Backoff(first: .seconds(3600)),
            stableAfter: .zero,
            unless: nil
        )
        reconnection.connectionBegan()
        // The first connection counts as one that lasted, so the next attempt comes at once. The second one does not.
        try reconnection.wait(after: .connectionLost)

        let error = #expect(throws: JunctionError.self) {
            try reconnection.wait(after: .connectionLost, by: .after(.milliseconds(1)))
        }

        #expect(error?.kind == .timedOut)
    }
}
