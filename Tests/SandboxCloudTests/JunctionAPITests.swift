import Foundation
import Testing

@testable import SandboxCloud

@Suite struct JunctionAPITests {
    @Test func `a user is created once, found by id and by name, and changed`() async throws {
        try await Sandbox.run { sandbox in
            let fields: JSONValue = ["client_user_id": "anna", "fallback_time_zone": "Europe/Vienna"]

            let created = try await sandbox.post("/v2/user", fields, headers: Sandbox.team)
            let id = try #require(created.json["user_id"]?.string)
            let again = try await sandbox.post("/v2/user", fields, headers: Sandbox.team)
            let change = try await sandbox.client.send(
                "PATCH",
                "/v2/user/\(id)",
                headers: Sandbox.team,
                body: #"{"client_user_id":"annabel"}"#
            )
            let found = try await sandbox.get("/v2/user/resolve/annabel", headers: Sandbox.team)

            #expect(created.status == 200)
            #expect(created.json["team_id"] == .string(Team.example.id))
            #expect(created.json["fallback_time_zone"]?["id"] == "Europe/Vienna")
            #expect(again.status == 400)
            #expect(again.errorType == "INVALID_REQUEST")
            #expect(again.json["detail"]?["error_message"] == "Client user id already exists.")
            #expect(again.json["detail"]?["user_id"] == .string(id))
            #expect(change.status == 204)
            #expect(found.json["user_id"] == .string(id))
        }
    }

    @Test func `an unexpected body is answered 422`() async throws {
        try await Sandbox.run { sandbox in
            let nameless = try await sandbox.post("/v2/user", [:], headers: Sandbox.team)
            let broken = try await sandbox.client.send("POST", "/v2/user", headers: Sandbox.team, body: "{")

            #expect(nameless.status == 422)
            #expect(broken.status == 422)
        }
    }

    @Test func `a team sees its own users only`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            let stranger = ["x-vital-api-key": "pk_eu_other"]

            #expect(try await sandbox.get("/v2/user/\(user)", headers: stranger).status == 404)
            #expect(try await sandbox.get("/v2/user/resolve/anna", headers: stranger).status == 404)
            #expect(try await sandbox.get("/v2/user/\(user.uppercased())", headers: Sandbox.team).status == 200)
        }
    }

    @Test func `a user is found by an id with characters that a path must escape`() async throws {
        try await Sandbox.run { sandbox in
            let created = try await sandbox.post(
                "/v2/user",
                ["client_user_id": "anna@example.com/1"],
                headers: Sandbox.team
            )

            let found = try await sandbox.get("/v2/user/resolve/anna%40example.com%2F1", headers: Sandbox.team)

            #expect(found.status == 200)
            #expect(found.json["user_id"] == created.json["user_id"])
        }
    }

    @Test func `a deleted user is not found until the deletion is undone`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()

            let deleted = try await sandbox.delete("/v2/user/\(user)", headers: Sandbox.team)
            let gone = try await sandbox.get("/v2/user/\(user)", headers: Sandbox.team)
            let token = try await sandbox.post("/v2/user/\(user)/sign_in_token", headers: Sandbox.team)
            let both = try await sandbox.post(
                "/v2/user/undo_delete?user_id=\(user)&client_user_id=anna",
                headers: Sandbox.team
            )
            let undone = try await sandbox.post("/v2/user/undo_delete?client_user_id=anna", headers: Sandbox.team)
            let back = try await sandbox.get("/v2/user/\(user)", headers: Sandbox.team)

            #expect(deleted.json == ["success": .bool(true)])
            #expect(gone.status == 404)
            #expect(token.status == 404)
            #expect(both.status == 400)
            #expect(undone.json == ["success": .bool(true)])
            #expect(back.status == 200)
        }
    }

    @Test func `a backend gets a Sign-In Token in an envelope`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()

            let answer = try await sandbox.post("/v2/user/\(user)/sign_in_token", headers: Sandbox.team)

            #expect(answer.json["user_id"] == .string(user))
            let token = try #require(answer.json["sign_in_token"]?.string)
            #expect(try await sandbox.exchange(token).status == 200)
        }
    }

    @Test func `a missing or invalid credential is answered 401`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            let credentials = [
                [:], ["x-vital-api-key": "rk_us_1"], ["Authorization": "Bearer at_unknown"],
                ["Authorization": "Basic eA=="],
            ]

            for headers in credentials {
                let answer = try await sandbox.get("/v2/user/\(user)", headers: headers)
                #expect(answer.status == 401)
                #expect(answer.errorType == "UNAUTHORIZED")
            }
        }
    }

    @Test func `a signed-in user can access its own resources`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            let own = Sandbox.bearer(try await sandbox.signIn(user))

            let sleep = try await sandbox.get("/v2/summary/sleep/\(user)", headers: own)
            let pulse = try await sandbox.get("/v2/timeseries/\(user)/heartrate", headers: own)
            let refresh = try await sandbox.post("/v2/user/refresh/\(user)", headers: own)
            let link = try await sandbox.post("/v2/link/token", ["user_id": .string(user)], headers: own)
            let all = try await sandbox.get("/v2/providers", headers: own)
            let removal = try await sandbox.delete("/v2/user/\(user)/oura", headers: own)
            let second = try await sandbox.delete("/v2/user/\(user)/oura", headers: own)
            let left = try await sandbox.get("/v2/user/providers/\(user)", headers: own)

            guard case .array(let nights) = sleep.json["sleep"] else { return #expect(Bool(false), "no sleep") }
            #expect(nights.first?["user_id"] == .string(user))
            guard case .array(let samples) = pulse.json else { return #expect(Bool(false), "no samples") }
            #expect(samples.count == 3)
            #expect(refresh.json["refreshed_sources"] == ["oura"])
            #expect(link.json["link_token"]?.string?.hasPrefix("link_") == true)
            #expect(all.status == 200)
            #expect(removal.status == 200 && second.status == 404)
            #expect(left.json == ["providers": []])
        }
    }

    @Test func `a signed-in user cannot access resources of other users or of the team`() async throws {
        try await Sandbox.run { sandbox in
            let anna = try await sandbox.user("anna")
            let bert = try await sandbox.user("bert")
            let own = Sandbox.bearer(try await sandbox.signIn(anna))

            let answers = [
                try await sandbox.get("/v2/user/\(bert)", headers: own),
                try await sandbox.get("/v2/user/providers/\(bert)", headers: own),
                try await sandbox.get("/v2/summary/sleep/\(bert)", headers: own),
                try await sandbox.get("/v2/timeseries/\(bert)/heartrate", headers: own),
                try await sandbox.post("/v2/link/token", ["user_id": .string(bert)], headers: own),
                try await sandbox.get("/v2/user/resolve/anna", headers: own),
                try await sandbox.post("/v2/user", ["client_user_id": "carl"], headers: own),
                try await sandbox.post("/v2/user/\(anna)/sign_in_token", headers: own),
                try await sandbox.post("/v2/link/code/create?user_id=\(anna)", headers: own),
                try await sandbox.post("/v2/user/undo_delete?user_id=\(anna)", headers: own),
                try await sandbox.delete("/v2/user/\(anna)", headers: own),
            ]

            for answer in answers {
                #expect(answer.status == 403)
                #expect(answer.errorType == "FORBIDDEN")
            }
        }
    }

    @Test func `an expired or revoked access token is answered 401, and a refresh replaces it`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            let path = "/v2/user/\(user)"
            let first = try await sandbox.signIn(user)

            _ = try await sandbox.post("/sandbox/users/\(user)/expire-access-tokens")
            #expect(try await sandbox.get(path, headers: Sandbox.bearer(first)).status == 401)
            let second = try Tokens(try await sandbox.refresh(first.refresh))
            #expect(try await sandbox.get(path, headers: Sandbox.bearer(second)).status == 200)

            _ = try await sandbox.post("/sandbox/users/\(user)/revoke-access-tokens")
            #expect(try await sandbox.get(path, headers: Sandbox.bearer(second)).status == 401)
            let third = try Tokens(try await sandbox.refresh(second.refresh))
            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(3600)])
            #expect(try await sandbox.get(path, headers: Sandbox.bearer(third)).status == 401)
        }
    }

    @Test func `a link code is exchanged once, without another credential`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            let created = try await sandbox.post("/v2/link/code/create?user_id=\(user)", headers: Sandbox.team)
            let code = try #require(created.json["code"]?.string)
            let path = "/v2/link/code/exchange?code=\(code)&grant_type=sign_in_token"

            let enrolled = try await sandbox.post(path)
            let again = try await sandbox.post(path)

            #expect(code.wholeMatch(of: /(sk|pk)(eu|us)[0-9a-f]{8}/) != nil)
            #expect(created.json["exchange_url"]?.string?.hasSuffix(path) == true)
            #expect(enrolled.json["user_id"] == .string(user))
            #expect(enrolled.json["team"]?["name"]?.string != nil)
            let token = try #require(enrolled.json["sign_in_token"]?.string)
            #expect(try await sandbox.exchange(token).status == 200)
            #expect(again.status == 400)
        }
    }

    @Test func `an expired link code and a wrong request for one are refused`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            let short = try await sandbox.post("/sandbox/users/\(user)/link-code", ["expiresIn": .integer(60)])
            let dated = try await sandbox.post(
                "/v2/link/code/create?user_id=\(user)&expires_at=2001-01-01T00:00:00Z",
                headers: Sandbox.team
            )
            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(61)])

            for created in [short, dated] {
                let code = try #require(created.json["code"]?.string)
                let path = "/v2/link/code/exchange?code=\(code)"
                #expect(try await sandbox.post(path).status == 400)
                #expect(try await sandbox.post(path + "&grant_type=sign_in_token").status == 400)
            }
            let undated = try await sandbox.post(
                "/v2/link/code/create?user_id=\(user)&expires_at=tomorrow",
                headers: Sandbox.team
            )
            #expect(undated.status == 422)
        }
    }
}
