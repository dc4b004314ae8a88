import JunctionSecret
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionProviders

/// The refresh token is kept if an answer has no new one, also before the user is known.
struct KeptRefreshTokenTests {
    private static let notRotated = OAuthSample.answer(idToken: OAuthSample.idToken(), more: "")
    private static let notRotatedOfNobody = OAuthSample.answer(idToken: nil, more: "")
    private static let refreshTokenAlone = #"{"refresh_token":"refresh-0"}"#

    @Test func `another program's refresh token is kept if the answer has no new one`() async throws {
        try await Stage.play([.tokens(Self.notRotated)]) { stage in
            let grant = try await stage.oauth().exchange(.refreshToken(SharedSecret(text: "old")), expecting: nil)
            #expect(grant.scheme == .refreshToken)
            #expect(grant.refreshToken?.text == "old")
        }
    }

    @Test func `the refresh token of a partial grant is kept if the next answer has no new one`() async throws {
        try await Stage.play([.tokens(Self.refreshTokenAlone), .tokens(Self.notRotated)]) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            _ = await oauth.pollFailure(store: kept.store)
            let grant = try await oauth.poll(OAuthSample.codes, store: kept.store)
            #expect(stage.server.requests[1].fields.contains("refresh_token=refresh-0"))
            #expect(grant.refreshToken?.text == "refresh-0")
        }
    }

    @Test func `a kept refresh token is stored in the partial grant and is revoked with it`() async throws {
        let steps: [ScriptedServer.Step] = [
            .tokens(Self.refreshTokenAlone), .tokens(Self.notRotatedOfNobody), .answer(503, [], ""),
            .answer(200, [], ""),
        ]
        try await Stage.play(steps) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            _ = await oauth.pollFailure(store: kept.store)
            _ = await oauth.pollFailure(store: kept.store)
            #expect(kept.content?.text.contains("refresh-0") == true)
            try await oauth.revokePartialGrant(try #require(kept.content))
            #expect(stage.server.requests.last?.fields.first == "token=refresh-0")
        }
    }

    @Test func `a foreign token without a new refresh token leaves the kept one to be revoked`() async throws {
        let foreign = #"{"access_token":"access-1","token_type":"DPoP"}"#
        let steps: [ScriptedServer.Step] = [
            .tokens(Self.refreshTokenAlone), .tokens(foreign), .answer(200, [], ""),
        ]
        try await Stage.play(steps) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            _ = await oauth.pollFailure(store: kept.store)
            _ = await oauth.pollFailure(store: kept.store)
            try await oauth.revokePartialGrant(try #require(kept.content))
            #expect(stage.server.requests.last?.fields.first == "token=refresh-0")
        }
    }

    /// A server need not state the life of its tokens. The daemon then assumes five minutes.
    @Test(arguments: [#","expires_in":60"#, ""])
    func `a partial grant with an expired access token continues with its refresh token`(life: String) async throws {
        let short = OAuthSample.anonymous.replacing(#","expires_in":3600"#, with: life)
        try #require(short != OAuthSample.anonymous)
        try await Stage.play([.tokens(short), .answer(503, [], ""), .tokens()]) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            _ = await oauth.pollFailure(store: kept.store)
            // The userinfo endpoint answers again, and the access token has expired.
            stage.clock.advance(by: .seconds(300))

            #expect(await oauth.pollFailure(store: kept.store) == nil)
            #expect(stage.server.requests.last?.fields.contains("refresh_token=refresh-1") == true)
        }
    }
}
