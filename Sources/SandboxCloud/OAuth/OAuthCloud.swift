import FoundationEssentials
import Hummingbird

/// The stand-in for any identity provider: an OAuth 2.0 and OpenID Connect server with an example API.
struct OAuthCloud: Vendor {
    let name = VendorName.oauth
    let title = "OAuth"
    let store: Store
    let scheme: String
    let mint: IdTokenIssuer

    init(store: Store, scheme: String) throws {
        self.store = store
        self.scheme = scheme
        mint = try IdTokenIssuer()
    }

    let tokenEndpoints: Set<String> = ["POST /oauth/token"]

    let credentials: KeyValuePairs<String, String> = ["Tokens": "tokens", "Subject token": "subject-token"]

    func addRoutes(to router: Router<CloudContext>) {
        addDiscoveryRoutes(to: router)
        addDeviceRoutes(to: router)
        addAuthorizeRoutes(to: router)
        addTokenRoutes(to: router)
        addRevocationRoutes(to: router)
        addResourceRoutes(to: router)
    }

    func configuration(at origin: String, keyFile: String) -> DaemonConfiguration {
        DaemonConfiguration(
            provider: .oauth,
            settings: [
                "issuer": .text("\(origin)/oauth"),
                "clientId": .text("sandbox-public"),
                "scopes": .list(["openid", "offline_access"]),
                "apiUrl": .text("\(origin)/oauth-api/v1/"),
            ]
        )
    }

    /// Returns the issuer as the client of the request addresses it.
    func issuer(for request: Request) -> String { request.origin(over: scheme) + "/oauth" }

    var settings: OAuthSettings { store.settings.oauth }
}

// Credentials that a test requests for a user.
extension OAuthCloud {
    func make(_ credential: String, for named: String, _ request: Request) async throws -> JSONValue {
        credential == "tokens" ? try await tokens(for: named, request) : try await subjectToken(for: named, request)
    }

    /// Opens a login without a sign-in and returns its tokens.
    private func tokens(for named: String, _ request: Request) async throws -> JSONValue {
        let order = try await request.order(NewTokens.self)
        return try store.change { state, moment in
            let login = Login(
                vendor: .oauth,
                userId: try state.user(named, at: .oauth).userId,
                clientId: order.clientId ?? "sandbox-public",
                openedBy: .deviceCode,
                openedAt: moment.now,
                scopes: (order.scope ?? "openid offline_access").split(separator: " ").map(String.init)
            )
            let tokens = state.open(login, at: moment).tokens
            return [
                "accessToken": .string(tokens.accessToken), "refreshToken": JSONValue(tokens.refreshToken),
                "expiresIn": .integer(Int64(tokens.lifetime)),
            ]
        }
    }

    /// Creates a subject token for a token exchange, as an app's backend would.
    private func subjectToken(for named: String, _ request: Request) async throws -> JSONValue {
        let order = try await request.order(NewSubjectToken.self)
        let type = order.type ?? "urn:ietf:params:oauth:token-type:jwt"
        let token = TokenText.fresh("ost_")
        try store.change { state, moment in
            state.proofs.issueCredential(
                token,
                kind: type,
                for: try state.user(named, at: .oauth).userId,
                isSingleUse: order.singleUse ?? false,
                until: moment.now + (order.expiresIn ?? 300)
            )
        }
        return ["subjectToken": .string(token), "subjectTokenType": .string(type)]
    }
}

private struct NewTokens: Decodable {
    var clientId: String?
    var scope: String?
}

private struct NewSubjectToken: Decodable {
    var type: String?
    /// The lifetime in seconds. A negative value creates an expired token.
    var expiresIn: Double?
    var singleUse: Bool?
}
