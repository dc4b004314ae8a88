import FoundationEssentials
import Hummingbird

extension JunctionCloud {
    /// `/sandbox/users…`: what a backend, a support desk or a thief would do, for whoever drives a test.
    func addDrivingRoutes(to router: Router<CloudContext>) {
        router.get("sandbox/users") { _, _ in
            try Response.json(["users": everybody()])
        }
        router.post("sandbox/users") { request, _ in try await driveCreation(request) }
        router.post("sandbox/users/{user}/sign-in-token") { request, context in
            let wishes = try await request.order(SignInTokenMint.Wishes.self)
            let (user, now) = try ledger.read { state, now in (try state.junction.driven(context), now) }
            let token = try mint.token(for: user, now: now, wishes: wishes)
            return try Response.json(["userId": user.id, "signInToken": token])
        }
        router.post("sandbox/users/{user}/link-code") { request, context in
            let wishes = try await request.order(LinkCodeWishes.self)
            let (user, now) = try ledger.read { state, now in (try state.junction.driven(context), now) }
            let expiresAt = wishes.expiresIn.map { now + $0 }
            return try Response.json(try linkCode(for: user.id, expiresAt: expiresAt, origin: origin(for: request)))
        }
        drive("delete", on: router) { state, user, now in state.delete(user, now: now) }
        drive("undelete", on: router) { state, user, _ in state.undelete(user) }
        drive("disable", on: router) { state, user, _ in state.users[user]?.standing = .disabled }
        drive("enable", on: router) { state, user, _ in state.users[user]?.standing = .active }
        drive("require-reauthentication", on: router) { state, user, now in
            state.families.endAll(of: user, because: .ended, now: now)
        }
        drive("expire-access-tokens", on: router) { state, user, now in
            state.families.expireAccessTokens(of: user, now: now)
        }
        drive("revoke-access-tokens", on: router) { state, user, now in
            state.families.dropAccessTokens(of: user, now: now)
        }
    }

    private func everybody() -> [DrivenUser] {
        ledger.read { state, _ in
            state.junction.users.everybody.map {
                DrivenUser($0, sessions: state.junction.families.aliveCount(of: $0.id))
            }
        }
    }

    private func drive(
        _ verb: String,
        on router: Router<CloudContext>,
        _ change: @escaping @Sendable (inout JunctionState, String, Date) -> Void
    ) {
        router.post("sandbox/users/{user}/\(verb)") { _, context in
            try ledger.change { state, now in
                let user = try state.junction.driven(context).id
                change(&state.junction, user, now)
                return try Response.json(try state.junction.shown(user))
            }
        }
    }

    private func driveCreation(_ request: Request) async throws -> Response {
        let wishes = try await request.order(UserWishes.self)
        guard let team = Team(apiKey: wishes.apiKey ?? Team.exampleKey) else {
            throw Refusal.order("apiKey must begin with sk_us_, sk_eu_, pk_us_ or pk_eu_")
        }
        let name = wishes.clientUserId ?? TokenText.identifier()
        return try ledger.change { state, now in
            guard let user = state.junction.users.add(name, to: team, now: now) else {
                throw Refusal.order("the team has a user '\(name)' already", status: .conflict)
            }
            return try .json(try state.junction.shown(user.id), status: .created)
        }
    }
}

extension JunctionState {
    fileprivate func driven(_ context: CloudContext) throws -> User {
        let id = try context.parameters.require("user")
        guard let user = users[id] else { throw Refusal.order("there is no user '\(id)'", status: .notFound) }
        return user
    }

    fileprivate func shown(_ id: String) throws -> DrivenUser {
        guard let user = users[id] else { throw Refusal.order("there is no user '\(id)'", status: .notFound) }
        return DrivenUser(user, sessions: families.aliveCount(of: id))
    }
}

/// A user as the `/sandbox` endpoints show it.
struct DrivenUser: Codable, Sendable {
    let userId: String
    let clientUserId: String
    let teamId: String
    let environment: JunctionEnvironment
    let region: JunctionRegion
    let standing: User.Standing
    /// How many sign-ins are alive.
    let sessions: Int

    init(_ user: User, sessions: Int) {
        userId = user.id
        clientUserId = user.clientUserId
        teamId = user.team.id
        environment = user.team.environment
        region = user.team.region
        standing = user.standing
        self.sessions = sessions
    }
}

private struct UserWishes: Order {
    var clientUserId: String?
    var apiKey: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case clientUserId
        case apiKey
    }
}

private struct LinkCodeWishes: Order {
    /// Seconds from now.
    var expiresIn: Double?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case expiresIn
    }
}
