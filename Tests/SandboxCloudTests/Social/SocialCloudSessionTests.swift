import Foundation
import Testing

@testable import SandboxCloud

@Suite struct SocialCloudSessionTests {
    @Test func `a login opens a session of thirty days with access to the API`() async throws {
        try await Sandbox.run { sandbox in
            let answer = try await sandbox.logIn(displayName: "Anna")

            let token = try #require(answer.json["accessToken"]?.string)
            let issuedAt = try time(answer.json["issuedAt"])
            let expiresAt = try time(answer.json["expiresAt"])
            #expect(abs(issuedAt.timeIntervalSinceNow) < 60)
            #expect(abs(expiresAt.timeIntervalSince(issuedAt) - 30 * 86_400) < 0.01)
            #expect(answer.user?["displayName"] == "Anna")
            #expect(answer.user?["isGlobalBanned"] == .bool(false))
            let seen = try await sandbox.seeAnna(token)
            #expect(seen.status == 200)
            #expect(seen.user?["userId"] == "anna")
        }
    }

    @Test func `a lifetime setting shortens a session`() async throws {
        try await Sandbox.run {
            $0.settings.general.accessTokenLifetime = 5
        } _: { sandbox in
            let answer = try await sandbox.logIn()

            let issuedAt = try time(answer.json["issuedAt"])
            let expiresAt = try time(answer.json["expiresAt"])
            #expect(abs(expiresAt.timeIntervalSince(issuedAt) - 5) < 0.01)
        }
    }

    @Test func `times in answers follow the Date header, and the session ends on the sandbox's clock`() async throws {
        try await Sandbox.run { sandbox in
            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(86_400)])
            let answer = try await sandbox.logIn()
            let token = try #require(answer.json["accessToken"]?.string)
            #expect(abs(try time(answer.json["issuedAt"]).timeIntervalSinceNow) < 60)
            #expect(try await sandbox.seeAnna(token).status == 200)

            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(30 * 86_400)])

            let late = try await sandbox.seeAnna(token)
            #expect(late.status == 401 && late.code == 400_100)
        }
    }

    @Test func `sign-ins and renewals use the same call and are counted separately`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.socialToken()
            let second = try await sandbox.socialToken()

            #expect(first != second)
            #expect(try await sandbox.seeAnna(first).status == 200)
            let tally = try await sandbox.counters()
            #expect(tally.tokenRequests == 2 && tally.exchanges == 1 && tally.refreshes == 1)
            #expect(tally.grants["session"] == ["granted": 2])
        }
    }

    @Test func `a renewal without a name keeps the name`() async throws {
        try await Sandbox.run { sandbox in
            _ = try await sandbox.logIn(displayName: "Anna")

            #expect(try await sandbox.logIn().user?["displayName"] == "Anna")
        }
    }

    @Test func `a device has one user at a time, and user ids are case-sensitive`() async throws {
        try await Sandbox.run { sandbox in
            let here = try await sandbox.socialToken("anna", device: "device-1")
            let elsewhere = try await sandbox.socialToken("anna", device: "device-2")
            _ = try await sandbox.socialToken("Anna", device: "device-1")

            #expect(try await sandbox.seeAnna(here).status == 401)
            #expect(try await sandbox.seeAnna(elsewhere).status == 200)
        }
    }

    @Test func `a sign-out ends only the user's tokens on the device`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.socialToken()
            let second = try await sandbox.socialToken()
            let elsewhere = try await sandbox.socialToken(device: "device-2")

            let answer = try await sandbox.delete("/api/v4/sessions", headers: Sandbox.bearer(second))

            #expect(answer.json == ["success": .bool(true)])
            #expect(try await sandbox.seeAnna(first).status == 401)
            #expect(try await sandbox.seeAnna(elsewhere).status == 200)
            #expect(try await sandbox.delete("/api/v4/sessions", headers: Sandbox.bearer(second)).status == 401)
        }
    }

    @Test func `an invalid login request is answered with the reason`() async throws {
        try await Sandbox.run { sandbox in
            let keyless = try await sandbox.post("/api/v5/sessions", ["userId": "anna", "deviceId": "d"])
            let key = ["X-API-Key": "k"]
            let deviceless = try await sandbox.post("/api/v5/sessions", ["userId": "anna"], headers: key)
            let nameless = try await sandbox.logIn("")
            let long = try await sandbox.logIn(String(repeating: "a", count: 51))

            for answer in [keyless, deviceless, nameless, long] {
                #expect(answer.status == 400 && answer.code == 400_000)
                #expect(answer.json["status"] == "error")
                #expect(answer.json["message"]?.string?.isEmpty == false)
            }
        }
    }

    @Test func `a fault can simulate the rate limit`() async throws {
        try await Sandbox.run { sandbox in
            let fault: JSONValue = [
                "match": "/api/v5/sessions", "status": .integer(429), "times": .integer(1),
                "body": ["status": "error", "code": .integer(400_311)],
            ]
            _ = try await sandbox.post("/sandbox/faults", fault)

            let limited = try await sandbox.logIn()

            #expect(limited.status == 429 && limited.code == 400_311)
            #expect(try await sandbox.logIn().status == 200)
        }
    }

    private func time(_ value: JSONValue?) throws -> Date {
        let text = try #require(value?.string)
        #expect(text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
        return try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)
    }
}
