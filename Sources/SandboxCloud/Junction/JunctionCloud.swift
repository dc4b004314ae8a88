import FoundationEssentials
import Hummingbird

/// The stand-in for Junction: its auth server and its API at one origin.
struct JunctionCloud: Vendor {
    let name = VendorName.junction
    let title = "Junction"
    let store: Store
    let mint: SignInTokenIssuer
    let scheme: String

    init(store: Store, scheme: String) throws {
        self.store = store
        self.scheme = scheme
        mint = try SignInTokenIssuer()
    }

    let tokenEndpoints: Set<String> = ["POST /v1/token"]

    let credentials: KeyValuePairs<String, String> = ["Sign-In Token": "sign-in-token", "Link code": "link-code"]

    func addRoutes(to router: Router<CloudContext>) {
        addTokenRoutes(to: router)
        addUserRoutes(to: router)
        addLinkRoutes(to: router)
        addDataRoutes(to: router)
    }

    func make(_ credential: String, for named: String, _ request: Request) async throws -> JSONValue {
        let (user, now) = try store.read { state, moment in (try state.user(named, at: .junction), moment.now) }
        if credential == "link-code" {
            let lifetime = try await request.order(LinkCodeLifetime.self).expiresIn
            let code = try linkCode(
                for: user,
                expiresAt: lifetime.map { now + $0 },
                origin: request.origin(over: scheme)
            )
            return [
                "code": JSONValue(code["code"]), "exchangeUrl": JSONValue(code["exchange_url"]),
                "expiresAt": JSONValue(code["expires_at"]),
            ]
        }
        let token = try mint.token(for: user, now: now, changes: try await request.order())
        return ["userId": .string(user.userId), "signInToken": .string(token)]
    }

    func configuration(at origin: String, keyFile: String) -> DaemonConfiguration {
        DaemonConfiguration(provider: .junction, settings: ["authUrl": .text(origin), "apiUrl": .text(origin)])
    }
}

private struct LinkCodeLifetime: Decodable {
    /// Seconds from now.
    var expiresIn: Double?
}
