import Foundation
import Testing

@testable import SandboxCloud

@Suite struct DrivingTests {
    @Test func `changed settings apply to the next token`() async throws {
        try await Sandbox.run {
            $0.settings.general.accessTokenLifetime = 60
        } _: { sandbox in
            let user = try await sandbox.user()
            let before = try await sandbox.exchange(try await sandbox.signInToken(of: user))

            let settings = try await sandbox.post("/sandbox/settings", ["accessTokenLifetime": .integer(5)])
            let after = try await sandbox.exchange(try await sandbox.signInToken(of: user))

            #expect(before.json["expires_in"] == .integer(60))
            #expect(after.json["expires_in"] == .integer(5))
            #expect(settings.json["rotationGrace"] == .integer(30))
            #expect(try await sandbox.post("/sandbox/settings", ["rotationGrace": .integer(-1)]).status == 400)
        }
    }

    @Test func `the request log shows the request without secrets`() async throws {
        try await Sandbox.run { sandbox in
            let tokens = try await sandbox.signIn(try await sandbox.user())
            _ = try await sandbox.get("/v2/providers", headers: Sandbox.bearer(tokens))
            _ = try await sandbox.refresh(tokens.refresh)

            let all = try await sandbox.get("/sandbox/requests")
            let tokenOnly = try await sandbox.get("/sandbox/requests?path=/v1/token")

            guard case .array(let notes) = tokenOnly.json["requests"] else { return #expect(Bool(false), "no list") }
            #expect(notes.count == 2)
            #expect(notes.last?["contentType"] == .string(Form.contentType))
            #expect(
                notes.last?["form"] == [
                    ["name": "grant_type", "value": "refresh_token"],
                    [
                        "name": "refresh_token",
                        "value": .string("sha256:" + TokenText.fingerprint(tokens.refresh)),
                    ],
                ]
            )
            guard case .array(let both) = all.json["requests"], both.count > 2 else {
                return #expect(Bool(false), "no list")
            }
            #expect(both[both.count - 2]["bodyBytes"] == .integer(0))
            #expect(both.last?["bodyBytes"] != .integer(0))
            let text = String(decoding: all.body, as: UTF8.self)
            #expect(text.contains("authorization"))
            #expect(!text.contains(tokens.refresh) && !text.contains(tokens.access))
        }
    }

    @Test func `the counters contain the largest number of concurrent token requests`() async throws {
        try await Sandbox.run { sandbox in
            _ = try await sandbox.post("/sandbox/faults", ["match": "/v1/token", "hang": .bool(true)])

            async let one = sandbox.refresh("x")
            async let other = sandbox.refresh("y")
            _ = try await sandbox.get("/sandbox/await?counter=hanging&atLeast=2")
            _ = try await sandbox.post("/sandbox/release")
            _ = try await (one, other)

            let tally = try await sandbox.counters()
            #expect(tally.mostConcurrentTokenRequests == 2)
            #expect(tally.tokenRequests == 2)
            #expect(tally.endpoints["POST /v1/token"]?.answers == ["401": 2])
        }
    }

    @Test func `a reset removes everything`() async throws {
        try await Sandbox.run { sandbox in
            let tokens = try await sandbox.signIn(try await sandbox.user())
            _ = try await sandbox.post("/sandbox/settings", ["accessTokenLifetime": .integer(5)])
            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(5_000_000)])
            _ = try await sandbox.post("/sandbox/faults", ["match": "/", "status": .integer(500)])

            _ = try await sandbox.post("/sandbox/reset")

            #expect(try await sandbox.get("/sandbox/users").json == ["users": []])
            #expect(try await sandbox.get("/sandbox/settings").json["accessTokenLifetime"] == nil)
            #expect(try await sandbox.counters().requests == 0)
            #expect(try await sandbox.get("/sandbox/requests").json == ["requests": []])
            #expect(try await sandbox.refresh(tokens.refresh).errorType == "reauthentication_required")
        }
    }

    @Test func `the clock can be advanced and read`() async throws {
        try await Sandbox.run { sandbox in
            let before = try #require(try await sandbox.get("/sandbox/clock").json["now"]?.string)
            let after = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(86_400)])

            let parsed = try Date(before, strategy: .iso8601)
            let now = try Date(try #require(after.json["now"]?.string), strategy: .iso8601)
            #expect(now.timeIntervalSince(parsed) >= 86_400)
        }
    }

    @Test func `users can be created in any team, each name once`() async throws {
        try await Sandbox.run { sandbox in
            let wish: JSONValue = ["clientUserId": "anna", "apiKey": "pk_eu_shop"]

            let made = try await sandbox.post("/sandbox/users", wish)
            let again = try await sandbox.post("/sandbox/users", wish)
            let keyless = try await sandbox.post("/sandbox/users", ["apiKey": "shop"])
            let nameless = try await sandbox.post("/sandbox/users")

            let team = made.json["junction"]?["team"]
            #expect(made.status == 201)
            #expect(team?["environment"] == "production" && team?["region"] == "eu")
            #expect(again.status == 409)
            #expect(keyless.status == 400)
            #expect(nameless.status == 201)
            #expect(try await sandbox.post("/sandbox/users/nobody/delete").status == 404)
        }
    }

    @Test func `the answer to HEAD has a length but no body`() async throws {
        try await Sandbox.run { sandbox in
            let answer = try await sandbox.client.send("HEAD", "/")

            #expect(answer.status == 200)
            #expect(answer.headers["content-length"] != "0")
            #expect(answer.body.isEmpty)
        }
    }

    @Test func `an unknown path is answered 404 in JSON`() async throws {
        try await Sandbox.run { sandbox in
            let answer = try await sandbox.get("/v3/user")

            #expect(answer.status == 404)
            #expect(answer.errorType == "NOT_FOUND")
            #expect(try await sandbox.get("/sandbox/await?counter=luck").status == 400)
        }
    }
}
