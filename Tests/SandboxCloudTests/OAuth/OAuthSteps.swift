import Foundation
import JunctionText
import Testing

@testable import SandboxCloud

extension Sandbox {
    static let publicClient = "sandbox-public"

    var issuer: String { "http://127.0.0.1:\(client.port)/oauth" }

    /// Posts a form to an endpoint of the OAuth server.
    func oauth(
        _ endpoint: String,
        _ fields: KeyValuePairs<String, String>,
        authorization: String? = nil
    ) async throws -> Answer {
        try await form(fields, to: "/oauth/\(endpoint)", authorization: authorization)
    }

    func setOAuth(_ settings: JSONValue) async throws {
        try #require(try await post("/sandbox/oauth/settings", settings).status == 200)
    }

    func deviceCodes(scope: String = "openid offline_access") async throws -> DeviceCodes {
        try DeviceCodes(try await askForCodes(["client_id": Self.publicClient, "scope": scope]))
    }

    func askForCodes(
        _ fields: KeyValuePairs<String, String>,
        authorization: String? = nil
    ) async throws -> Answer {
        try await oauth("device_authorization", fields, authorization: authorization)
    }

    func poll(_ codes: DeviceCodes) async throws -> Answer {
        try await oauth(
            "token",
            [
                "grant_type": GrantType.deviceCode.wireName, "client_id": Self.publicClient,
                "device_code": codes.deviceCode,
            ]
        )
    }

    /// Posts a decision, as the page does.
    func decide(_ decision: String, _ codes: DeviceCodes, as user: String = "anna") async throws -> Answer {
        try await oauth("device", ["user_code": codes.userCode, "user": user, "decision": decision])
    }

    /// Completes a device sign-in and returns its tokens.
    func connect(_ user: String = "anna", scope: String = "openid offline_access") async throws -> Tokens {
        let codes = try await deviceCodes(scope: scope)
        try #require(try await decide("approve", codes, as: user).status == 200)
        return try Tokens(try await poll(codes))
    }

    func renew(_ refreshToken: String, scope: String? = nil) async throws -> Answer {
        // An empty parameter counts as missing.
        try await oauth(
            "token",
            [
                "grant_type": "refresh_token", "client_id": Self.publicClient, "refresh_token": refreshToken,
                "scope": scope ?? "",
            ]
        )
    }

    func oauthLogins() async throws -> [JSONValue] {
        try await get("/sandbox/oauth/logins").json["logins"]?.elements ?? []
    }

    func advance(_ seconds: Int64) async throws {
        try #require(try await post("/sandbox/clock", ["advanceSeconds": .integer(seconds)]).status == 200)
    }

    func whoami(_ accessToken: String) async throws -> Answer {
        try await get("/oauth-api/v1/whoami", headers: Self.bearer(accessToken))
    }
}

struct DeviceCodes {
    let deviceCode: String
    let userCode: String

    init(_ answer: Answer) throws {
        try #require(answer.status == 200)
        deviceCode = try #require(answer.json["device_code"]?.string)
        userCode = try #require(answer.json["user_code"]?.string)
    }
}

extension Answer {
    var error: String? { json["error"]?.string }

    var idToken: JSONValue? {
        guard let parts = json["id_token"]?.string?.split(separator: "."), parts.count == 3,
            let claims = Base64.decode(parts[1].utf8, .urlSafe)
        else { return nil }
        return try? JSONDecoder().decode(JSONValue.self, from: Data(claims))
    }
}
