import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct JunctionRenewTests {
    @Test func `a refresh token is sent byte for byte, whatever characters it has`() async throws {
        let secrets = SessionSecrets(refreshToken: SharedSecret(text: "a+b/c=&d%20 e"))
        try await Stage.play([.json(200, #"{"access_token":"a","expires_in":60}"#)]) { stage in
            let grant = try await stage.junction.renew(Sample.identity, with: secrets)

            let request = try #require(stage.server.requests.first)
            #expect(request.line == "POST /v1/token HTTP/1.1")
            #expect(request.header("content-type") == "application/x-www-form-urlencoded")
            #expect(request.header("authorization") == nil)
            #expect(request.body == "grant_type=refresh_token&refresh_token=a%2Bb%2Fc%3D%26d%2520%20e")
            #expect(grant.scheme == .signInToken)
        }
    }

    @Test(arguments: [400, 401, 403])
    func `the demand for a new credential keeps the session`(status: Int) async throws {
        let body = #"{"error":"invalid_request","detail":{"error_type":"reauthentication_required","message":"x"}}"#
        try await Stage.play([.json(status, body)]) { stage in
            let failure = try await stage.renewalFailure(.junction)

            #expect(failure == .reauthenticationRequired)
        }
    }

    @Test func `a deleted user ends the session, in our words and not in the server's`() async throws {
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
    func `a client error that is no verdict keeps the session`(body: String) async throws {
        try await Stage.play([.json(401, body)]) { stage in
            let why = try #require(try await stage.renewalFailure(.junction)?.unavailability)

            #expect(!why.ambiguous)
            #expect(!why.message.contains("invalid_token"))
        }
    }

    @Test func `without a refresh token only a new credential helps`() async throws {
        try await Stage.play([]) { stage in
            let junction = try stage.junction
            await #expect(throws: RenewalFailure.reauthenticationRequired) {
                try await junction.renew(Sample.identity, with: SessionSecrets(accessToken: SharedSecret(text: "a")))
            }
            #expect(stage.server.requests.isEmpty)
        }
    }
}
