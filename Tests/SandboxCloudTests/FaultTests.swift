import Foundation
import JunctionTesting
import Testing

@testable import SandboxCloud

@Suite struct FaultTests {
    @Test func `a connection dropped before the commit changes nothing`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.signIn(try await sandbox.user())
            try await sandbox.fault(["match": "/v1/token", "drop": "before", "times": .integer(1)])

            await #expect(throws: NoAnswer.self) { try await sandbox.refresh(first.refresh) }
            let retry = try await sandbox.refresh(first.refresh)

            #expect(retry.status == 200)
            let tally = try await sandbox.counters()
            #expect(tally.refreshes == 1 && tally.replays == 0 && tally.dropped == 1)
        }
    }

    @Test func `a configured answer replaces the original one the given number of times`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.signIn(try await sandbox.user())
            try await sandbox.fault([
                "match": "/v1/token", "times": .integer(2), "latency": .number(0.001), "status": .integer(429),
                "body": "slow down",
                "contentType": "text/plain", "headers": ["Retry-After": "7"],
            ])

            let refused = [try await sandbox.refresh(first.refresh), try await sandbox.refresh(first.refresh)]
            let third = try await sandbox.refresh(first.refresh)

            for answer in refused {
                #expect(answer.status == 429)
                #expect(answer.headers["retry-after"] == "7")
                #expect(answer.headers["content-type"] == "text/plain")
                #expect(String(decoding: answer.body, as: UTF8.self) == "slow down")
            }
            #expect(third.status == 200)
            #expect(try await sandbox.counters().refreshes == 1)
        }
    }

    @Test func `with commit the request is carried out, whatever the answer contains`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.signIn(try await sandbox.user())
            try await sandbox.fault([
                "match": "/v1/token", "times": .integer(1), "status": .integer(502), "commit": .bool(true),
                "body": ["odd": .bool(true)],
            ])

            let answer = try await sandbox.refresh(first.refresh)

            #expect(answer.status == 502 && answer.json == ["odd": .bool(true)])
            #expect(try await sandbox.counters().refreshes == 1)
        }
    }

    @Test func `a fault can be limited to one grant and one method`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            try await sandbox.fault(["match": "/v1/token", "grant": "refresh_token", "status": .integer(503)])
            try await sandbox.fault(["match": "/v2/user", "method": "DELETE", "status": .integer(500)])

            let tokens = try await sandbox.signIn(user)

            #expect(try await sandbox.refresh(tokens.refresh).status == 503)
            #expect(try await sandbox.get("/v2/user/\(user)", headers: Sandbox.team).status == 200)
            #expect(try await sandbox.delete("/v2/user/\(user)", headers: Sandbox.team).status == 500)
            _ = try await sandbox.delete("/sandbox/faults")
            #expect(try await sandbox.refresh(tokens.refresh).status == 200)
        }
    }

    @Test func `a malformed body is not JSON, and an oversized body has its size`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.fault(["match": "/v1/token", "times": .integer(1), "malformed": .bool(true)])
            try await sandbox.fault(["match": "/v1/token", "times": .integer(1), "oversize": .integer(300_000)])

            let malformed = try await sandbox.refresh("x")
            let oversized = try await sandbox.refresh("x")

            #expect(malformed.status == 200)
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(JSONValue.self, from: malformed.body) }
            #expect(oversized.body.count == 300_000)
            #expect(oversized.json["padding"] != nil)
        }
    }

    @Test func `a success can contain a string for a number, and omit the refresh token`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.signIn(try await sandbox.user())
            try await sandbox.fault(["match": "/v1/token", "times": .integer(1), "expiresInAsString": .bool(true)])
            try await sandbox.fault(["match": "/v1/token", "times": .integer(1), "omitRefreshToken": .bool(true)])

            let texted = try await sandbox.refresh(first.refresh)
            let second = try Tokens(texted)
            let omitted = try await sandbox.refresh(second.refresh)

            #expect(texted.json["expires_in"] == "3600")
            #expect(omitted.json["access_token"] != nil && omitted.json["refresh_token"] == nil)
        }
    }

    @Test func `members of a success can be replaced and removed`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.signIn(try await sandbox.user())
            let members: JSONValue = ["expires_in": .null, "access_token": "odd"]
            try await sandbox.fault(["match": "/v1/token", "times": .integer(1), "tokenMembers": members])

            let odd = try await sandbox.refresh(first.refresh)

            #expect(odd.json["expires_in"] == nil)
            #expect(odd.json["access_token"] == "odd")
            #expect(odd.json["refresh_token"] != nil)
        }
    }

    @Test func `a slow body arrives completely, byte by byte`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.fault(["match": "/v2/providers", "slowBody": .number(0.0001)])

            let answer = try await sandbox.get("/v2/providers", headers: Sandbox.team)

            guard case .array(let providers) = answer.json else { return #expect(Bool(false), "no list") }
            #expect(providers.count == 4)
        }
    }

    @Test func `a hanging request is answered when it is released`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.signIn(try await sandbox.user())
            try await sandbox.fault(["match": "/v1/token", "hang": .bool(true), "times": .integer(1)])

            async let hanging = sandbox.refresh(first.refresh)
            let waiting = try await sandbox.get("/sandbox/await?counter=hanging&atLeast=1")
            let released = try await sandbox.post("/sandbox/release")

            #expect(waiting.json["hanging"] == .integer(1))
            #expect(released.json["released"] == .integer(1))
            #expect(try await hanging.status == 200)
            #expect(try await sandbox.counters().hanging == 0)
        }
    }

    @Test func `a hanging request of a disconnected client is never carried out`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            try await sandbox.fault(["match": "/v2/user", "method": "DELETE", "hang": .bool(true)])

            var connection: TestSocket? = try sandbox.client.start(
                "DELETE",
                "/v2/user/\(user)",
                headers: Sandbox.team
            )
            _ = try await sandbox.get("/sandbox/await?counter=hanging&atLeast=1")
            _ = connection.take()
            _ = try await sandbox.get("/sandbox/await?counter=dropped&atLeast=1")
            let released = try await sandbox.post("/sandbox/release")

            #expect(released.json["released"] == .integer(0))
            #expect(try await sandbox.get("/v2/user/\(user)", headers: Sandbox.team).status == 200)
        }
    }

    @Test(
        arguments: [
            ["match": "/v1/token", "drops": "after"],
            ["drop": "after"],
            ["match": "v1/token"],
            ["match": "/v1/token", "drop": "sometimes"],
            ["match": "/v1/token", "times": .integer(0)],
            ["match": "/v1/token", "status": .integer(9)],
            ["match": "/v1/token", "latency": .integer(-1)],
            ["match": "/v1/token", "oversize": .integer(1 << 40)],
            ["match": "/v1/token", "headers": ["no good": "x"]],
        ] as [JSONValue]
    )
    func `a fault that can never take effect is refused with a reason`(wish: JSONValue) async throws {
        try await Sandbox.run { sandbox in
            let answer = try await sandbox.post("/sandbox/faults", wish)

            #expect(answer.status == 400)
            #expect(answer.json["error"]?.string?.isEmpty == false)
            #expect(try await sandbox.get("/sandbox/faults").json == ["faults": []])
        }
    }
}

extension Sandbox {
    fileprivate func fault(_ wish: JSONValue) async throws {
        try #require(try await post("/sandbox/faults", wish).status == 201)
    }
}
