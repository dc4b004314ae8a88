import Testing

@testable import SandboxCloud

@Suite struct OAuthRotationTests {
    @Test func `within the grace a replaced token returns the same pair again`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.connect()

            let second = try Tokens(try await sandbox.renew(first.refresh))
            let replay = try Tokens(try await sandbox.renew(first.refresh))
            let third = try Tokens(try await sandbox.renew(second.refresh))

            #expect(replay.refresh == second.refresh && replay.access == second.access)
            #expect(third.refresh != second.refresh && third.access != second.access)
            #expect(try await sandbox.whoami(first.access).status == 200)
            let tally = try await sandbox.counters()
            #expect(tally.refreshes == 3 && tally.replays == 1 && tally.familyRevocations == 0)
        }
    }

    @Test func `a token of two generations ago ends the family even within the grace`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.connect()
            let second = try Tokens(try await sandbox.renew(first.refresh))
            let third = try Tokens(try await sandbox.renew(second.refresh))

            #expect(try await sandbox.renew(first.refresh).error == "invalid_grant")

            #expect(try await sandbox.renew(third.refresh).error == "invalid_grant")
            #expect(try await sandbox.whoami(third.access).status == 401)
            #expect(try await sandbox.counters().familyRevocations == 1)
            #expect(try await sandbox.oauthLogins().first?["ending"] == "reused")
        }
    }

    @Test func `after the grace, and without one, a replay ends the family`() async throws {
        try await Sandbox.run { sandbox in
            let late = try await sandbox.connect("late")
            _ = try Tokens(try await sandbox.renew(late.refresh))
            try await sandbox.advance(30)
            #expect(try await sandbox.renew(late.refresh).error == "invalid_grant")

            try await sandbox.setOAuth(["rotation": "single"])
            let harsh = try await sandbox.connect("harsh")
            let second = try Tokens(try await sandbox.renew(harsh.refresh))
            #expect(try await sandbox.renew(harsh.refresh).error == "invalid_grant")
            #expect(try await sandbox.renew(second.refresh).error == "invalid_grant")
            #expect(try await sandbox.counters().familyRevocations == 2)
        }
    }

    @Test func `a setting can keep the successor valid after a reuse`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["rotation": "single", "reuseRevokes": .bool(false)])
            let first = try await sandbox.connect()
            let second = try Tokens(try await sandbox.renew(first.refresh))

            #expect(try await sandbox.renew(first.refresh).error == "invalid_grant")
            #expect(try await sandbox.renew(second.refresh).status == 200)
            #expect(try await sandbox.counters().familyRevocations == 0)
        }
    }

    @Test(arguments: [("none", false), ("same", true)])
    func `without rotation the answer repeats or omits the token`(policy: String, isTold: Bool) async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["rotation": .string(policy)])
            let first = try await sandbox.connect()

            let one = try await sandbox.renew(first.refresh)
            let other = try await sandbox.renew(first.refresh)

            #expect(one.json["refresh_token"]?.string == (isTold ? first.refresh : nil))
            #expect(one.json["access_token"]?.string != other.json["access_token"]?.string)
            #expect(try await sandbox.counters().refreshes == 2)
        }
    }

    @Test func `with a grace, twenty concurrent refreshes return one pair`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.connect()

            let answers = try await sandbox.renewAtOnce(first.refresh)

            #expect(answers.allSatisfy { $0.status == 200 })
            #expect(Set(answers.map { $0.json["refresh_token"]?.string }).count == 1)
            #expect(Set(answers.map { $0.json["access_token"]?.string }).count == 1)
            let tally = try await sandbox.counters()
            #expect(tally.refreshes == 20 && tally.replays == 19)
            #expect(try await sandbox.oauthLogins().first?["refreshes"] == .integer(1))
        }
    }

    @Test func `without a grace, twenty concurrent refreshes end the login`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["rotation": "single"])
            let first = try await sandbox.connect()

            let answers = try await sandbox.renewAtOnce(first.refresh)

            #expect(answers.count { $0.status == 200 } == 1)
            let winner = try #require(answers.first { $0.status == 200 })
            #expect(try await sandbox.renew(try Tokens(winner).refresh).error == "invalid_grant")
            #expect(try await sandbox.counters().familyRevocations == 1)
        }
    }

    @Test func `a scope in a refresh reduces the login permanently and is recorded`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.connect(scope: "openid offline_access write")
            let wide = try await sandbox.renew(first.refresh)
            #expect(try await sandbox.oauthLogins().first?["narrowedBy"] == [])

            let narrow = try await sandbox.renew(try Tokens(wide).refresh, scope: "openid")
            let after = try await sandbox.renew(try Tokens(narrow).refresh)
            let back = try await sandbox.renew(try Tokens(after).refresh, scope: "openid write")

            #expect(wide.json["scope"] == "openid offline_access write")
            #expect(after.json["scope"] == "openid")
            #expect(back.error == "invalid_scope")
            #expect(try await sandbox.oauthLogins().first?["narrowedBy"] == ["scope"])
        }
    }

    @Test func `an answer lost after the commit leaves the token rotated`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.connect()
            _ = try await sandbox.post(
                "/sandbox/faults",
                ["match": "/oauth/token", "grant": "refresh_token", "drop": "after", "times": .integer(1)]
            )

            await #expect(throws: NoAnswer.self) { try await sandbox.renew(first.refresh) }
            let introspected = try await sandbox.post("/sandbox/oauth/introspect", ["token": .string(first.refresh)])
            let replay = try await sandbox.renew(first.refresh)

            #expect(introspected.json["standing"] == "replacedRefreshToken")
            #expect(replay.status == 200)
            #expect(try await sandbox.counters().replays == 1)
        }
    }
}

extension Sandbox {
    fileprivate func renewAtOnce(_ refreshToken: String) async throws -> [Answer] {
        try await withThrowingTaskGroup(of: Answer.self) { group in
            for _ in 0..<20 { group.addTask { try await renew(refreshToken) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
