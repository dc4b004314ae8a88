import FoundationEssentials
import Hummingbird

/// What `POST` and `PATCH /v2/user` take; the fields that the sandbox has no use for are accepted and forgotten.
private struct UserFields: Decodable {
    let clientUserId: String?
    let fallbackTimeZone: String?
}

extension JunctionCloud {
    /// `/v2/user…` of Junction's API.
    func addUserRoutes(to router: Router<CloudContext>) {
        router.post("v2/user") { request, _ in try await createUser(request) }
        router.post("v2/user/undo_delete") { request, _ in try undoDelete(request) }
        router.get("v2/user/resolve/{clientUser}") { request, context in
            let name = try context.parameters.require("clientUser")
            return try api(request) { state, caller, _ in
                let team = try caller.team()
                guard let user = state.users.user(named: name, in: team), user.standing != .deleted else {
                    throw Refusal.api(.notFound, "the team has no such user")
                }
                return UserView(user)
            }
        }
        router.get("v2/user/{user}") { request, context in
            let id = try context.parameters.require("user")
            return try api(request) { state, caller, _ in UserView(try state.user(id, for: caller)) }
        }
        router.patch("v2/user/{user}") { request, context in
            let id = try context.parameters.require("user")
            let fields = try await request.vendorBody(UserFields.self)
            return try apiChange(request) { state, caller, _ in
                var user = try state.user(id, for: caller)
                user.clientUserId = fields.clientUserId ?? user.clientUserId
                user.fallbackTimeZone = fields.fallbackTimeZone ?? user.fallbackTimeZone
                state.users[id] = user
                return Response(status: .noContent)
            }
        }
        router.delete("v2/user/{user}") { request, context in
            let id = try context.parameters.require("user")
            return try apiChange(request) { state, caller, now in
                _ = try caller.team()
                state.delete(try state.user(id, for: caller).id, now: now)
                return try Done.response()
            }
        }
        router.post("v2/user/{user}/sign_in_token") { request, context in
            let id = try context.parameters.require("user")
            let user = try vet(request) { state, caller, _ in
                _ = try caller.team()
                return try state.user(id, for: caller)
            }
            let token = try mint.token(for: user, now: ledger.now)
            return try Response.json(SignInTokenView(userId: user.id, signInToken: token), spelling: .snakeCase)
        }
    }

    private func createUser(_ request: Request) async throws -> Response {
        let fields = try await request.vendorBody(UserFields.self)
        return try apiChange(request) { state, caller, now in
            let team = try caller.team()
            guard let name = fields.clientUserId else {
                throw Refusal(
                    .unprocessableContent,
                    body: ["detail": [["loc": ["body", "client_user_id"], "msg": "field required"]]]
                )
            }
            guard let user = state.users.add(name, to: team, now: now, fallbackTimeZone: fields.fallbackTimeZone) else {
                throw Refusal(.badRequest, body: Self.exists(state.users.user(named: name, in: team)))
            }
            return try .json(UserView(user), spelling: .snakeCase)
        }
    }

    private func undoDelete(_ request: Request) throws -> Response {
        let query = request.uri.queryParameters
        return try apiChange(request) { state, caller, _ in
            let team = try caller.team()
            let user =
                switch (query["user_id"], query["client_user_id"]) {
                case (let id?, nil): state.users[String(id)]
                case (nil, let name?): state.users.user(named: String(name), in: team)
                case (nil, nil), (_?, _?):
                    throw Refusal.api(.badRequest, "send either user_id or client_user_id")
                }
            guard let user, user.team.id == team.id else {
                throw Refusal.api(.notFound, "the team has no such user")
            }
            state.undelete(user.id)
            return try Done.response()
        }
    }

    private static func exists(_ user: User?) -> JSONValue {
        [
            "detail": [
                "error_type": "INVALID_REQUEST",
                "error_message": "Client user id already exists.",
                "user_id": .string(user?.id ?? ""),
                "created_on": .string(user?.createdOn.ISO8601Format() ?? ""),
            ]
        ]
    }
}

private struct SignInTokenView: Encodable {
    let userId: String
    let signInToken: String
}
