import JunctionClientTesting
import JunctionJSON
import Synchronization
import Testing

@testable import JunctionClient

/// The one call in which the daemon asks back.
struct IdentifyTests {
    private struct NoTokenToday: Error, Equatable {}

    private static let question =
        #"{"jsonrpc":"2.0","id":9,"method":"session.authenticate","params":{"externalUserId":"joe"}}"#

    /// The next daemon, which is to hear nothing of it.
    private static let signsIn: ScriptedDaemon.Script = { peer in
        let request = peer.message()
        peer.send(question)
        _ = peer.line()
        peer.answer(request, #"{"outcome":"signedIn","snapshot":\#(snapshotJSON())}"#)
        _ = peer.line()
    }

    @Test func `the credential is asked for when the daemon needs one`() async throws {
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
    func `no credential is asked for when none is needed`(user: String?) async throws {
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

    @Test func `what the app throws is told to the daemon and thrown to the caller`() async throws {
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

    @Test func `an id is the caller's when its bytes are, however alike two look`() async throws {
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

    @Test func `two callers are asked about their own user each`() async throws {
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

    @Test func `a question about somebody whom nobody identifies is refused`() async throws {
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

    @Test func `a daemon that is restarted before it has asked for the credential is told again`() async throws {
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

    @Test func `once the daemon has asked, a lost connection is told: the credential may have been used`() async {
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

    @Test func `identifying nobody is a sign-out, which is not done twice`() async {
        let daemon = ScriptedDaemon({ peer in _ = peer.line() }, Self.signsIn)

        await #expect(throws: IdentifyError<NoTokenToday>.junction(.connectionLost)) {
            try await daemon.client.identify(externalUserId: nil) { _ throws(NoTokenToday) in throw NoTokenToday() }
        }
    }

    @Test func `what the app throws is the end of it, though the daemon has gone`() async throws {
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
