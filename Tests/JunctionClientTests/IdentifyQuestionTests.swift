import JunctionClientTesting
import JunctionJSON
import Synchronization
import Testing

@testable import JunctionClient

/// The one call during which the daemon asks a question.
struct IdentifyQuestionTests {
    private struct NoTokenToday: Error, Equatable {}

    @Test func `a question matches a call only if the bytes of the ids are equal`() async throws {
        let (inOne, inTwo) = ("caf\u{E9}", "cafe\u{301}")
        let questioned = Mutex<JSONValue?>(nil)
        let daemon = ScriptedDaemon({ peer in
            let request = peer.message()
            let params = #"{"externalUserId":"\#(inTwo)"}"#
            peer.send(#"{"jsonrpc":"2.0","id":9,"method":"session.authenticate","params":\#(params)}"#)
            let message = peer.message()
            questioned.withLock { $0 = message }
            peer.answer(request, #"{"outcome":"unchanged","snapshot":\#(snapshotJSON())}"#)
            _ = peer.line()
        })

        _ = try await daemon.client.identify(externalUserId: inOne) { _ in
            Issue.record("Somebody else's credential was asked for")
            throw NoTokenToday()
        }

        #expect(questioned.withLock { $0?["error"]?["code"]?.integer } == 1002)
    }

    @Test func `two callers are each asked about their own user`() async throws {
        let daemon = ScriptedDaemon({ peer in
            var requests: [String: JSONValue] = [:]
            for _ in 0..<2 {
                guard let message = peer.message() else { return }
                requests[message["params"]?["externalUserId"]?.string ?? ""] = message
            }
            for user in ["joe", "ann"] {
                peer.send(
                    #"{"jsonrpc":"2.0","id":1,"method":"session.authenticate","params":{"externalUserId":"\#(user)"}}"#
                )
                let isTheirs = peer.message()?["result"]?["token"]?.string == "token of \(user)"
                let outcome = isTheirs ? "signedIn" : "unchanged"
                peer.answer(requests[user], #"{"outcome":"\#(outcome)","snapshot":\#(snapshotJSON())}"#)
            }
            _ = peer.line()
        })
        let client = daemon.client

        async let ann = client.identify(externalUserId: "ann") { .signInToken(SecretText("token of \($0)")) }
        async let joe = client.identify(externalUserId: "joe") { .signInToken(SecretText("token of \($0)")) }

        #expect(try await ann.outcome == .signedIn)
        #expect(try await joe.outcome == .signedIn)
    }

    @Test func `an error of the app's closure is thrown even if the daemon has gone`() async throws {
        let daemon = ScriptedDaemon({ peer in
            _ = peer.line()
            peer.send(#"{"jsonrpc":"2.0","id":9,"method":"session.authenticate","params":{"externalUserId":"joe"}}"#)
            _ = peer.line()
        })
        let asked = Mutex(0)

        await #expect(throws: IdentifyError.credential(NoTokenToday())) {
            try await daemon.client.identify(externalUserId: "joe") { _ throws(NoTokenToday) in
                asked.withLock { $0 += 1 }
                throw NoTokenToday()
            }
        }

        #expect(asked.withLock { $0 } == 1)
    }
}
