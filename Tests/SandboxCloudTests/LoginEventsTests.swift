import Foundation
import Testing

@testable import SandboxCloud

@Suite struct LoginEventsTests {
    private let start = Date(timeIntervalSince1970: 1_000_000)
    private let terms = TokenTerms(lifetime: 100, grace: 30)
    private let anna: User

    init() {
        anna = User(vendor: .junction, userId: "anna", name: "anna", createdAt: start)
    }

    @Test func `a login records its rotations, its replays and the reuse that ended it`() throws {
        var logins = Logins()
        let first = open(&logins, at: 0)
        for time in [10.0, 20, 40, 50] {
            _ = logins.refresh(try #require(first.refreshToken), at: .junction, on: terms, now: start + time)
        }

        let login = try #require(logins.all(of: .junction).first)

        #expect(login.story.entries.map(\.kind) == [.opened, .rotated, .replayed, .reused, .refused])
        #expect(login.story.entries.map { $0.issued?.number } == [1, 2, 3, nil, nil])
        #expect(login.story.entries.map { $0.shown?.number } == [nil, 1, 1, 1, 1])
        #expect(login.story.entries.map(\.graceEndsAt) == [nil, start + 40, start + 40, nil, nil])
        #expect(login.ending == .reused && logins.accessTokenEnds(now: start).isEmpty)
    }

    @Test func `an event of a user is recorded for each active login`() throws {
        var logins = Logins()
        _ = open(&logins, at: 0)
        logins.expireAccessTokens(of: anna, now: start + 1)
        logins.endAll(of: anna, because: .deleted, now: start + 2)
        logins.dropAccessTokens(of: anna, now: start + 3)
        _ = open(&logins, at: 4)
        logins.endAll(of: anna, because: .ended, now: start + 5)

        #expect(
            logins.all(of: .junction).map { $0.story.entries.map(\.kind) } == [
                [.opened, .accessTokensExpired, .deleted], [.opened, .ended],
            ]
        )
    }

    private func open(_ logins: inout Logins, at seconds: Double) -> IssuedTokens {
        let now = start + seconds
        let login = Login(vendor: .junction, userId: anna.userId, openedAt: now)
        return logins.open(login, withRefreshToken: true, on: terms, now: now)
    }

    @Test func `an OAuth replay returns the same token again`() async throws {
        try await Sandbox.run { sandbox in
            _ = try await sandbox.post("/sandbox/oauth/users", ["name": "anna"])
            let token = try #require(
                try await sandbox.post("/sandbox/oauth/users/anna/tokens").json["refreshToken"]?.string
            )
            for _ in 1...2 { _ = try await sandbox.refreshOAuth(token) }
            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(60)])
            _ = try await sandbox.refreshOAuth(token)

            let login = try #require(try await sandbox.get("/sandbox/overview").json["logins"]?.elements?.first)
            let entries = try #require(login["story"]?["entries"]?.elements)

            #expect(entries.map { $0["kind"] } == ["opened", "rotated", "replayed", "reused"])
            #expect(entries[2]["issued"] == entries[1]["issued"])
            #expect(login["isAlive"] == .bool(false))
        }
    }

    @Test func `a long event log keeps its start, its end and its numbers`() throws {
        var story = LoginEvents()
        story.add(.opened, at: start, issued: "fingerprint-0")
        for number in 1...100 {
            story.add(.rotated, at: start, shown: "\(number - 1) fingerprint", issued: "\(number) fingerprint")
        }

        #expect(story.entries.count == LoginEvents.longest)
        #expect(story.dropped == 101 - LoginEvents.longest)
        #expect(story.entries.first?.kind == .opened)
        #expect(story.entries.last?.shown?.number == 100)
        #expect(story.entries.last?.issued?.number == 101)
    }
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
