import JunctionSecret
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionProviders

/// A refresh token is kept if the answer to it brings none, also before the user is known.
struct KeptRefreshTokenTests {
    private static let notRotated = OAuthSample.answer(idToken: OAuthSample.idToken(), more: "")
    private static let notRotatedOfNobody = OAuthSample.answer(idToken: nil, more: "")
    private static let refreshTokenAlone = #"{"refresh_token":"refresh-0"}"#

    @Test func `another tool's refresh token is kept where the answer brings none`() async throws {
        try await Stage.play([.tokens(Self.notRotated)]) { stage in
            let grant = try await stage.oauth().exchange(.refreshToken(SharedSecret(text: "old")), expecting: nil)
            #expect(grant.scheme == .refreshToken)
            #expect(grant.refreshToken?.text == "old")
        }
    }

    @Test func `a refresh token that is kept for the next try stays where that brings none`() async throws {
        try await Stage.play([.tokens(Self.refreshTokenAlone), .tokens(Self.notRotated)]) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            _ = await oauth.pollFailure(store: kept.store)
            let grant = try await oauth.poll(OAuthSample.codes, store: kept.store)
            #expect(stage.server.requests[1].fields.contains("refresh_token=refresh-0"))
            #expect(grant.refreshToken?.text == "refresh-0")
        }
    }

    @Test func `nor is it lost from the disk, and it is what is given back`() async throws {
        let steps: [ScriptedServer.Step] = [
            .tokens(Self.refreshTokenAlone), .tokens(Self.notRotatedOfNobody), .answer(503, [], ""),
            .answer(200, [], ""),
        ]
        try await Stage.play(steps) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            _ = await oauth.pollFailure(store: kept.store)
            _ = await oauth.pollFailure(store: kept.store)
            #expect(kept.content?.text.contains("refresh-0") == true)
            await oauth.giveBack(try #require(kept.content))
            #expect(stage.server.requests.last?.fields.first == "token=refresh-0")
        }
    }

    @Test func `kept tokens whose access token has ended go on with their refresh token`() async throws {
        let short = OAuthSample.anonymous.replacing("3600", with: "60")
        try await Stage.play([.tokens(short), .answer(503, [], ""), .tokens()]) { stage in
            let (oauth, kept) = (try stage.oauth(), KeptGrant())
            _ = await oauth.pollFailure(store: kept.store)
            // The userinfo endpoint is there again, and the access token has ended.
            stage.clock.advance(by: .seconds(300))

            #expect(await oauth.pollFailure(store: kept.store) == nil)
            #expect(stage.server.requests.last?.fields.contains("refresh_token=refresh-1") == true)
        }
    }
}
