import JunctionClientTesting
import JunctionJSON
import JunctionProtocol
import Synchronization
import Testing

@testable import JunctionClient

/// The connection that `junctionctl` uses: one thread, one thing after the other.
struct ConnectionTests {
    @Test func `an answer comes with the text it had on the wire`() throws {
        let daemon = ScriptedDaemon({ peer in
            peer.answer(peer.message(), snapshotJSON())
            _ = peer.line()
        })
        var connection = try Connection(to: SocketPath(daemon.path))

        let answer = try connection.perform(SessionStatus.self, NoParams())

        #expect(answer.value.userId == "user-1")
        #expect(String(decoding: answer.json.rawText, as: UTF8.self) == snapshotJSON())
    }

    @Test func `a notification that overtakes an answer is kept`() throws {
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

    @Test func `a question of the daemon's is answered on the way`() throws {
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

    @Test func `an answer in pieces is put together`() throws {
        let daemon = ScriptedDaemon({ peer in
            _ = peer.message()
            peer.send("\r")
            peer.send(#"{"jsonrpc":"2.0","id":1,"result":"# + snapshotJSON() + "}\r")
        })
        var connection = try Connection(to: SocketPath(daemon.path))

        #expect(try connection.perform(SessionStatus.self, NoParams()).value.revision == 17)
    }

    @Test func `a deadline ends the wait`() throws {
        let daemon = ScriptedDaemon({ peer in while peer.line() != nil {} })
        var connection = try Connection(to: SocketPath(daemon.path))

        let error = #expect(throws: JunctionError.self) {
            try connection.perform(SessionStatus.self, NoParams(), by: .after(.zero))
        }

        #expect(error?.kind == .timedOut)
    }

    @Test func `a feed that shall not wait for a daemon says that there is none`() {
        let daemon = ScriptedDaemon(listening: false)
        var feed = SnapshotFeed(from: SocketPath(daemon.path), patience: .onceConnected)

        let error = #expect(throws: JunctionError.self) { try feed.next() }

        #expect(error?.kind == .daemonUnreachable)
    }

    @Test func `a feed that waits gives up at its deadline`() {
        let daemon = ScriptedDaemon(listening: false)
        var feed = SnapshotFeed(from: SocketPath(daemon.path), patience: .always)

        let error = #expect(throws: JunctionError.self) { try feed.next(by: .after(.milliseconds(1))) }

        #expect(error?.kind == .timedOut)
    }

    @Test(arguments: [
        (Patience.onceConnected, [JunctionError.Kind.misconfigured, .daemonUnreachable]),
        (.whileAbsent, [.misconfigured]), (.always, []),
    ])
    func `who mends a configuration is waited for as asked`(patience: Patience, ending: [JunctionError.Kind]) {
        for kind in [JunctionError.Kind.misconfigured, .daemonUnreachable] {
            var reconnection = Reconnection(to: SocketPath("/nowhere"), patience: patience, unless: nil)
            var ended: JunctionError.Kind?
            // The first attempt to come back is made at once.
            do throws(JunctionError) { try reconnection.wait(after: JunctionError(kind, "no")) } catch {
                ended = error.kind
            }
            #expect(ended == (ending.contains(kind) ? kind : nil))
        }
    }

    @Test func `a daemon that came and went is not tried without a pause`() throws {
        var reconnection = Reconnection(
            to: SocketPath("/nowhere"),
            patience: .always,
            backoff: Backoff(first: .seconds(3600)),
            steadiness: .zero,
            unless: nil
        )
        reconnection.connectionBegan()
        // It was there for long enough: at once. The next one answers nothing: not at once.
        try reconnection.wait(after: .connectionLost)

        let error = #expect(throws: JunctionError.self) {
            try reconnection.wait(after: .connectionLost, by: .after(.milliseconds(1)))
        }

        #expect(error?.kind == .timedOut)
    }
}
