import JunctionClient
import JunctionClientTesting
import JunctionJSON
import Testing

struct TimeoutTests {
    @Test func `the timeout of a client applies to each of its calls`() async throws {
        let daemon = ScriptedDaemon({ peer in while peer.line() != nil {} })
        let client = JunctionClient(socket: daemon.path, timeout: .milliseconds(1))

        for _ in 0..<3 {
            let error = await #expect(throws: JunctionError.self) { try await client.accessToken() }
            #expect(error?.kind == .timedOut)
        }
    }

    @Test func `the timeout includes repetitions`() async {
        let closeConnection: ScriptedDaemon.Script = { peer in _ = peer.line() }
        let daemon = ScriptedDaemon([
            closeConnection, closeConnection, closeConnection, closeConnection, closeConnection, closeConnection,
            closeConnection, closeConnection,
        ])

        let error = await #expect(throws: JunctionError.self) { try await daemon.client.timeout(.zero).status() }

        #expect(error?.kind == .timedOut)
    }

    @Test func `the timeout applies to identify`() async {
        let daemon = ScriptedDaemon({ peer in while peer.line() != nil {} })

        let error = await #expect(throws: IdentifyError<Never>.self) {
            try await daemon.client.timeout(.milliseconds(1)).identify(externalUserId: "joe") { _ in
                .signInToken(SecretText("token"))
            }
        }

        guard case .junction(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.kind == .timedOut)
    }
}
