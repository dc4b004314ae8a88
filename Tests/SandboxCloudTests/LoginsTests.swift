import Foundation
import Testing

@testable import SandboxCloud

@Suite struct LoginsTests {
    @Test func `a refresh replaces both tokens, and the old access token stays valid`() throws {
        let story = Story()
        let first = story.signIn()

        let second = try story.show(first, at: 10).pair()

        #expect(second.refreshToken != first.refreshToken)
        #expect(story.bearer(of: first, at: 99) == "anna")
        #expect(story.bearer(of: first, at: 100) == nil)
        #expect(story.bearer(of: second, at: 109) == "anna")
    }

    @Test func `the grace starts at the first use, whatever the number of replays`() {
        let story = Story()
        let first = story.signIn()
        _ = story.show(first, at: 0)
        _ = story.show(first, at: 20)

        let late = story.show(first, at: 30)

        #expect(late.isReused)
    }

    @Test func `an unused successor keeps the same grace`() throws {
        let story = Story()
        let first = story.signIn()
        let lost = try story.show(first, at: 0).pair()
        _ = story.show(first, at: 5)

        #expect(story.show(lost, at: 29).isReplayed)
        #expect(story.show(lost, at: 30).isReused)
    }

    @Test func `a revoked family does not affect the user's other logins`() throws {
        let story = Story()
        let here = story.signIn()
        let there = story.signIn()
        _ = story.show(here, at: 0)
        #expect(story.show(here, at: 60).isReused)

        #expect(story.bearer(of: there, at: 60) == "anna")
        #expect(story.show(there, at: 60).isRotated)
        #expect(story.logins.all(of: .junction).count { $0.ending == nil } == 1)
    }

    @Test func `the state contains no usable token`() throws {
        let story = Story()
        let tokens = story.signIn()

        let refreshToken = try #require(tokens.refreshToken)
        let saved = String(decoding: try JSONEncoder().encode(story.logins), as: UTF8.self)

        #expect(!saved.contains(tokens.accessToken) && !saved.contains(refreshToken))
        #expect(saved.contains(TokenText.fingerprint(refreshToken)))
    }
}

/// Logins with an access token lifetime of 100 s and a grace of 30 s. Times are seconds since the start.
private final class Story {
    private(set) var logins = Logins()
    private let start = Date(timeIntervalSince1970: 1_000_000)
    private let terms = TokenTerms(lifetime: 100, grace: 30)

    func signIn() -> IssuedTokens {
        let login = Login(vendor: .junction, userId: "anna", openedAt: start)
        return logins.open(login, withRefreshToken: true, on: terms, now: start)
    }

    func show(_ tokens: IssuedTokens, at seconds: Double) -> Logins.Refresh {
        logins.refresh(tokens.refreshToken ?? "", at: .junction, on: terms, now: start + seconds)
    }

    func bearer(of tokens: IssuedTokens, at seconds: Double) -> String? {
        logins.login(ofAccessToken: tokens.accessToken, at: .junction, now: start + seconds)?.userId
    }
}

extension Logins.Refresh {
    fileprivate func pair() throws -> IssuedTokens {
        guard case .granted(let tokens) = self else { throw CancellationError() }
        return tokens
    }

    fileprivate var isRotated: Bool { if case .granted(let tokens) = self { !tokens.isReplay } else { false } }

    fileprivate var isReplayed: Bool { if case .granted(let tokens) = self { tokens.isReplay } else { false } }

    fileprivate var isReused: Bool { if case .reused = self { true } else { false } }
}
