import JunctionNetworkHelper
import JunctionSecret
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionProviders

struct JunctionRenewTests {
    @Test func `a refresh token is sent byte for byte, with any characters`() async throws {
        let secrets = SessionSecrets(refreshToken: SharedSecret(text: "a+b/c=&d%20 e"))
        try await Stage.play([.json(200, #"{"access_token":"a","expires_in":60}"#)]) { stage in
            let grant = try await stage.junction.renew(Sample.identity, with: secrets, using: .renew)

            let request = try #require(stage.server.requests.first)
            #expect(request.line == "POST /v1/token HTTP/1.1")
            #expect(request.header("content-type") == "application/x-www-form-urlencoded")
            #expect(request.header("authorization") == nil)
            #expect(request.body == "grant_type=refresh_token&refresh_token=a%2Bb%2Fc%3D%26d%2520%20e")
            #expect(grant.scheme == .signInToken)
        }
    }

    @Test(arguments: [
        #"{"access_token":"a","refresh_token":"next"}"#,
        #"{"access_token":"a","refresh_token":"next","expires_in":0}"#,
        #"{"access_token":"\#(String(repeating: "a", count: 17_000))","refresh_token":"next","expires_in":60}"#,
        #"{"refresh_token":"next"}"#,
    ])
    func `a new refresh token is used although the rest of the answer is invalid`(body: String) async throws {
        let secrets = SessionSecrets(refreshToken: SharedSecret(text: "refresh"))
        try await Stage.play([.json(200, body)]) { stage in
            let grant = try await stage.junction.renew(Sample.identity, with: secrets, using: .renew)

            #expect(grant.token == nil)
            #expect(grant.refreshToken?.text == "next")
            #expect(grant.missingAccessToken?.ambiguous == false)
            #expect(grant.missingAccessToken?.message.contains("without a usable access token") == true)
        }
    }

    @Test func `a new refresh token is used also after a renewal with a Sign-In Token`() async throws {
        guard case .signInToken(let token) = Sample.credential() else { return }
        try await Stage.play([.json(200, #"{"refresh_token":"next"}"#)]) { stage in
            let grant = try await stage.junction.renew(
                Sample.identity,
                with: SessionSecrets(refreshToken: SharedSecret(text: "refresh")),
                using: .authToken(token)
            )

            #expect(grant.token == nil)
            #expect(grant.refreshToken?.text == "next")
        }
    }

    @Test(arguments: [400, 401, 403])
    func `a demand for a new credential keeps the session`(status: Int) async throws {
        let body = #"{"error":"invalid_request","detail":{"error_type":"reauthentication_required","message":"x"}}"#
        try await Stage.play([.json(status, body)]) { stage in
            let failure = try await stage.renewalFailure(.junction)

            #expect(failure == .reauthenticationRequired)
        }
    }

    @Test func `a deleted user terminates the session without the server's text`() async throws {
        let body = #"{"detail":{"error_type":"invalid_token","message":"<b>chosen by the server</b>"}}"#
        try await Stage.play([.json(401, body)]) { stage in
            let failure = try await stage.renewalFailure(.junction)

            #expect(
                failure
                    == .terminated(
                        code: "invalid_token",
                        message: "Junction no longer knows this user: deleted or disabled"
                    )
            )
        }
    }

    @Test(arguments: [
        #"{"details":{"errorType":"invalid_token"}}"#, #"{"detail":"invalid_token"}"#, "<html>invalid_token</html>",
        #"{"detail":{"error_type":"INVALID_REFRESH_TOKEN"}}"#,
    ])
    func `a client error without a verdict keeps the session`(body: String) async throws {
        try await Stage.play([.json(401, body)]) { stage in
            let why = try #require(try await stage.renewalFailure(.junction)?.unavailability)

            #expect(!why.ambiguous)
            #expect(!why.message.contains("invalid_token"))
        }
    }

    @Test func `a renewal without a refresh token demands a new credential`() async throws {
        try await Stage.play([]) { stage in
            let junction = try stage.junction
            await #expect(throws: RenewalFailure.reauthenticationRequired) {
                try await junction.renew(
                    Sample.identity,
                    with: SessionSecrets(accessToken: SharedSecret(text: "a")),
                    using: .renew
                )
            }
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test func `a handler's Sign-In Token replaces the refresh token`() async throws {
        try await Stage.play([ProviderUnderTest.junction.granted]) { stage in
            let grant = try await stage.junction.renew(
                Sample.identity,
                with: ProviderUnderTest.junction.secrets,
                using: .authToken(SharedSecret(text: Sample.token()))
            )

            #expect(stage.server.requests.first?.body.contains("subject_token=\(Sample.jwt())") == true)
            #expect(grant.identity == Sample.identity)
            #expect(grant.refreshToken?.text == "refresh-1")
        }
    }

    @Test func `a refused Sign-In Token refuses the handler's answer`() async throws {
        try await Stage.play([ProviderUnderTest.junction.refused]) { stage in
            let answer = RenewalAnswer.authToken(SharedSecret(text: Sample.token()))
            let failure = try await stage.renewalFailure(.junction, using: answer)

            #expect(failure?.refusal != nil)
        }
    }
}
