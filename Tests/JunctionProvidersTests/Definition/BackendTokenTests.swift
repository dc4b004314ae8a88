import JunctionSecret
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionProviders

struct BackendTokenTests {
    @Test func `a bare token is used unchanged`() throws {
        let given = try BackendToken(SharedSecret(text: " eyJ.a.b\n"))

        #expect(given.token.text == " eyJ.a.b\n")
        #expect(given.userId == nil)
    }

    @Test(arguments: [
        "sign_in_token", "signInToken", "auth_token", "authToken", "registration_token", "registrationToken", "token",
    ])
    func `the token is found in the backend's JSON object`(name: String) throws {
        let given = try BackendToken(
            SharedSecret(text: "\n {\"user_id\": \"anna\", \"\(name)\": \"X\\u0059Z==\", \"more\": [1]}")
        )

        #expect(given.token.text == "XYZ==")
        #expect(given.userId == "anna")
    }

    @Test func `names in camel case count only beside no other one`() throws {
        let both = try BackendToken(SharedSecret(text: #"{"sign_in_token":"X","authToken":"Y","userId":7}"#))
        let camelCase = try BackendToken(SharedSecret(text: #"{"registrationToken":"X","userId":"anna"}"#))

        let own = try BackendToken(SharedSecret(text: #"{"token":"X","userId":"own-id"}"#))
        #expect(own.userId == nil)
        #expect(both.token.text == "X" && both.userId == nil)
        #expect(camelCase.token.text == "X" && camelCase.userId == "anna")
    }

    @Test(arguments: [#"{"token":"secret"}"#, #"{"user_id":null,"token":"secret"}"#])
    func `an object without a user id is accepted`(text: String) throws {
        #expect(try BackendToken(SharedSecret(text: text)).userId == nil)
    }

    @Test(arguments: [
        (#"{"token":"secret""#, "not JSON"), ("{}", "exactly one member"),
        (#"{"user_id":"anna"}"#, "exactly one member"), (#"{"code":"skus0a1b2c3d"}"#, "--link-code"),
        (#"{"token":"secret","sign_in_token":"secret"}"#, "exactly one member"),
        (#"{"token":"secret","token":"secret"}"#, "exactly one member"), (#"{"token":7}"#, "exactly one member"),
        (#"{"sign_in_token":""}"#, "is empty"),
        (#"{"user_id":7,"token":"secret"}"#, "user_id"),
        (#"{"authToken":"secret","registrationToken":"secret"}"#, "exactly one member"),
        (#"{"user_id":"anna","user_id":"anna","token":"secret"}"#, "user_id"),
        ("{\"token\":\"" + String(repeating: "secret", count: 11_000) + "\"}", "not JSON"),
    ])
    func `an invalid object is refused, and the error does not repeat it`(text: String, fault: String) throws {
        let refused = #expect(throws: CredentialRefused.self) { try BackendToken(SharedSecret(text: text)) }

        let reason = try #require(refused?.reasonIfMisdescribed)
        #expect(reason.contains(fault))
        #expect(!reason.contains("secret") && !reason.contains("anna"))
    }

    @Test(arguments: [Sample.userId, Sample.userId.uppercased()])
    func `Junction: an object that names the user of the token is accepted`(userId: String) throws {
        let answer = #"{"user_id":"\#(userId)","sign_in_token":"\#(Sample.token())"}"#

        #expect(try SignInToken(SharedSecret(text: answer)).userToken.text == Sample.jwt())
    }

    @Test func `Junction: an object that names another user is refused`() {
        let answer = #"{"user_id":"e209947b-323e-4108-8e18-1518b80da0bd","sign_in_token":"\#(Sample.token())"}"#

        let refused = #expect(throws: CredentialRefused.self) { try SignInToken(SharedSecret(text: answer)) }

        #expect(refused?.reason.contains("user_id") == true)
    }

    @Test(arguments: ["skus0a1b2c3d", "SKUS-0A1B-2C3D"])
    func `Junction: a link code in the place of a token is reported as a link code`(code: String) {
        let refused = #expect(throws: CredentialRefused.self) { try SignInToken(SharedSecret(text: code)) }

        #expect(refused?.reason.contains("--link-code") == true)
        #expect(refused?.reason.contains(code) == false)
    }

    @Test func `social.plus: an object with the auth token of the signed-in user is accepted`() throws {
        let answer = SharedSecret(text: #"{"user_id":"anna","auth_token":"abc"}"#)

        let login = try UserLogin(userId: "anna", displayName: nil, authToken: answer)

        #expect(login.authToken?.text == "abc")
        #expect(throws: CredentialRefused.self) { try UserLogin(userId: "Anna", displayName: nil, authToken: answer) }
    }

    @Test func `Sinch: an object with the registration token of the signed-in user is accepted`() throws {
        func proof(_ userId: String) throws(CredentialRefused) -> SinchProof {
            let answer = #"{"user_id":"\#(userId)","registration_token":"\#(Sinch.jwt(for: "anna"))"}"#
            return try SinchProof(token: SharedSecret(text: answer), for: "anna", of: Sinch.application)
        }

        guard case .token(let token, _) = try proof("anna") else {
            Issue.record("Expected a token")
            return
        }
        #expect(token.text == Sinch.jwt(for: "anna"))
        let refused = #expect(throws: CredentialRefused.self) { try proof("bert") }
        #expect(refused?.reason.contains("user_id") == true)
    }
}
