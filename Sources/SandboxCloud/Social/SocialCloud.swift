import FoundationEssentials
import Hummingbird

/// The stand-in for social.plus: sessions, auth tokens and a part of the users.
struct SocialCloud: Vendor {
    let name = VendorName.social
    let title = "social.plus"
    let store: Store

    let tokenEndpoints: Set<String> = ["POST /api/v5/sessions"]

    let credentials: KeyValuePairs<String, String> = ["Auth token": "auth-token"]

    func addRoutes(to router: Router<CloudContext>) {
        addSessionRoutes(to: router)
        addServerRoutes(to: router)
        router.get("api/v3/users/{user}") { request, context in
            let id = try context.part("user")
            let token = try request.socialToken()
            return try store.read { state, moment in
                _ = try state.socialCaller(token, now: moment.now)
                guard let user = state.users[.social, id] else {
                    throw SocialRefusal.notFound.because("there is no such user")
                }
                return try Response.json(["users": [user.socialView], "files": []] as JSONValue)
            }
        }
    }

    func make(_ credential: String, for user: String, _ request: Request) async throws -> JSONValue {
        ["userId": .string(user), "authToken": .string(try authToken(for: user))]
    }

    /// Creates an auth token, by which the app's backend vouches for a user.
    func authToken(for user: String) throws -> String {
        let token = TokenText.fresh("sat_")
        try store.change { state, _ in state.proofs.issueCredential(token, kind: Self.authTokenKind, for: user) }
        return token
    }

    static let authTokenKind = "auth_token"

    func configuration(at origin: String, keyFile: String) -> DaemonConfiguration {
        let file = ShellText.quoted(keyFile)
        return DaemonConfiguration(
            provider: .social,
            remark: "Any API key does that is not empty: (umask 077; echo sandbox-api-key >\(file))",
            settings: ["apiUrl": .text(origin), "apiKeyFile": .text(keyFile)]
        )
    }
}

/// The settings of social.plus, changed by `POST /sandbox/social/settings`.
struct SocialSettings: SettingsGroup {
    /// Whether a login needs an auth token of the app's backend.
    var secureMode = false
    var singleUseAuthTokens = false
    /// Whether banned and deleted users get a session too. Its answer contains the flags, as observed with web clients.
    var opensForBanned = false
}

extension User {
    var socialView: JSONValue {
        [
            "userId": .string(userId), "displayName": .string(name), "createdAt": .string(createdAt.inMilliseconds),
            "isDeleted": .bool(isDeleted), "isGlobalBanned": .bool(isDisabled),
        ]
    }
}

extension Date {
    /// The time in the vendor's format: `2023-01-12T12:02:28.592Z`.
    var inMilliseconds: String {
        formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
