import Testing

@testable import SandboxCloud

extension Sandbox {
    static func bearer(_ token: String) -> [String: String] { ["Authorization": "Bearer \(token)"] }

    func logIn(
        _ user: String = "anna",
        device: String = "device-1",
        authToken: String? = nil,
        displayName: String? = nil
    ) async throws -> Answer {
        var body: [String: JSONValue] = ["userId": .string(user), "deviceId": .string(device)]
        body["authToken"] = authToken.map { .string($0) }
        body["displayName"] = displayName.map { .string($0) }
        return try await post("/api/v5/sessions", .object(body), headers: ["X-API-Key": "sandbox-api-key"])
    }

    func socialToken(_ user: String = "anna", device: String = "device-1") async throws -> String {
        try #require(try await logIn(user, device: device).json["accessToken"]?.string)
    }

    func authToken(of user: String) async throws -> String {
        try #require(try await post("/sandbox/social/users/\(user)/auth-token").json["authToken"]?.string)
    }

    func seeAnna(_ token: String) async throws -> Answer {
        try await get("/api/v3/users/anna", headers: Self.bearer(token))
    }

    func setSocial(_ settings: JSONValue) async throws {
        try #require(try await post("/sandbox/social/settings", settings).status == 200)
    }
}

extension Answer {
    var code: Int64? {
        guard case .integer(let code) = json["code"] else { return nil }
        return code
    }

    var user: JSONValue? {
        guard case .array(let users) = json["users"], users.count == 1 else { return nil }
        return users[0]
    }
}
