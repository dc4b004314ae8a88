import JunctionClient
import JunctionClientTesting
import Testing

@testable import JunctionClient

/// Calls whose connection is lost are repeated only if they cannot take effect twice.
struct RepetitionTests {
    private static let closeConnection: ScriptedDaemon.Script = { peer in _ = peer.line() }
    private static let answer: ScriptedDaemon.Script = { peer in
        while let message = peer.message() { peer.answer(message, snapshotJSON()) }
    }
    /// Stops reading, and then answers one call.
    private static let answerOnceAndStopListening: ScriptedDaemon.Script = { peer in
        let message = peer.message()
        peer.stopListening()
        peer.answer(message, snapshotJSON())
        peer.waitForEnd()
    }
    private let credential = Credential.signInToken(SecretText("secret"))

    @Test func `a call that the daemon did not take is repeated with the next daemon`() async throws {
        let daemon = ScriptedDaemon(Self.answerOnceAndStopListening, Self.answer)
        let client = daemon.client
        _ = try await client.status()

        #expect(try await client.signIn(credential).revision == 17)
    }

    @Test func `a call on a separate connection is repeated by the same rule`() throws {
        let daemon = ScriptedDaemon(Self.closeConnection, Self.answer)
        #expect(try Connection.ask(SessionStatus.self, NoParams(), at: SocketPath(daemon.path)).value.revision == 17)

        let other = ScriptedDaemon(Self.closeConnection, Self.answer)
        #expect(throws: JunctionError.connectionLost) {
            _ = try Connection.ask(SessionSignOut.self, NoParams(), at: SocketPath(other.path))
        }
    }

    @Test func `identify on a separate connection is repeated until the daemon has asked, and not after that`()
        throws
    {
        let question = #"{"jsonrpc":"2.0","id":9,"method":"session.authenticate","params":{"externalUserId":"joe"}}"#
        let signsIn: ScriptedDaemon.Script = { peer in
            let request = peer.message()
            peer.send(question)
            _ = peer.line()
            peer.answer(request, #"{"outcome":"signedIn","snapshot":\#(snapshotJSON())}"#)
        }
        let hangsUpOnTheAnswer: ScriptedDaemon.Script = { peer in
            _ = peer.line()
            peer.send(question)
            _ = peer.line()
        }
        let params = SessionIdentify.Params(externalUserId: "joe")

        let daemon = ScriptedDaemon(Self.closeConnection, signsIn)
        let result = try Connection.ask(SessionIdentify.self, params, at: SocketPath(daemon.path)) { _ in
            .success(credential)
        }
        #expect(result.value.outcome == .signedIn)

        // An app without a credential is not asked again either.
        let answers: [Result<any WireValue, WireError>] = [.success(credential), .failure(.methodNotFound)]
        for answer in answers {
            let other = ScriptedDaemon(hangsUpOnTheAnswer, signsIn)
            var asked = 0
            #expect(throws: JunctionError.connectionLost) {
                try Connection.ask(SessionIdentify.self, params, at: SocketPath(other.path)) { _ in
                    asked += 1
                    return answer
                }
            }
            #expect(asked == 1)
        }
    }

    @Test func `identify without a user on a separate connection is a sign-out and is not repeated`() {
        let daemon = ScriptedDaemon(Self.closeConnection, Self.answer)
        let nobody = SessionIdentify.Params(externalUserId: nil)

        #expect(throws: JunctionError.connectionLost) {
            try Connection.ask(SessionIdentify.self, nobody, at: SocketPath(daemon.path))
        }
    }
}
