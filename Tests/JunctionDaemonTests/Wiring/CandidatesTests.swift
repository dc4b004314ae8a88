import Testing

@testable import JunctionDaemon

/// The credentials that the service manager has passed, one at a time.
@Suite final class CandidatesTests {
    private var candidates = Candidates()
    private let token = Candidates.Candidate(name: "signInToken", digest: "token")
    private let code = Candidates.Candidate(name: "linkCode", digest: "code")

    private func next() -> Candidates.Attempt? { candidates.next() }

    private func states(_ candidates: Candidates) -> [String: Candidates.Progress] {
        Dictionary(uniqueKeysWithValues: candidates.all.map { ($0.digest, $0.progress) })
    }

    @Test func `the next one is taken up when the one before it is decided, and not before`() throws {
        candidates.take([token, code])
        let first = try #require(next())
        #expect((first.name, first.digest) == ("signInToken", "token"))
        for progress in [Candidates.Progress.lookedUp, .trying, .waiting] {
            candidates.move(first, to: progress, nil)
            #expect(next() == nil)
        }
        candidates.move(first, to: .decided, .useless("refused"))

        let second = try #require(next())
        #expect(second.name == "linkCode")
        #expect(!candidates.isCurrent(first))
        candidates.move(first, to: .trying, nil)
        candidates.move(second, to: .decided, .hasSignedIn)
        #expect(next() == nil)
        #expect(candidates.all.map(\.situation) == [.useless("refused"), .hasSignedIn])
    }

    @Test func `another one in its place counts as new, unless it is being tried`() throws {
        let other = Candidates.Candidate(name: "signInToken", digest: "other")
        candidates.take([token])
        let first = try #require(next())
        candidates.move(first, to: .trying, nil)
        candidates.take([other])
        #expect(states(candidates) == ["token": .trying])
        #expect(candidates.isCurrent(first))

        candidates.move(first, to: .waiting, nil)
        candidates.take([token])
        #expect(candidates.isCurrent(first))
        candidates.take([other])

        #expect(states(candidates) == ["other": .fresh])
        #expect(!candidates.isCurrent(first))
        #expect(next()?.digest == "other")
    }

    @Test func `what is held back or set aside lets the next one pass, and is looked at again`() throws {
        candidates.take([token, code])
        candidates.move(try #require(next()), to: .setAside, .unknowable("unreadable"))
        candidates.move(try #require(next()), to: .heldBack, nil)
        #expect(next() == nil)

        candidates.renew(.heldBack)
        #expect(next()?.digest == "code")
        candidates.renew(.setAside)
        #expect(next() == nil)
        #expect(states(candidates) == ["token": .fresh, "code": .lookedUp])
    }

    @Test func `a sign-out ends all that are known or in place, and names those that might have signed in`()
        throws
    {
        candidates.take([token, code])
        candidates.move(try #require(next()), to: .decided, .useless("refused"))
        let second = try #require(next())
        candidates.move(second, to: .trying, nil)
        let fresh = Candidates.Candidate(name: "linkCode", digest: "fresh")

        let ended = candidates.end(with: [token, fresh])

        #expect(ended.map(\.digest) == ["code", "fresh"])
        #expect(states(candidates) == ["token": .decided, "fresh": .decided])
        #expect(!candidates.isCurrent(second))
        #expect(next() == nil)
        candidates.take([token, fresh])
        #expect(next() == nil)
    }

    @Test func `one that is not in its place any more is new when it comes back`() throws {
        candidates.take([token])
        let first = try #require(next())

        candidates.remove(first)

        #expect(!candidates.isCurrent(first))
        candidates.take([token])
        #expect(next()?.digest == "token")
    }
}
