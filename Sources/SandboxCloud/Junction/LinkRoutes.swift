import FoundationEssentials
import Hummingbird

extension JunctionCloud {
    func addLinkRoutes(to router: Router<CloudContext>) {
        router.post("v2/link/code/create") { request, _ in try createLinkCode(request) }
        router.post("v2/link/code/exchange") { request, _ in try exchangeLinkCode(request) }
        router.post("v2/link/token") { request, _ in
            let wanted = try await request.vendorBody(LinkTokenFields.self)
            return try api(request) { state, caller, _ in
                _ = try state.user(wanted.userId, for: caller)
                let token = TokenText.fresh("link_")
                return ["link_token": token, "link_web_url": "https://link.invalid/?token=\(token)"]
            }
        }
    }

    /// The default lifetime of a link code, in seconds.
    private static let usualLifetime = 3600.0

    /// Creates a link code for a user, which expires at the given time or after an hour.
    func linkCode(for user: User, expiresAt: Date? = nil, origin: String) throws -> [String: String] {
        let code = (user.junction?.team.linkCodePrefix ?? "") + TokenText.fresh("").prefix(8)
        return try store.change { state, moment in
            let expiresAt = expiresAt ?? moment.now + Self.usualLifetime
            state.proofs.issueCredential(code, kind: "link_code", for: user.userId, isSingleUse: true, until: expiresAt)
            return [
                "code": code,
                "exchange_url": "\(origin)/v2/link/code/exchange?code=\(code)&grant_type=sign_in_token",
                "expires_at": expiresAt.ISO8601Format(),
            ]
        }
    }

    private func createLinkCode(_ request: Request) throws -> Response {
        let query = request.uri.queryParameters
        let user = try vet(request) { state, caller, _ in
            _ = try caller.team()
            return try state.user(String(query["user_id"] ?? ""), for: caller)
        }
        let expiresAt = try query["expires_at"].map { text in
            guard let moment = try? Date(String(text), strategy: .iso8601) else {
                throw Refusal.api(
                    .unprocessableContent,
                    "expires_at must be an ISO 8601 time, such as 2026-01-31T12:00:00Z"
                )
            }
            return moment
        }
        let code = try linkCode(for: user, expiresAt: expiresAt, origin: request.origin(over: scheme))
        return try .json(code)
    }

    /// Needs no other credential, because the code is one.
    private func exchangeLinkCode(_ request: Request) throws -> Response {
        let query = request.uri.queryParameters
        guard query["grant_type"] == "sign_in_token" else {
            throw Refusal.api(.badRequest, "grant_type must be sign_in_token")
        }
        let (user, now) = try store.change { state, moment in
            let code = (query["code"] ?? "").lowercased()
            let owner = state.proofs.redeem(code, kind: "link_code", now: moment.now)
            return (owner.flatMap { state.users[.junction, $0] }, moment.now)
        }
        guard let user, user.isActive else {
            throw Refusal.api(.badRequest, "the link code is unknown, used or expired")
        }
        return try .json(
            [
                "user_id": .string(user.userId), "sign_in_token": .string(try mint.token(for: user, now: now)),
                "team": ["name": "Sandbox team"],
            ] as JSONValue
        )
    }
}

private struct LinkTokenFields: Decodable {
    let userId: String
}
