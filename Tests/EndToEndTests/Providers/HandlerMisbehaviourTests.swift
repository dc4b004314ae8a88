import Foundation
import JunctionTesting
import Testing

/// Tests that misbehaving session handlers affect no other app.
struct HandlerMisbehaviourTests {
    /// The reaction of a handler to a question.
    struct Misbehaviour: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// Whether the daemon detects the misbehaviour only by a timeout.
        var isSilent = false
        var act: @Sendable (RawClient, _ identifier: Any) throws -> Void
    }

    private static func answers(_ what: String, _ result: @autoclosure @escaping @Sendable () -> Any) -> Misbehaviour {
        Misbehaviour(testDescription: what) { try $0.reply(to: $1, saying: ["result": result()]) }
    }

    static let misbehaviours = [
        Misbehaviour(testDescription: "hangs", isSilent: true) { _, _ in },
        Misbehaviour(testDescription: "dies") { client, _ in client.socket.closeConnection() },
        Misbehaviour(testDescription: "says that it will say no more") { client, _ in client.socket.finishSending() },
        Misbehaviour(testDescription: "unregisters") { client, _ in _ = try client.request("handler.unregister") },
        Misbehaviour(testDescription: "answers an error") { try $0.replyError(to: $1) },
        Misbehaviour(testDescription: "answers an error that is none") {
            try $0.reply(to: $1, saying: ["error": "no"])
        },
        Misbehaviour(testDescription: "answers neither result nor error", isSilent: true) {
            try $0.reply(to: $1, saying: [:])
        },
        Misbehaviour(testDescription: "answers no JSON", isSilent: true) { client, _ in client.send("renew") },
        Misbehaviour(testDescription: "answers another question", isSilent: true) { client, _ in
            try client.reply(to: 4_711, ["action": "renew"])
        },
        Misbehaviour(testDescription: "answers a line without an end") { client, _ in
            client.send(bytes: Array(repeating: UInt8(ascii: "["), count: (1 << 20) + 1))
        },
        answers("answers null", NSNull()),
        answers("answers a word", "renew"),
        answers("answers a list", ["renew"]),
        answers("answers nothing that is known", Object()),
        answers("answers an action that is none", ["action": "dance"]),
        answers("answers an action that is no text", ["action": 7]),
        answers("answers a token that is not there", ["action": "renewWithAuthToken"]),
        answers("answers a token that is no text", ["action": "renewWithAuthToken", "authToken": 7] as Object),
        answers("answers a token that is empty", ["action": "renewWithAuthToken", "authToken": ""]),
        answers("answers a token that is none", ["action": "renewWithAuthToken", "authToken": "nonsense"]),
        answers("answers a signature without its sequence", ["action": "renewWithSignature", "signature": "c2ln"]),
        answers(
            "answers a scheme of another provider",
            ["action": "renewWithSignature", "signature": "c2ln", "sequence": "7"]
        ),
    ]

    @Test(arguments: misbehaviours)
    func `a misbehaving handler counts as unable, and the next round asks its user's other handler`(
        misbehaviour: Misbehaviour
    ) throws {
        let (installation, time) = try Installation.junctionWithHandlersAndTime()
        let user = try installation.signInNewUser()
        let token = try installation.token()
        let good = try RenewingApp(installation)
        let bad = try RenewingApp(installation)
        let caller = try installation.connect()

        let vain = try caller.request("session.renew")
        try misbehaviour.act(bad.client, bad.question().identifier)
        if misbehaviour.isSilent { time.advance(by: .seconds(60)) }
        let refusal = try caller.refusal(of: vain)
        #expect(refusal.kind == "providerUnavailable")
        #expect((600...661).contains(refusal.retryAfter ?? 0))
        let snapshot = try caller.call("session.status")
        #expect(snapshot.state == "established")
        #expect(snapshot.phase == "postponed")
        #expect(try installation.token() == token)

        time.advance(by: .seconds(11))
        let renewal = try caller.request("session.renew")
        let question = try good.answer(["action": "renew"])
        #expect(question["userId"] as? String == user)
        #expect(try caller.answer(to: renewal).generation == 2)
        #expect(try installation.cloud.counter("refreshes") == 1)
    }
}
