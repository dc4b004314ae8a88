import FoundationEssentials
import Hummingbird

extension SocialCloud {
    /// `/sandbox/social…`: what a moderator or the application's server would do, for whoever drives a test.
    func addDrivingRoutes(to router: Router<CloudContext>) {
        router.get("sandbox/social/settings") { _, _ in
            try Response.json(ledger.read { state, _ in state.social.terms })
        }
        router.post("sandbox/social/settings") { request, _ in
            let wishes = try await request.order(SocialTermsWishes.self)
            return try Response.json(
                try ledger.change { state, _ in
                    wishes.apply(to: &state.social.terms)
                    return state.social.terms
                }
            )
        }
        router.get("sandbox/social/users") { _, _ in
            try Response.json(["users": everybody()])
        }
        router.post("sandbox/social/users") { request, _ in try await driveCreation(request) }
        router.post("sandbox/social/users/{user}/auth-token") { _, context in
            let id = try context.socialUserId()
            let token = try ledger.change { state, _ in state.social.vouch(for: id) }
            return try Response.json(["userId": id, "authToken": token])
        }
        drive("ban", on: router) { state, user, _ in state[user]?.isGlobalBanned = true }
        drive("unban", on: router) { state, user, _ in state[user]?.isGlobalBanned = false }
        drive("delete", on: router) { state, user, _ in state[user]?.isDeleted = true }
        drive("undelete", on: router) { state, user, _ in state[user]?.isDeleted = false }
        drive("expire-access-tokens", on: router) { state, user, now in state.expireAccessTokens(of: user, now: now) }
        drive("revoke-access-tokens", on: router) { state, user, now in
            state.dropAccessTokens(of: user, now: now)
        }
    }

    private func everybody() -> [DrivenSocialUser] {
        ledger.read { state, now in
            state.social.users.values
                .sorted { ($0.createdAt, $0.userId) < ($1.createdAt, $1.userId) }
                .map { DrivenSocialUser($0, in: state.social, now: now) }
        }
    }

    private func drive(
        _ verb: String,
        on router: Router<CloudContext>,
        _ change: @escaping @Sendable (inout SocialState, String, Date) -> Void
    ) {
        router.post("sandbox/social/users/{user}/\(verb)") { _, context in
            let id = try context.socialUserId()
            return try ledger.change { state, now in
                change(&state.social, id, now)
                guard let user = state.social[id] else {
                    throw Refusal.order("there is no user '\(id)'", status: .notFound)
                }
                return try Response.json(DrivenSocialUser(user, in: state.social, now: now))
            }
        }
    }

    private func driveCreation(_ request: Request) async throws -> Response {
        let wishes = try await request.order(SocialUserWishes.self)
        guard (1...50).contains(wishes.userId.count) else {
            throw Refusal.order("userId must have 1 to 50 characters")
        }
        return try ledger.change { state, now in
            guard state.social[wishes.userId] == nil else {
                throw Refusal.order("there is a user '\(wishes.userId)' already", status: .conflict)
            }
            let user = SocialUser(
                userId: wishes.userId,
                displayName: wishes.displayName ?? wishes.userId,
                createdAt: now
            )
            state.social[wishes.userId] = user
            return try .json(DrivenSocialUser(user, in: state.social, now: now), status: .created)
        }
    }
}

/// A user of social.plus as the `/sandbox` endpoints show it.
private struct DrivenSocialUser: Encodable {
    let userId: String
    let displayName: String
    let isDeleted: Bool
    let isGlobalBanned: Bool
    /// How many access tokens are good.
    let sessions: Int

    init(_ user: SocialUser, in state: SocialState, now: Date) {
        userId = user.userId
        displayName = user.displayName
        isDeleted = user.isDeleted
        isGlobalBanned = user.isGlobalBanned
        sessions = state.aliveCount(of: user.userId, now: now)
    }
}

private struct SocialUserWishes: Order {
    var userId: String
    var displayName: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case userId
        case displayName
    }
}

private struct SocialTermsWishes: Order {
    var secureMode: Bool?
    var singleUseAuthTokens: Bool?
    var opensForBanned: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case secureMode
        case singleUseAuthTokens
        case opensForBanned
    }

    func apply(to terms: inout SocialTerms) {
        terms.secureMode = secureMode ?? terms.secureMode
        terms.singleUseAuthTokens = singleUseAuthTokens ?? terms.singleUseAuthTokens
        terms.opensForBanned = opensForBanned ?? terms.opensForBanned
    }
}
