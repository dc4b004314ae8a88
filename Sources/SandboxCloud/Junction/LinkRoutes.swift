import FoundationEssentials
import Hummingbird

extension JunctionCloud {
    /// `/v2/link…` of Junction's API.
    func addLinkRoutes(to router: Router<CloudContext>) {
        router.post("v2/link/code/create") { request, _ in try createLinkCode(request) }
        router.post("v2/link/code/exchange") { request, _ in try exchangeLinkCode(request) }
        router.post("v2/link/token") { request, _ in
            let wanted = try await request.vendorBody(LinkTokenFields.self)
            return try api(request) { state, caller, _ in
                _ = try state.user(wanted.userId, for: caller)
                let token = TokenText.fresh("link_")
                return LinkTokenView(linkToken: token, linkWebUrl: "https://link.invalid/?token=\(token)")
            }
        }
    }

    /// A new link code for a user, good until a moment or for the usual hour.
    func linkCode(for user: String, expiresAt: Date? = nil, origin: String) throws -> LinkCodeView {
        try ledger.change { state, now in
            guard let user = state.junction.users[user] else { throw Refusal.api(.notFound, "there is no such user") }
            let expiresAt = expiresAt ?? now + LinkCodes.lifetime
            let code = state.junction.linkCodes.create(for: user, expiresAt: expiresAt)
            return LinkCodeView(
                code: code,
                exchangeUrl: "\(origin)/v2/link/code/exchange?code=\(code)&grant_type=sign_in_token",
                expiresAt: expiresAt
            )
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
        let code = try linkCode(for: user.id, expiresAt: expiresAt, origin: origin(for: request))
        return try .json(code, spelling: .snakeCase)
    }

    /// Needs no credential: the code is one.
    private func exchangeLinkCode(_ request: Request) throws -> Response {
        let query = request.uri.queryParameters
        guard query["grant_type"] == "sign_in_token" else {
            throw Refusal.api(.badRequest, "grant_type must be sign_in_token")
        }
        let (user, now) = try ledger.change { state, now in
            let owner = state.junction.linkCodes.redeem(String(query["code"] ?? ""), now: now)
            return (owner.flatMap { state.junction.users[$0] }, now)
        }
        guard let user, user.standing == .active else {
            throw Refusal.api(.badRequest, "the link code is unknown, used or expired")
        }
        let enrolment = Enrolment(
            userId: user.id,
            signInToken: try mint.token(for: user, now: now),
            team: Enrolment.TeamView(name: "Sandbox team", logoUrl: nil)
        )
        return try .json(enrolment, spelling: .snakeCase)
    }
}

/// A link code as its maker gets it.
struct LinkCodeView: Codable, Sendable {
    let code: String
    let exchangeUrl: String
    let expiresAt: Date
}

private struct LinkTokenFields: Decodable {
    let userId: String
}

private struct LinkTokenView: Encodable {
    let linkToken: String
    let linkWebUrl: String
}

private struct Enrolment: Encodable {
    struct TeamView: Encodable {
        let name: String
        let logoUrl: String?
    }

    let userId: String
    let signInToken: String
    let team: TeamView
}
