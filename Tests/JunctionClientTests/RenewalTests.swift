import JunctionClientTesting
import JunctionJSON
import Synchronization
import Testing

@testable import JunctionClient

/// Being a session handler.
struct RenewalTests {
    private typealias Script = @Sendable (ScriptedConnection, Heard) -> Void
    private struct NoTokenToday: Error {}

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

    /// Serves one handler after the other, each with its script, and hears what they have to say.
    private func daemon(
        _ scripts: Script...
    ) -> (daemon: ScriptedDaemon, heard: Heard) {
        let heard = Heard()
        let daemon = ScriptedDaemon(
            scripts.map { script -> ScriptedDaemon.Script in
                { peer in
                    let request = peer.message()
                    heard.note(request?["method"])
                    peer.answer(request, #"{"registered":true}"#)
                    script(peer, heard)
                }
            }
        )
        return (daemon, heard)
    }

    /// Is a handler until the test has heard enough.
    private func handle(
        _ daemon: ScriptedDaemon,
        until heard: Heard,
        _ handler: @escaping @Sendable (RenewalRequest) async throws -> RenewalAnswer
    ) async throws {
        let handling = Task { try await daemon.client.handleRenewals(handler) }
        await heard.enough()
        handling.cancel()
        try await handling.value
    }

    @Test func `the handler is asked, and its answer reaches the daemon`() async throws {
        let (daemon, heard) = daemon({ peer, heard in
            peer.send(Self.question(7))
            heard.note(peer.message()?["result"])
            heard.end()
        })

        try await handle(daemon, until: heard) { request in
            #expect(request.renewalId == "7")
            #expect(request.reason == .expiring)
            return .renewWithAuthToken(SecretText("token of \(request.userId)"))
        }

        #expect(
            heard.lines == [#""handler.register""#, #"{"action":"renewWithAuthToken","authToken":"token of joe"}"#]
        )
    }

    @Test func `who throws was unable`() async throws {
        let (daemon, heard) = daemon({ peer, heard in
            peer.send(Self.question(7))
            heard.note(peer.message()?["result"]?["action"])
            heard.end()
        })

        try await handle(daemon, until: heard) { _ in throw NoTokenToday() }

        #expect(heard.lines.last == #""unableToRetrieveAuthToken""#)
    }

    @Test func `a question that comes before the registration was answered is kept`() async throws {
        let heard = Heard()
        let daemon = ScriptedDaemon({ peer in
            let request = peer.message()
            peer.send(Self.question(7))
            peer.answer(request, #"{"registered":true}"#)
            heard.note(peer.message()?["result"]?["action"])
            heard.end()
        })

        try await handle(daemon, until: heard) { _ in .renew }

        #expect(heard.lines == [#""renew""#])
    }

    @Test func `after a restart of the daemon it is registered again`() async throws {
        let (daemon, heard) = daemon(
            { _, _ in },
            { peer, heard in
                peer.send(Self.question(1))
                heard.note(peer.message()?["result"]?["action"])
                heard.end()
            }
        )

        try await handle(daemon, until: heard) { _ in .renew }

        #expect(heard.lines == [#""handler.register""#, #""handler.register""#, #""renew""#])
    }

    @Test func `a cancelled task is a handler no longer`() async throws {
        let (daemon, heard) = daemon({ peer, heard in
            heard.end()
            heard.note(peer.message())
            heard.end()
        })

        try await handle(daemon, until: heard) { _ in .renew }

        await heard.enough()
        #expect(heard.lines == [#""handler.register""#, "nothing"])
    }

    @Test func `a new question cancels whoever still thinks about the last one`() async throws {
        let thinks = try Bell()
        let (daemon, heard) = daemon({ peer, heard in
            peer.send(Self.question(1))
            thinks.waitForRing()
            peer.send(Self.question(2, user: "ann"))
            for _ in 0..<2 { heard.note(peer.message()?["result"]?["action"]) }
            heard.end()
        })

        try await handle(daemon, until: heard) { request in
            guard request.userId == "joe" else { return .renew }
            thinks.ring()
            return try await thinkingUntilCancelled()
        }

        #expect(Set(heard.lines.dropFirst()) == [#""renew""#, #""unableToRetrieveAuthToken""#])
    }

    @Test func `who still thinks at the deadline is cancelled`() async throws {
        let (daemon, heard) = daemon({ peer, heard in
            peer.send(Self.question(1, deadline: "2026-11-21T07:01:00Z"))
            heard.note(peer.message()?["result"]?["action"])
            heard.end()
        })

        try await handle(daemon, until: heard) { _ in try await thinkingUntilCancelled() }

        #expect(heard.lines.last == #""unableToRetrieveAuthToken""#)
    }

    @Test func `who still thinks when the daemon has gone is cancelled`() async throws {
        let thinks = try Bell()
        let (daemon, heard) = daemon(
            { peer, heard in
                peer.send(Self.question(1))
                thinks.waitForRing()
            },
            { peer, heard in _ = peer.line() }
        )

        try await handle(daemon, until: heard) { _ in
            thinks.ring()
            defer { heard.end() }
            return try await thinkingUntilCancelled()
        }

        #expect(heard.lines.first == #""handler.register""#)
    }

    @Test func `what is asked besides, or cannot be read, is an error and harms nobody`() async throws {
        let (daemon, heard) = daemon({ peer, heard in
            peer.send(#"{"jsonrpc":"2.0","id":1,"method":"session.authenticate","params":{"externalUserId":"x"}}"#)
            heard.note(peer.message()?["error"]?["code"])
            peer.send(#"{"jsonrpc":"2.0","id":2,"method":"session.willRenewAccessToken","params":{"reason":7}}"#)
            heard.note(peer.message()?["error"]?["code"])
            peer.send(Self.question(3))
            heard.note(peer.message()?["result"]?["action"])
            heard.end()
        })

        try await handle(daemon, until: heard) { _ in .renew }

        #expect(heard.lines.dropFirst() == ["-32601", "-32602", #""renew""#])
    }

    @Test func `what a new connection would not change is thrown`() async throws {
        let daemon = ScriptedDaemon({ peer in
            peer.refuse(peer.message(), #"{"code":1007,"message":"no","data":{"kind":"permissionDenied"}}"#)
            _ = peer.line()
        })

        let error = await #expect(throws: JunctionError.self) {
            try await daemon.client.handleRenewals { _ in .renew }
        }

        #expect(error?.kind == .permissionDenied)
    }
}

/// An app that has no answer, and goes on looking for one.
@Sendable private func thinkingUntilCancelled() async throws -> RenewalAnswer {
    // Nobody ever ends this stream but a cancellation.
    for await _ in AsyncStream<Void>.makeStream().stream {}
    throw CancellationError()
}

/// What the daemon was told, and whether that is all.
private final class Heard: Sendable {
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

    func enough() async {
        var ends = ends.makeAsyncIterator()
        await ends.next()
    }
}
