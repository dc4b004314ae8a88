import JunctionClientTesting
import JunctionJSON
import Synchronization
import Testing

@testable import JunctionClient

struct RenewalHandlerTests {
    private typealias Script = @Sendable (ScriptedConnection, RecordedMessages) -> Void

    private static func question(
        _ id: Int,
        user: String = "joe",
        deadline: String = "9999-12-31T23:59:59Z"
    ) -> String {
        """
        {"jsonrpc":"2.0","id":\(id),"method":"session.willRenewAccessToken","params":{"renewalId":"\(id)",\
        "reason":"expiring","userId":"\(user)","expiresAt":"2026-11-21T07:20:34Z","deadline":"\(deadline)"}}
        """
    }

    /// Serves one handler after the other, each with its script, and records their messages.
    private func daemon(
        _ scripts: Script...
    ) -> (daemon: ScriptedDaemon, recorded: RecordedMessages) {
        let recorded = RecordedMessages()
        let daemon = ScriptedDaemon(
            scripts.map { script -> ScriptedDaemon.Script in
                { peer in
                    let request = peer.message()
                    recorded.note(request?["method"])
                    peer.answer(request, #"{"registered":true}"#)
                    script(peer, recorded)
                }
            }
        )
        return (daemon, recorded)
    }

    /// Runs a handler until the script has ended.
    private func handle(
        _ daemon: ScriptedDaemon,
        until recorded: RecordedMessages,
        _ handler: @escaping @Sendable (RenewalRequest) async throws -> RenewalAnswer
    ) async throws {
        let handling = Task { try await daemon.client.handleRenewals(handler) }
        await recorded.waitForEnd()
        handling.cancel()
        try await handling.value
    }

    @Test func `a cancelled task is no longer a handler`() async throws {
        let (daemon, recorded) = daemon({ peer, recorded in
            recorded.end()
            recorded.note(peer.message())
            recorded.end()
        })

        try await handle(daemon, until: recorded) { _ in .renew }

        await recorded.waitForEnd()
        #expect(recorded.lines == [#""handler.register""#, "nothing"])
    }

    @Test func `a new question cancels the handler of the last one`() async throws {
        let thinks = try WakeUpDescriptor()
        let (daemon, recorded) = daemon({ peer, recorded in
            peer.send(Self.question(1))
            thinks.waitForRing()
            peer.send(Self.question(2, user: "ann"))
            for _ in 0..<2 { recorded.note(peer.message()?["result"]?["action"]) }
            recorded.end()
        })

        try await handle(daemon, until: recorded) { request in
            guard request.userId == "joe" else { return .renew }
            thinks.ring()
            return try await waitUntilCancelled()
        }

        #expect(Set(recorded.lines.dropFirst()) == [#""renew""#, #""unableToRetrieveAuthToken""#])
    }

    @Test func `a handler that still runs at the deadline is cancelled`() async throws {
        let (daemon, recorded) = daemon({ peer, recorded in
            peer.send(Self.question(1, deadline: "2026-11-21T07:01:00Z"))
            recorded.note(peer.message()?["result"]?["action"])
            recorded.end()
        })

        try await handle(daemon, until: recorded) { _ in try await waitUntilCancelled() }

        #expect(recorded.lines.last == #""unableToRetrieveAuthToken""#)
    }

    @Test func `a handler that still runs when the daemon has gone is cancelled`() async throws {
        let thinks = try WakeUpDescriptor()
        let (daemon, recorded) = daemon(
            { peer, recorded in
                peer.send(Self.question(1))
                thinks.waitForRing()
            },
            { peer, recorded in _ = peer.line() }
        )

        try await handle(daemon, until: recorded) { _ in
            thinks.ring()
            defer { recorded.end() }
            return try await waitUntilCancelled()
        }

        #expect(recorded.lines.first == #""handler.register""#)
    }
}

/// Waits for an answer that never comes, until the task is cancelled.
@Sendable private func waitUntilCancelled() async throws -> RenewalAnswer {
    // Only a cancellation ends this stream.
    for await _ in AsyncStream<Void>.makeStream().stream {}
    throw CancellationError()
}

/// Records the messages to the daemon, and whether the script has ended.
private final class RecordedMessages: Sendable {
    private let state = Mutex<[String]>([])
    private let ends: AsyncStream<Void>
    private let ended: AsyncStream<Void>.Continuation

    init() {
        (ends, ended) = AsyncStream.makeStream()
    }

    var lines: [String] { state.withLock { $0 } }

    func note(_ value: JSONValue?) {
        let line = value.map { String(decoding: $0.rawText, as: UTF8.self) } ?? "nothing"
        state.withLock { $0.append(line) }
    }

    func end() { ended.yield() }

    func waitForEnd() async {
        var ends = ends.makeAsyncIterator()
        await ends.next()
    }
}
