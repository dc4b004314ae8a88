import JunctionClientTesting
import JunctionJSON
import Synchronization
import Testing

@testable import JunctionClient

/// The one call during which the daemon asks a question.
struct IdentifyTests {
    private struct NoTokenToday: Error, Equatable {}

    private static let question =
        #"{"jsonrpc":"2.0","id":9,"method":"session.authenticate","params":{"externalUserId":"joe"}}"#

    /// The next daemon, which must not receive the call.
    private static let signsIn: ScriptedDaemon.Script = { peer in
        let request = peer.message()
        peer.send(question)
        _ = peer.line()
        peer.answer(request, #"{"outcome":"signedIn","snapshot":\#(snapshotJSON())}"#)
        _ = peer.line()
    }

    @Test func `identify asks for the credential when the daemon needs one`() async throws {
        let response = Mutex("")
        let daemon = ScriptedDaemon({ peer in
            let request = peer.message()
            peer.send(#"{"jsonrpc":"2.0","id":"d1","method":"session.authenticate","params":{"externalUserId":"joe"}}"#)
            let line = peer.line() ?? ""
            response.withLock { $0 = line }
            peer.answer(request, #"{"outcome":"switched","snapshot":\#(snapshotJSON())}"#)
            _ = peer.line()
        })

        let result = try await daemon.client.identify(externalUserId: "joe") { user in
            .signInToken(SecretText("token of \(user)"))
        }

        #expect(result.outcome == .switched)
        #expect(
            response.withLock { $0 }
                == #"{"jsonrpc":"2.0","id":"d1","result":{"scheme":"signInToken","token":"token of joe"}}"#
        )
    }

    @Test(arguments: [String?.some("joe"), nil])
    func `identify asks for no credential when none is needed`(user: String?) async throws {
        let daemon = ScriptedDaemon({ peer in
            peer.answer(peer.message(), #"{"outcome":"unchanged","snapshot":\#(snapshotJSON())}"#)
            _ = peer.line()
        })

        let result = try await daemon.client.identify(externalUserId: user) { _ in
            Issue.record("Nobody asked for a credential")
            throw NoTokenToday()
        }

        #expect(result.outcome == .unchanged)
    }

    @Test func `an error of the app's closure is sent to the daemon and thrown to the caller`() async throws {
        let response = Mutex<JSONValue?>(nil)
        let daemon = ScriptedDaemon({ peer in
            let request = peer.message()
            peer.send(#"{"jsonrpc":"2.0","id":9,"method":"session.authenticate","params":{"externalUserId":"joe"}}"#)
            let message = peer.message()
            response.withLock { $0 = message }
            peer.refuse(request, #"{"code":1002,"message":"no","data":{"kind":"invalidCredential"}}"#)
            _ = peer.line()
        })

        await #expect(throws: IdentifyError.credential(NoTokenToday())) {
            try await daemon.client.identify(externalUserId: "joe") { _ throws(NoTokenToday) in throw NoTokenToday() }
        }

        #expect(response.withLock { $0?["error"]?["code"]?.integer } == 1002)
    }

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

    @Test func `a question about a user whom no call identifies is refused`() async throws {
        let response = Mutex<JSONValue?>(nil)
        let daemon = ScriptedDaemon({ peer in
            let request = peer.message()
            peer.send(#"{"jsonrpc":"2.0","id":9,"method":"session.authenticate","params":{"externalUserId":"eve"}}"#)
            let message = peer.message()
            response.withLock { $0 = message }
            peer.answer(request, #"{"outcome":"unchanged","snapshot":\#(snapshotJSON())}"#)
            _ = peer.line()
        })

        _ = try await daemon.client.identify(externalUserId: "joe") { _ in throw NoTokenToday() }

        #expect(response.withLock { $0?["error"]?["code"]?.integer } == 1002)
    }

    @Test func `identify is repeated if the daemon restarts before its question`() async throws {
        let daemon = ScriptedDaemon(
            { peer in _ = peer.line() },
            { peer in _ = peer.line() },
            { peer in
                let request = peer.message()
                peer.send(Self.question)
                let token = peer.message()?["result"]?["token"]?.string
                let outcome = token == "token" ? "signedIn" : "unchanged"
                peer.answer(request, #"{"outcome":"\#(outcome)","snapshot":\#(snapshotJSON())}"#)
                _ = peer.line()
            }
        )

        let result = try await daemon.client.identify(externalUserId: "joe") { _ in
            .signInToken(SecretText("token"))
        }

        #expect(result.outcome == .signedIn)
    }

    @Test func `a connection that is lost after the daemon's question is an error and not repeated`() async {
        let daemon = ScriptedDaemon(
            { peer in
                _ = peer.line()
                peer.send(Self.question)
                _ = peer.line()
            },
            Self.signsIn
        )
        let asked = Mutex(0)

        await #expect(throws: IdentifyError<Never>.junction(.connectionLost)) {
            try await daemon.client.identify(externalUserId: "joe") { _ in
                asked.withLock { $0 += 1 }
                return .signInToken(SecretText("token"))
            }
        }

        #expect(asked.withLock { $0 } == 1)
    }

    @Test func `identify without a user is a sign-out and is not repeated`() async {
        let daemon = ScriptedDaemon({ peer in _ = peer.line() }, Self.signsIn)

        await #expect(throws: IdentifyError<NoTokenToday>.junction(.connectionLost)) {
            try await daemon.client.identify(externalUserId: nil) { _ throws(NoTokenToday) in throw NoTokenToday() }
        }
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
