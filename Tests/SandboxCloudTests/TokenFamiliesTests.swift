import Foundation
import Testing

@testable import SandboxCloud

@Suite struct TokenFamiliesTests {
    @Test func `a refresh replaces both tokens and keeps the old access token good`() throws {
        let story = Story()
        let first = story.signIn()

        let second = try story.show(first, at: 10).pair()

        #expect(second.refreshToken != first.refreshToken)
        #expect(story.bearer(of: first, at: 99) == "anna")
        #expect(story.bearer(of: first, at: 100) == nil)
        #expect(story.bearer(of: second, at: 109) == "anna")
    }

    @Test func `a replaced token is good again within the grace, and its successor lives`() throws {
        let story = Story()
        let first = story.signIn()
        _ = story.show(first, at: 0)

        let replay = story.show(first, at: 29)

        #expect(replay.isReplayed)
        #expect(story.show(try replay.pair(), at: 1000).isRotated)
    }

    @Test func `the grace runs from the first use, however often the token is replayed`() {
        let story = Story()
        let first = story.signIn()
        _ = story.show(first, at: 0)
        _ = story.show(first, at: 20)

        let late = story.show(first, at: 30)

        #expect(late == .reused)
    }

    @Test func `the successor nobody heard of has the same grace, and no more`() throws {
        let story = Story()
        let first = story.signIn()
        let lost = try story.show(first, at: 0).pair()
        _ = story.show(first, at: 5)

        #expect(story.show(lost, at: 29).isReplayed)
        #expect(story.show(lost, at: 30) == .reused)
    }

    @Test func `once a successor is used, an older token ends the family even within the grace`() throws {
        let story = Story()
        let first = story.signIn()
        let second = try story.show(first, at: 0).pair()
        let third = try story.show(second, at: 1).pair()

        #expect(story.show(first, at: 2) == .reused)
        #expect(story.show(third, at: 3) == .ended)
        #expect(story.bearer(of: third, at: 3) == nil)
    }

    @Test func `a revoked family leaves the user's other sign-ins alone`() throws {
        let story = Story()
        let here = story.signIn()
        let there = story.signIn()
        _ = story.show(here, at: 0)
        #expect(story.show(here, at: 60) == .reused)

        #expect(story.bearer(of: there, at: 60) == "anna")
        #expect(story.show(there, at: 60).isRotated)
        #expect(story.families.aliveCount(of: "anna") == 1)
    }

    @Test func `no token is kept in a form that could be used`() throws {
        let story = Story()
        let tokens = story.signIn()

        let saved = String(decoding: try JSONEncoder().encode(story.families), as: UTF8.self)

        #expect(!saved.contains(tokens.accessToken) && !saved.contains(tokens.refreshToken))
        #expect(saved.contains(TokenText.fingerprint(tokens.refreshToken)))
    }
}

/// Families with an access token life of 100 s and a grace of 30 s, told in seconds since the start.
private final class Story {
    private(set) var families = TokenFamilies()
    private let start = Date(timeIntervalSince1970: 1_000_000)
    private let terms = TokenFamilies.Terms(accessTokenLifetime: 100, grace: 30)

    func signIn() -> IssuedTokens {
        families.open(for: "anna", on: terms, now: start)
    }

    func show(_ tokens: IssuedTokens, at seconds: Double) -> TokenFamilies.Rotation {
        families.rotate(tokens.refreshToken, on: terms, now: start + seconds)
    }

    func bearer(of tokens: IssuedTokens, at seconds: Double) -> String? {
        families.bearer(of: tokens.accessToken, now: start + seconds)
    }
}

extension TokenFamilies.Rotation {
    fileprivate func pair() throws -> IssuedTokens {
        let issued: IssuedTokens? =
            switch self {
            case .rotated(let tokens), .replayed(let tokens): tokens
            case .reused, .ended: nil
            }
        return try #require(issued)
    }

    fileprivate var isRotated: Bool { if case .rotated = self { true } else { false } }

    fileprivate var isReplayed: Bool { if case .replayed = self { true } else { false } }
}
