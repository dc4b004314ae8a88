import FoundationEssentials
import Hummingbird

extension OAuthCloud {
    /// Users, what befalls them, and what a test gets in their name.
    func addUserDriving(to router: Router<CloudContext>) {
        router.get("sandbox/oauth/users") { _, _ in
            try ledger.read { state, _ in
                try Response.json(["users": state.oauth.users.all.map { DrivenOAuthUser($0, in: state.oauth) }])
            }
        }
        router.post("sandbox/oauth/users") { request, _ in try await driveCreation(request) }
        router.post("sandbox/oauth/users/{user}/tokens") { request, context in
            try await driveSignIn(request, context)
        }
        router.post("sandbox/oauth/users/{user}/subject-token") { request, context in
            try await driveSubjectToken(request, context)
        }
        drive("disable", on: router) { state, sub, _ in state.users[sub]?.isDisabled = true }
        drive("enable", on: router) { state, sub, _ in state.users[sub]?.isDisabled = false }
        drive("delete", on: router) { state, sub, now in state.delete(sub, now: now) }
        drive("undelete", on: router) { state, sub, _ in state.users[sub]?.isDeleted = false }
        drive("require-reauthentication", on: router) { state, sub, now in
            state.families.endAll(of: sub, because: .operation, now: now)
        }
        drive("expire-access-tokens", on: router) { state, sub, now in
            state.families.expireAccessTokens(of: sub, now: now)
        }
        drive("revoke-access-tokens", on: router) { state, sub, now in
            state.families.dropAccessTokens(of: sub, now: now)
        }
    }

    private func drive(
        _ verb: String,
        on router: Router<CloudContext>,
        _ change: @escaping @Sendable (inout OAuthState, String, Date) -> Void
    ) {
        router.post("sandbox/oauth/users/{user}/\(verb)") { _, context in
            try ledger.change { state, now in
                let sub = try context.oauthUser(in: state).sub
                change(&state.oauth, sub, now)
                return try Response.json(DrivenOAuthUser(try context.oauthUser(in: state), in: state.oauth))
            }
        }
    }

    private func driveCreation(_ request: Request) async throws -> Response {
        let wishes = try await request.order(OAuthUserWishes.self)
        return try ledger.change { state, now in
            guard let user = state.oauth.users.add(name: wishes.name, sub: wishes.sub, now: now) else {
                throw Refusal.order("there is such a user already", status: .conflict)
            }
            return try .json(DrivenOAuthUser(user, in: state.oauth), status: .created)
        }
    }

    private func driveSignIn(_ request: Request, _ context: CloudContext) async throws -> Response {
        let wishes = try await request.order(OAuthSignInWishes.self)
        let lifetimes = OAuthLifetimes(preferences.settings)
        return try ledger.change { state, now in
            let login = OAuthLogin(
                client: wishes.clientId ?? "sandbox-public",
                subject: try context.oauthUser(in: state).sub,
                openedBy: .deviceCode,
                scopes: (wishes.scope ?? "openid offline_access").split(separator: " ").map(String.init),
                resources: []
            )
            let tokens = state.oauth.open(login, for: lifetimes, now: now).granted.tokens
            return try .json(
                [
                    "accessToken": .string(tokens.accessToken),
                    "refreshToken": tokens.refreshToken.map { .string($0) } ?? .null,
                    "expiresIn": .integer(Int64(tokens.lifetime)),
                ] as JSONValue
            )
        }
    }

    private func driveSubjectToken(_ request: Request, _ context: CloudContext) async throws -> Response {
        let wishes = try await request.order(SubjectTokenWishes.self)
        let type = wishes.type ?? SubjectTokens.usualType
        return try ledger.change { state, now in
            let token = state.oauth.subjectTokens.mint(
                for: try context.oauthUser(in: state).sub,
                type: type,
                isSingleUse: wishes.singleUse ?? false,
                expiresAt: now + (wishes.expiresIn ?? 300)
            )
            return try .json(["subjectToken": token, "subjectTokenType": type])
        }
    }
}

extension CloudContext {
    /// The user that a path names, by `sub` or by name.
    func oauthUser(in state: CloudState) throws -> OAuthUser {
        let named = PercentText.plain(try parameters.require("user"))
        guard let user = state.oauth.users.find(named) else {
            throw Refusal.order("there is no user '\(named)'", status: .notFound)
        }
        return user
    }
}

/// A user of the OAuth server as the `/sandbox` endpoints show it.
private struct DrivenOAuthUser: Encodable {
    let sub: String
    let name: String
    let isDisabled: Bool
    let isDeleted: Bool
    /// How many logins can be renewed.
    let sessions: Int

    init(_ user: OAuthUser, in state: OAuthState) {
        sub = user.sub
        name = user.name
        isDisabled = user.isDisabled
        isDeleted = user.isDeleted
        sessions = state.families.all.count { $0.subject == user.sub && $0.isAlive }
    }
}

private struct OAuthUserWishes: Order {
    var name: String
    var sub: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case name
        case sub
    }
}

private struct OAuthSignInWishes: Order {
    var clientId: String?
    var scope: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case clientId
        case scope
    }
}

private struct SubjectTokenWishes: Order {
    var type: String?
    /// Seconds; less than nothing makes an expired one.
    var expiresIn: Double?
    var singleUse: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case type
        case expiresIn
        case singleUse
    }
}
