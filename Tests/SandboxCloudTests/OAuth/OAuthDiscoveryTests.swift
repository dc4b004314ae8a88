import Testing

@testable import SandboxCloud

@Suite struct OAuthDiscoveryTests {
    private static let openid = "/oauth/.well-known/openid-configuration"
    private static let inserted = "/.well-known/oauth-authorization-server/oauth"

    @Test func `both addresses return the same document with the requested issuer and its cache lifetime`() async throws
    {
        try await Sandbox.run { sandbox in
            let one = try await sandbox.get(Self.openid)
            let other = try await sandbox.get(Self.inserted)

            #expect(one.json == other.json)
            #expect(one.json["issuer"] == .string(sandbox.issuer))
            #expect(one.json["token_endpoint"] == .string("\(sandbox.issuer)/token"))
            #expect(one.headers["cache-control"] == "public, max-age=3600")
        }
    }

    @Test(arguments: [("both", 200, 200), ("openid", 200, 404), ("oauth", 404, 200), ("none", 404, 404)])
    func `one or both addresses can be disabled`(which: String, openid: Int, inserted: Int) async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["discovery": .string(which)])

            #expect(try await sandbox.get(Self.openid).status == openid)
            #expect(try await sandbox.get(Self.inserted).status == inserted)
        }
    }

    @Test func `members of the document can be replaced and removed`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth([
                "discoveryMembers": ["issuer": "https://elsewhere", "device_authorization_endpoint": .null],
                "discoveryMaxAge": .integer(5),
            ])

            let document = try await sandbox.get(Self.openid)

            #expect(document.json["issuer"] == "https://elsewhere")
            #expect(document.json["device_authorization_endpoint"] == nil)
            #expect(document.headers["cache-control"] == "public, max-age=5")
        }
    }

    @Test func `null resets a setting, and an unknown setting is refused`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["interval": .integer(1), "errorStatus": .integer(403)])
            try await sandbox.setOAuth(["interval": .null, "errorStatus": .null])

            let settings = try await sandbox.get("/sandbox/oauth/settings").json
            #expect(settings["interval"] == .integer(5))
            #expect(settings["errorStatus"] == nil)
            for bad: JSONValue in [
                ["intervall": .integer(1)], ["interval": "1"], ["interval": .integer(-1)], ["rotation": "sometimes"],
                ["errorStatus": .integer(9)],
            ] {
                let answer = try await sandbox.post("/sandbox/oauth/settings", bad)
                #expect(answer.status == 400 && answer.error != nil)
            }
        }
    }
}
