import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct SocialRenewTests {
    private static let anna = Identity(userId: "anna")
    private static let secrets = SessionSecrets(accessToken: SharedSecret(text: "access-secret"))

    @Test func `a renewal sends no display name, so a changed one stays`() async throws {
        try await Stage.play([.social()]) { stage in
            let grant = try await stage.social.renew(Self.anna, with: Self.secrets, using: .renew)

            let request = try #require(stage.server.requests.first)
            #expect(request.line == "POST /api/v5/sessions HTTP/1.1")
            #expect(request.header("authorization") == nil)
            #expect(
                request.body == #"{"userId":"anna","deviceId":"device-1","#
                    + #""deviceInfo":{"kind":"linux","model":"junctiond","sdkVersion":"0.0"}}"#
            )
            #expect(grant.identity == Self.anna)
            #expect(grant.scheme == .userLogin)
        }
    }

    @Test func `a renewal and a call send the user id as in the login`() async throws {
        try await Stage.play([.social(users: #"[{"userId":"Anna.B"}]"#)]) { stage in
            let social = try stage.social
            let anna = Identity(userId: "Anna.B")
            let grant = try await social.renew(anna, with: Self.secrets, using: .renew)
            let call = try social.validate(ApiRequest(method: "GET", path: "/api/v3/users/Anna.B"), for: anna)

            #expect(stage.server.requests.first?.body.hasPrefix(#"{"userId":"Anna.B","#) == true)
            #expect(grant.identity.userId == "Anna.B")
            #expect(call.path == "/api/v3/users/Anna.B")
        }
    }

    @Test func `a renewal sends a handler's auth token`() async throws {
        try await Stage.play([.social()]) { stage in
            let answer = RenewalAnswer.authToken(SharedSecret(text: "tok-2"))
            _ = try await stage.social.renew(Self.anna, with: Self.secrets, using: answer)

            #expect(stage.server.requests.first?.body.contains(#""authToken":"tok-2""#) == true)
        }
    }

    @Test func `a sign-out ends the session at the provider with its own token`() async throws {
        try await Stage.play([.json(200, #"{"success":true}"#)]) { stage in
            try await stage.social.revoke(Self.anna, with: Self.secrets)

            let request = try #require(stage.server.requests.first)
            #expect(request.line == "DELETE /api/v4/sessions HTTP/1.1")
            #expect(request.header("authorization") == "Bearer access-secret")
            #expect(request.body.isEmpty)
        }
    }

    @Test func `too many calls do not complete a sign-out`() async throws {
        let busy = ScriptedServer.Step.json(400, #"{"status":"error","code":400311,"message":"x"}"#)
        try await Stage.play([busy]) { stage in
            let why = try await stage.revocationFailure(.social)

            #expect(why?.message.contains("400311") == true)
        }
    }

    @Test func `a sign-out without a token sends nothing`() async throws {
        try await Stage.play([]) { stage in
            try await stage.social.revoke(Self.anna, with: SessionSecrets())

            #expect(stage.server.requests.isEmpty)
        }
    }
}
