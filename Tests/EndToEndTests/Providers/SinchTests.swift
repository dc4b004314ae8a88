import Foundation
import JunctionTesting
import Testing

/// Tests of Sinch with the built programs: registration tokens, self-signing and the legacy signature.
struct SinchEndToEndTests {
    private let sequence: Object = ["scheme": "registrationSignature", "userId": "anna"]

    @Test func `a registration token registers once, and the session survives a restart`() throws {
        let installation = try Installation.sinch()
        let token = try installation.registrationToken(for: "anna")
        let credential: Object = ["scheme": "registration", "userId": "anna", "token": token]

        #expect(try installation.connect().call("session.signIn", credential).state == "established")
        try installation.restartDaemon()

        let client = try installation.connect()
        #expect(try client.call("session.status").state == "established")
        #expect(try client.call("token.get")["accessToken"] is String)
        #expect(try installation.cloud.counter("tokenRequests") == 1)
    }

    @Test func `a forgotten registration is detected and renewed without a call of an app`() throws {
        let installation = try Installation.sinch()
        let token = try installation.registrationToken(for: "anna")
        try installation.connect().call(
            "session.signIn",
            ["scheme": "registration", "userId": "anna", "token": token]
        )
        try installation.cloud.sandbox("POST", "sinch/users/anna/require-reauthentication")
        let time = try ShiftedTime(installation)
        try installation.restartDaemon()
        let app = try RenewingApp(installation)

        time.advance(by: .minutes(1))

        let question = try app.answer(
            ["action": "renewWithAuthToken", "authToken": try installation.registrationToken(for: "anna")]
        )
        #expect(question["reason"] as? String == "rejected")
        #expect(try installation.awaitSnapshot { $0.generation == 2 }.state == "established")
    }

    @Test func `a configured application secret registers without asking an app`() throws {
        let installation = try Installation.sinch(selfSigning: true)
        let client = try installation.connect()
        let credential: Object = ["scheme": "selfSigned", "userId": "anna"]
        #expect(try client.call("session.signIn", credential).state == "established")

        #expect(try client.call("session.renew").generation == 2)

        let without = try Installation.sinch()
        #expect(try without.connect().refusal("session.signIn", credential).code == -32602)
    }

    @Test func `a legacy sequence is used only once, despite a sign-out and a restart`() throws {
        let installation = try Installation.sinch()
        func credential(_ number: Int) throws -> Object {
            let wish: Object = ["sequence": "\(number)"]
            let answer = try installation.cloud.sandbox("POST", "sinch/users/anna/registration-signature", wish)
            let signature = try #require(answer["signature"] as? String)
            return sequence.merging(["signature": signature, "sequence": "\(number)"]) { $1 }
        }
        try installation.connect().call("session.signIn", credential(7))
        try installation.connect().call("session.signOut")
        #expect(try installation.connect().refusal("session.signIn", credential(7)).kind == "invalidCredential")

        try installation.restartDaemon()
        for spent in [6, 7] {
            let refusal = try installation.connect().refusal("session.signIn", credential(spent))
            #expect(refusal.kind == "invalidCredential")
            #expect(refusal.message.contains("The sequence \(spent) is not larger than the last one that was used"))
        }
        #expect(try installation.cloud.counter("tokenRequests") == 1)
        #expect(try installation.connect().call("session.signIn", credential(8)).state == "established")

        let file = installation.stateDirectory + "/sequences"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!text.contains("anna"))
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }
}
