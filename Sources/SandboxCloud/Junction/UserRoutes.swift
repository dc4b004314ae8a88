import FoundationEssentials
import Hummingbird

/// The body of `POST` and `PATCH /v2/user`. The sandbox accepts and ignores all other fields.
private struct UserFields: Decodable {
    let clientUserId: String?
    let fallbackTimeZone: String?
}

extension JunctionCloud {
    func addUserRoutes(to router: Router<CloudContext>) {
        router.post("v2/user") { request, _ in try await createUser(request) }
        router.post("v2/user/undo_delete") { request, _ in try undoDelete(request) }
        router.get("v2/user/resolve/{clientUser}") { request, context in
            let name = try context.part("clientUser")
            return try api(request) { state, caller, _ in
                let team = try caller.team()
                guard let user = state.users.user(named: name, in: team), !user.isDeleted else {
                    throw Refusal.api(.notFound, "the team has no such user")
                }
                return user.junctionView
            }
        }
        router.get("v2/user/{user}") { request, context in
            let id = try context.parameters.require("user")
            return try api(request) { state, caller, _ in try state.user(id, for: caller).junctionView }
        }
        router.patch("v2/user/{user}") { request, context in
            let id = try context.parameters.require("user")
            let fields = try await request.vendorBody(UserFields.self)
            return try apiChange(request) { state, caller, _ in
                var user = try state.user(id, for: caller)
                user.name = fields.clientUserId ?? user.name
                if let zone = fields.fallbackTimeZone { user.junction?.fallbackTimeZone = zone }
                state.users[.junction, id] = user
                return Response(status: .noContent)
            }
        }
        router.delete("v2/user/{user}") { request, context in
            let id = try context.parameters.require("user")
            return try apiChange(request) { state, caller, moment in
                _ = try caller.team()
                state.delete(try state.user(id, for: caller), at: moment)
                return try Done.response()
            }
        }
        router.post("v2/user/{user}/sign_in_token") { request, context in
            let id = try context.parameters.require("user")
            let user = try vet(request) { state, caller, _ in
                _ = try caller.team()
                return try state.user(id, for: caller)
            }
            let token = try mint.token(for: user, now: store.snapshot.moment.now)
            return try Response.json(["user_id": user.userId, "sign_in_token": token])
        }
    }

    private func createUser(_ request: Request) async throws -> Response {
        let fields = try await request.vendorBody(UserFields.self)
        return try apiChange(request) { state, caller, moment in
            let team = try caller.team()
            guard let name = fields.clientUserId else {
                throw Refusal(
                    .unprocessableContent,
                    body: ["detail": [["loc": ["body", "client_user_id"], "msg": "field required"]]]
                )
            }
            let user = User(
                vendor: .junction,
                userId: TokenText.identifier(),
                name: name,
                createdAt: moment.now,
                junction: JunctionProfile(team: team, fallbackTimeZone: fields.fallbackTimeZone)
            )
            guard state.users.add(user) else {
                throw Refusal(.badRequest, body: Self.exists(state.users.user(named: name, in: team)))
            }
            return try .json(user.junctionView)
        }
    }

    private func undoDelete(_ request: Request) throws -> Response {
        let query = request.uri.queryParameters
        return try apiChange(request) { state, caller, _ in
            let team = try caller.team()
            let user =
                switch (query["user_id"], query["client_user_id"]) {
                case (let id?, nil): state.users[.junction, String(id)]
                case (nil, let name?): state.users.user(named: String(name), in: team)
                case (nil, nil), (_?, _?):
                    throw Refusal.api(.badRequest, "send either user_id or client_user_id")
                }
            guard let user, user.junction?.team.id == team.id else {
                throw Refusal.api(.notFound, "the team has no such user")
            }
            state.users[.junction, user.userId]?.isDeleted = false
            return try Done.response()
        }
    }

    private static func exists(_ user: User?) -> JSONValue {
        [
            "detail": [
                "error_type": "INVALID_REQUEST",
                "error_message": "Client user id already exists.",
                "user_id": .string(user?.userId ?? ""),
                "created_on": .string(user?.createdAt.ISO8601Format() ?? ""),
            ]
        ]
    }
}
