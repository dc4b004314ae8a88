import JunctionSecret
import JunctionSession

@testable import JunctionProviders

extension ProviderUnderTest {
    static let oauth = ProviderUnderTest(
        name: "oauth",
        provider: { OAuthProvider(setup: try .sample(at: $0), http: $1, clock: $2) },
        credential: OAuthSample.code,
        identity: OAuthSample.identity,
        isNamed: false,
        secrets: OAuthSample.secrets,
        granted: .tokens(),
        rotated: .tokens(OAuthSample.answer.replacing("3600", with: #""3600""#)),
        notRotated: .tokens(
            #"{"access_token":"access-1","token_type":"bearer","expires_in":3600,"refresh_token":null}"#
        ),
        invalidAnswers: [
            .authToken(SharedSecret(text: "")), .authToken(SharedSecret(text: "a\nb")), .anySignature,
        ],
        terminationCode: "",
        alreadyRevoked: .json(401, #"{"error":"invalid_token"}"#),
        refused: .json(400, #"{"error":"invalid_grant"}"#)
    )
}

enum OAuthSample {
    static let issuer = "https://id.example.com"
    static let identity = Identity(userId: "user-1", issuer: issuer)
    static let secrets = SessionSecrets(
        accessToken: SharedSecret(text: "access-secret"),
        refreshToken: SharedSecret(text: "refresh-secret"),
        subjectTokenType: "urn:x:ticket"
    )

    static let verifier = String(repeating: "v", count: 43)
    static let code = Credential.authorizationCode(
        SharedSecret(text: "code secret+1"),
        redirectUri: "http://127.0.0.1:7000/done",
        codeVerifier: SharedSecret(text: verifier)
    )
    static let subjectToken = Credential.tokenExchange(
        subjectToken: SharedSecret(text: "subject-secret"),
        subjectTokenType: "urn:ietf:params:oauth:token-type:jwt"
    )
    static let codes = DeviceCodes(
        deviceCode: SharedSecret(text: "device-secret"),
        userCode: SharedSecret(text: "WDJB-MJHT"),
        verificationUri: "https://id.example.com/device"
    )

    static func claims(
        iss: String = issuer,
        sub: String = "user-1",
        aud: String = #""client-1""#,
        more: String = #","exp":1795266000"#
    ) -> String {
        #"{"iss":"\#(iss)","sub":"\#(sub)","aud":\#(aud)\#(more)}"#
    }

    static func idToken(_ claims: String = claims()) -> String {
        "\(Sample.base64url(#"{"alg":"RS256"}"#)).\(Sample.base64url(claims)).c2ln"
    }

    static func answer(idToken: String?, more: String = #","refresh_token":"refresh-1""#) -> String {
        let idToken = idToken.map { #","id_token":"\#($0)""# } ?? ""
        return #"{"access_token":"access-1","token_type":"Bearer","expires_in":3600\#(more)\#(idToken)}"#
    }

    static let answer = answer(idToken: idToken())
    /// An answer that names no user.
    static let anonymous = answer(idToken: nil)
}

extension OAuthSetup {
    /// Settings with a fixed issuer and with all endpoints at one URL.
    static func sample(
        at url: String,
        _ settings: [String: ProviderSetting.Value] = [:],
        files: [String: String] = [:]
    ) throws -> OAuthSetup {
        let usual: [String: ProviderSetting.Value] = [
            "issuer": .text(OAuthSample.issuer), "clientId": "client-1", "scopes": ["openid", "offline_access"],
            "tokenEndpoint": .text(url + "/token"), "deviceAuthorizationEndpoint": .text(url + "/device"),
            "revocationEndpoint": .text(url + "/revoke"), "userinfoEndpoint": .text(url + "/userinfo"),
        ]
        return try checked(usual.merging(settings) { $1 }, files: files)
    }

    /// Settings of a server whose metadata names the endpoints.
    static func discovering(
        _ issuer: String,
        _ settings: [String: ProviderSetting.Value] = [:]
    ) throws -> OAuthSetup {
        try checked(["issuer": .text(issuer), "clientId": "client-1"].merging(settings) { $1 })
    }

    static func checked(
        _ settings: [String: ProviderSetting.Value],
        files: [String: String] = [:],
        credentials: String? = nil
    ) throws -> OAuthSetup {
        try OAuthSetup(
            ProviderSettings(settings, credentials: credentials) { path in
                files[path].map { .success(SharedSecret(text: $0)) } ?? .failure(.missing)
            }
        )
    }
}

extension Stage {
    func oauth(
        _ settings: [String: ProviderSetting.Value] = [:],
        files: [String: String] = [:]
    ) throws -> OAuthProvider {
        OAuthProvider(setup: try .sample(at: server.url, settings, files: files), http: http, clock: clock)
    }

    func discovering(_ settings: [String: ProviderSetting.Value] = [:]) throws -> OAuthProvider {
        OAuthProvider(setup: try .discovering(server.url, settings), http: http, clock: clock)
    }
}

extension OAuthProvider {
    func pollFailure(
        _ codes: DeviceCodes = OAuthSample.codes,
        store: PartialGrantStore = .none
    ) async -> PollFailure? {
        await thrown { () throws(PollFailure) in try await poll(codes, store: store) }
    }

    func renewalFailure(
        _ secrets: SessionSecrets = OAuthSample.secrets,
        _ identity: Identity = OAuthSample.identity,
        using answer: RenewalAnswer = .renew
    ) async -> RenewalFailure? {
        await renewalFailure(identity, with: secrets, using: answer)
    }
}

extension ScriptedServer.Step {
    static func tokens(_ body: String = OAuthSample.answer) -> ScriptedServer.Step { .json(200, body) }
}

extension ScriptedServer.Request {
    /// The encoded fields of a form.
    var fields: [String] { body.split(separator: "&").map(String.init) }
}
