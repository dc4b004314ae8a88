import Testing

@testable import SandboxCloud

@Suite struct DeviceEndpointTests {
    @Test func `an approval on the page signs the device in`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["interval": .integer(0)])
            let codes = try await sandbox.deviceCodes()

            let pending = try await sandbox.poll(codes)
            let page = try await sandbox.get("/oauth/device?user_code=\(codes.userCode)")
            let said = try await sandbox.decide("approve", codes)
            let tokens = try await sandbox.poll(codes)

            #expect(pending.status == 400 && pending.error == "authorization_pending")
            #expect(String(decoding: page.body, as: UTF8.self).contains(#"value="\#(codes.userCode)""#))
            #expect(said.status == 200)
            #expect(tokens.status == 200)
            #expect(tokens.headers["cache-control"] == "no-store")
            #expect(tokens.json["scope"] == "openid offline_access")
            let access = try Tokens(tokens).access
            let whoami = try await sandbox.whoami(access)
            #expect(whoami.json["name"] == "anna")
            #expect(tokens.idToken?["sub"] == whoami.json["sub"])
            #expect(tokens.idToken?["iss"] == .string(sandbox.issuer))
            #expect(tokens.idToken?["aud"] == .string(Sandbox.publicClient))
        }
    }

    @Test func `a device code opens one login`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["interval": .integer(0)])
            let codes = try await sandbox.deviceCodes()
            _ = try await sandbox.decide("approve", codes)
            _ = try Tokens(try await sandbox.poll(codes))

            #expect(try await sandbox.poll(codes).error == "invalid_grant")
            #expect(try await sandbox.decide("approve", codes).status == 400)
            #expect(try await sandbox.oauthLogins().count == 1)
        }
    }

    @Test func `denied, expired and unknown codes have their own errors`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["interval": .integer(0), "deviceCodeLifetime": .integer(60)])
            let denied = try await sandbox.deviceCodes()
            _ = try await sandbox.decide("deny", denied)
            let expired = try await sandbox.deviceCodes()

            #expect(try await sandbox.poll(denied).error == "access_denied")
            try await sandbox.advance(60)
            #expect(try await sandbox.poll(expired).error == "expired_token")
            #expect(try await sandbox.decide("approve", expired).status == 400)
            try await sandbox.setOAuth(["tellsExpiry": .bool(false)])
            #expect(try await sandbox.poll(expired).error == "authorization_pending")
            let unknown = try await sandbox.oauth(
                "token",
                [
                    "grant_type": GrantType.deviceCode.wireName, "client_id": Sandbox.publicClient,
                    "device_code": "odc_unknown",
                ]
            )
            #expect(unknown.error == "invalid_grant")
        }
    }

    @Test func `a poll that comes too soon lengthens the interval by five seconds permanently`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["interval": .integer(1_000), "deviceCodeLifetime": .integer(100_000)])
            let codes = try await sandbox.deviceCodes()

            #expect(try await sandbox.poll(codes).error == "authorization_pending")
            #expect(try await sandbox.poll(codes).error == "slow_down")
            try await sandbox.advance(1_000)
            #expect(try await sandbox.poll(codes).error == "slow_down")
            try await sandbox.advance(1_010)
            #expect(try await sandbox.poll(codes).error == "authorization_pending")
            _ = try await sandbox.decide("approve", codes)
            #expect(try await sandbox.poll(codes).error == "slow_down")
            try await sandbox.advance(1_015)
            #expect(try await sandbox.poll(codes).status == 200)

            let devices = try await sandbox.get("/sandbox/oauth/devices").json["devices"]
            guard case .array(let list) = devices else { return #expect(Bool(false), "no list") }
            #expect(list.first?["interval"] == .integer(1_015))
            #expect(list.first?["polls"] == .integer(6))
            #expect(list.first?["decision"] == "redeemed")
            let tally = try await sandbox.counters()
            #expect(tally.polls == 6 && tally.deviceCodes == 1 && tally.exchanges == 1)
            #expect(tally.grants["device_code"] == ["authorization_pending": 2, "slow_down": 3, "granted": 1])
        }
    }

    @Test func `optional members of the answer can be omitted`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth([
                "deviceMembers": [
                    "interval": .null, "verification_uri_complete": .null, "verification_url": "https://x",
                ]
            ])

            let answer = try await sandbox.askForCodes(["client_id": Sandbox.publicClient])

            #expect(answer.json["interval"] == nil && answer.json["verification_uri_complete"] == nil)
            #expect(answer.json["verification_uri"] == .string("\(sandbox.issuer)/device"))
            #expect(answer.json["verification_url"] == "https://x")
            #expect(answer.json["expires_in"] == .integer(600))
        }
    }

    @Test func `a test can decide without the page, and user codes ignore case and separators`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["interval": .integer(0)])
            let codes = try await sandbox.deviceCodes()
            let typed = codes.userCode.lowercased().replacing("-", with: "")

            let approved = try await sandbox.post("/sandbox/oauth/devices/\(typed)/approve", ["user": "anna"])
            let again = try await sandbox.post("/sandbox/oauth/devices/\(typed)/deny")
            let unknown = try await sandbox.post("/sandbox/oauth/devices/nope/expire")

            #expect(approved.json["decision"] == "approved")
            #expect(again.status == 409)
            #expect(unknown.status == 404)
            #expect(try await sandbox.poll(codes).status == 200)
        }
    }

    @Test func `a device that sent a challenge must send the verifier`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["interval": .integer(0)])
            let codes = try DeviceCodes(
                try await sandbox.askForCodes(
                    [
                        "client_id": Sandbox.publicClient, "code_challenge": Verifier.challenge,
                        "code_challenge_method": "S256",
                    ]
                )
            )
            _ = try await sandbox.decide("approve", codes)

            let without = try await sandbox.poll(codes)
            let with = try await sandbox.oauth(
                "token",
                [
                    "grant_type": GrantType.deviceCode.wireName, "client_id": Sandbox.publicClient,
                    "device_code": codes.deviceCode, "code_verifier": Verifier.text,
                ]
            )

            #expect(without.error == "invalid_grant")
            #expect(with.status == 200)
            #expect(with.json["refresh_token"] == nil, "offline_access was not asked for")
        }
    }
}

/// The example of RFC 7636, appendix B.
enum Verifier {
    static let text = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
}
