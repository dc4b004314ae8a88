import Foundation
import Testing

@testable import SandboxCloud

@Suite struct LoginStoryTests {
    private let start = Date(timeIntervalSince1970: 1_000_000)
    private let terms = TokenFamilies.Terms(accessTokenLifetime: 100, grace: 30)

    @Test func `a family tells its rotations, its replays and the reuse that ended it`() throws {
        var families = TokenFamilies()
        let first = families.open(for: "anna", on: terms, now: start)
        _ = families.rotate(first.refreshToken, on: terms, now: start + 10)
        _ = families.rotate(first.refreshToken, on: terms, now: start + 20)
        _ = families.rotate(first.refreshToken, on: terms, now: start + 40)
        _ = families.rotate(first.refreshToken, on: terms, now: start + 50)

        let login = try #require(families.logins(named: { $0 }, now: start + 50).first)

        #expect(login.story.entries.map(\.kind) == [.opened, .rotated, .replayed, .reused, .refused])
        #expect(login.story.entries.map { $0.issued?.number } == [1, 2, 3, nil, nil])
        #expect(login.story.entries.map { $0.shown?.number } == [nil, 1, 1, 1, 1])
        #expect(login.story.entries.map(\.graceEndsAt) == [nil, start + 40, start + 40, nil, nil])
        #expect(!login.isAlive && login.accessTokens == 0)
    }

    @Test func `what befalls a user is told of the logins that live`() throws {
        var families = TokenFamilies()
        _ = families.open(for: "anna", on: terms, now: start)
        families.expireAccessTokens(of: "anna", now: start + 1)
        families.endAll(of: "anna", because: .deleted, now: start + 2)
        families.dropAccessTokens(of: "anna", now: start + 3)
        _ = families.open(for: "anna", on: terms, now: start + 4)
        families.endAll(of: "anna", because: .ended, now: start + 5)

        let logins = families.logins(named: { $0 }, now: start).sorted { $0.openedAt < $1.openedAt }

        #expect(
            logins.map { $0.story.entries.map(\.kind) } == [
                [.opened, .accessTokensExpired, .deleted], [.opened, .ended],
            ]
        )
    }

    @Test func `an OAuth replay gets the token that it got before`() async throws {
        try await Sandbox.run { sandbox in
            _ = try await sandbox.post("/sandbox/oauth/users", ["name": "anna"])
            let token = try #require(
                try await sandbox.post("/sandbox/oauth/users/anna/tokens").json["refreshToken"]?.string
            )
            for _ in 1...2 { _ = try await sandbox.refreshOAuth(token) }
            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(60)])
            _ = try await sandbox.refreshOAuth(token)

            let vendors = try await sandbox.get("/sandbox/overview").json["vendors"]?.elements
            let login = try #require(vendors?.last?["logins"]?.elements?.first)
            let entries = try #require(login["story"]?["entries"]?.elements)

            #expect(entries.map { $0["kind"] } == ["opened", "rotated", "replayed", "reused"])
            #expect(entries[2]["issued"] == entries[1]["issued"])
            #expect(login["isAlive"] == .bool(false))
        }
    }

    @Test func `a long story keeps its beginning, its end and its numbers`() throws {
        var story = LoginStory()
        story.add(.opened, at: start, issued: "fingerprint-0")
        for number in 1...100 {
            story.add(.rotated, at: start, shown: "\(number - 1) fingerprint", issued: "\(number) fingerprint")
        }

        #expect(story.entries.count == LoginStory.longest)
        #expect(story.dropped == 101 - LoginStory.longest)
        #expect(story.entries.first?.kind == .opened)
        #expect(story.entries.last?.shown?.number == 100)
        #expect(story.entries.last?.issued?.number == 101)
    }

    @Test func `a state file without stories is read`() throws {
        var state = CloudState()
        _ = state.junction.families.open(for: "anna", on: terms, now: start)
        let lines = try JSONSerialization.jsonObject(with: JSONEncoder().encode(state))
        let old = try JSONSerialization.data(withJSONObject: withoutStories(lines))

        let read = try JSONDecoder().decode(CloudState.self, from: old)

        #expect(read.junction.families.aliveCount(of: "anna") == 1)
        #expect(read.junction.families.logins(named: { $0 }, now: start).first?.story.entries.isEmpty == true)
    }
}

/// A state as it was written before there were stories.
private func withoutStories(_ value: Any) -> Any {
    if let members = value as? [String: Any] {
        return members.filter { $0.key != "story" && $0.key != "stories" }.mapValues(withoutStories)
    }
    return (value as? [Any])?.map(withoutStories) ?? value
}

extension Sandbox {
    fileprivate func refreshOAuth(_ token: String) async throws -> Answer {
        try await client.send(
            "POST",
            "/oauth/token",
            headers: ["Content-Type": Form.contentType],
            body: "grant_type=refresh_token&client_id=sandbox-public&refresh_token=\(token)"
        )
    }
}
