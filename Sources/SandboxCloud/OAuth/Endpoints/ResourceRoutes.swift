import FoundationEssentials
import Hummingbird

extension OAuthCloud {
    /// Adds the endpoints that need an access token: `/oauth/userinfo` and an example API.
    func addResourceRoutes(to router: Router<CloudContext>) {
        for method in [HTTPRequest.Method.get, .post] {
            router.on("oauth/userinfo", method: method) { request, _ in try userinfo(request) }
        }
        router.get("oauth-api/v1/whoami") { request, _ in
            try calling(request) { user, login in
                [
                    "sub": .string(user.userId),
                    "name": .string(user.name),
                    "client_id": JSONValue(login.clientId),
                    "scope": .string(login.scopes.joined(separator: " ")),
                ]
            }
        }
        for method in [HTTPRequest.Method.get, .post, .put, .patch, .delete] {
            router.on("oauth-api/v1/echo/**", method: method) { request, context in try await echo(request, context) }
            router.on("oauth-api/v1/echo", method: method) { request, context in try await echo(request, context) }
        }
    }

    private func userinfo(_ request: Request) throws -> Response {
        try calling(request) { user, login in
            guard login.scopes.contains("openid") else {
                throw BearerRefusal(status: .forbidden, error: "insufficient_scope")
            }
            let claims: [String: JSONValue] = ["sub": .string(user.userId), "name": .string(user.name)]
            return claims.overlaid(with: settings.userinfoClaims)
        }
    }

    /// Returns the received request, so that a test can see what a proxy changed in it.
    private func echo(_ request: Request, _ context: CloudContext) async throws -> Response {
        let body = try await request.body.collect(upTo: TrafficMiddleware.longestBody)
        return try calling(request) { user, _ in
            [
                "sub": .string(user.userId),
                "method": .string(request.method.rawValue),
                "path": .string(request.uri.path),
                "query": request.uri.query.map { .string($0) } ?? .null,
                "contentType": request.headers[.contentType].map { .string($0) } ?? .null,
                "body": .string(String(buffer: body)),
            ]
        }
    }

    private func calling(
        _ request: Request,
        _ members: (User, Login) throws -> [String: JSONValue]
    ) throws -> Response {
        do {
            guard request.headers[.authorization] != nil else { throw BearerRefusal.nothingShown }
            let token = request.bearer ?? ""
            guard let caller = store.read({ state, moment in state.oauthCaller(token, at: moment) }) else {
                throw BearerRefusal(status: .unauthorized, error: "invalid_token")
            }
            return try .json(try members(caller.user, caller.login))
        } catch let refusal as BearerRefusal {
            return try refusal.response()
        }
    }
}

/// An error answer of RFC 6750 §3.
private struct BearerRefusal: Error {
    let status: HTTPResponse.Status
    let error: String?

    /// The answer to a request without a token. Its `WWW-Authenticate` header has no error code (RFC 6750 §3.1).
    static let nothingShown = BearerRefusal(status: .unauthorized, error: nil)

    func response() throws -> Response {
        let members: [String: JSONValue] = ["error": .string(error ?? "unauthorized")]
        var response = try Response.json(members, status: status)
        response.headers[.wwwAuthenticate] =
            #"Bearer realm="junction-sandbox""# + (error.map { #", error="\#($0)""# } ?? "")
        return response
    }
}
