import JunctionSecret
import JunctionSession
import JunctionTesting

@testable import JunctionProviders

extension ProviderUnderTest {
    static let social = ProviderUnderTest(
        name: "social",
        provider: { try SocialProvider.sample(url: $0, http: $1, clock: $2) },
        credential: .userLogin(userId: "anna", displayName: nil, authToken: SharedSecret(text: "auth-secret")),
        identity: Identity(userId: "anna"),
        secrets: SessionSecrets(accessToken: SharedSecret(text: "access-secret")),
        granted: .social(),
        rotated: .social(),
        notRotated: .social(issuedAt: "2026-11-21T12:00:09.000Z", expiresAt: "2026-11-21T13:00:09.000Z"),
        refreshToken: nil,
        invalidAnswers: [
            .authToken(SharedSecret(text: "")), .authToken(SharedSecret(text: #"{"authToken":"x y"}"#)), .anySignature,
        ],
        terminated: .json(400, #"{"status":"error","code":400312,"message":"banned"}"#),
        terminationCode: "400312",
        alreadyRevoked: .json(401, #"{"status":"error","code":400100,"message":"unauthorized"}"#),
        refused: .json(401, #"{"status":"error","code":400100,"message":"unauthorized"}"#)
    )
}

extension SocialProvider {
    static let sampleKey = "b0efe90c3bdda2304d628918520c1688845889e4bc363d2c"

    /// social.plus at one URL, with the device `device-1` and the version 0.0.
    static func sample(
        url: String,
        apiKey: String? = sampleKey,
        http: OutgoingHTTP,
        clock: any SessionClock,
        remembering memory: any ProviderMemory = InMemoryProviderMemory()
    ) throws -> SocialProvider {
        SocialProvider(
            cloud: try SocialCloud(region: .eu, apiUrl: url),
            apiKey: apiKey.map { SharedSecret(text: $0) },
            device: SocialDevice(id: "device-1", version: "0.0"),
            http: http,
            clock: clock,
            memory: memory
        )
    }
}

extension Stage {
    var social: SocialProvider {
        get throws { try SocialProvider.sample(url: server.url, http: http, clock: clock) }
    }
}

extension ScriptedServer.Step {
    /// A session of one hour from noon, or with any other times.
    static func social(
        issuedAt: String = "2026-11-21T12:00:00.000Z",
        expiresAt: String = "2026-11-21T13:00:00.000Z",
        users: String = #"[{"userId":"anna","isDeleted":false,"isGlobalBanned":false}]"#,
        date: String? = nil
    ) -> ScriptedServer.Step {
        let headers = [("content-type", "application/json")] + (date.map { [("date", $0)] } ?? [])
        let body = """
            {"accessToken":"access-1","issuedAt":"\(issuedAt)","expiresAt":"\(expiresAt)","users":\(users),"files":[]}
            """
        return .answer(200, headers, body)
    }
}
