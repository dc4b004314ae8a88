import FoundationEssentials
import Hummingbird

/// The stand-in for social.plus: sessions, auth tokens and just enough of the users.
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

    /// Makes a token by which the application's server vouches for a user.
    func authToken(for user: String) throws -> String {
        let token = TokenText.fresh("sat_")
        try store.change { state, _ in state.proofs.vouch(token, kind: Self.authTokenKind, for: user) }
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

/// What can be chosen about social.plus, by `POST /sandbox/social/settings`.
struct SocialSettings: SettingsGroup {
    /// Whether a login needs an auth token of the application's server.
    var secureMode = false
    /// Whether an auth token is good for one login only.
    var singleUseAuthTokens = false
    /// Whether banned and deleted users get a session too, whose answer carries the flags, as web clients have seen it.
    var opensForBanned = false
}

extension User {
    /// The user as the endpoints of social.plus show it.
    var socialView: JSONValue {
        [
            "userId": .string(userId), "displayName": .string(name), "createdAt": .string(createdAt.inMilliseconds),
            "isDeleted": .bool(isDeleted), "isGlobalBanned": .bool(isDisabled),
        ]
    }
}

extension Date {
    /// The time as the vendor writes it: `2023-01-12T12:02:28.592Z`.
    var inMilliseconds: String {
        formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
