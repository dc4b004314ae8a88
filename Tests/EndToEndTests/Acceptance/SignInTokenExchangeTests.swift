import Foundation
import JunctionTesting
import Testing

/// Tests of the Sign-In Token and its exchange.
@Suite struct SignInTokenExchangeTests {
    @Test func `the session is stored and the Sign-In Token is not`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let token = try installation.cloud.signInToken(for: user)

        let snapshot = try installation.connect().call("session.signIn", ["scheme": "signInToken", "token": token])

        #expect(snapshot.state == "established")
        #expect(snapshot.isDurable)
        #expect(Set(snapshot.flags) == ["configured", "signedIn", "useSignInToken"])
        let secrets = [token, try Cloud.jwt(of: token)]
        #expect(SecretSearch.found(secrets, inFilesBelow: installation.stateDirectory) == [])
        try installation.restartDaemon()
        #expect(try installation.status().userId == user)
    }

    @Test func `an exchange that the provider refuses is an invalid credential and changes nothing`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let client = try installation.connect()

        for wish in ["forged", "expired"] {
            let token = try installation.cloud.signInToken(for: user, [wish: true])
            let error = try client.refusal("session.signIn", ["scheme": "signInToken", "token": token])
            #expect(error.kind == "invalidCredential", "\(wish)")
        }
        try installation.cloud.fault([
            "match": "/v1/token", "times": 1, "status": 401,
            "body": ["detail": ["error_type": "reauthentication_required"]],
        ])
        let error = try client.refusal("session.signIn", try installation.cloud.credential(for: user))

        #expect(error.kind == "invalidCredential")
        #expect(try client.call("session.status").state == "notLoggedIn")
        #expect(try installation.ctl("status").status == 3)
    }
}
