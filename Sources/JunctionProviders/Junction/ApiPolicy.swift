import JunctionJSON
package import JunctionSession

/// Decides which requests lead to the signed-in user's own resources.
///
/// | path | |
/// |---|---|
/// | `/v2/user/{id}` | `GET`: only the backend may change or delete the user |
/// | `/v2/user/{id}/…` | everything below, except `sign_in_token`: only the backend decides who may sign in |
/// | `/v2/user/providers/{id}`, `/v2/user/refresh/{id}` | |
/// | `/v2/summary/*/{id}…`, `/v2/timeseries/{id}…` | |
/// | `/v2/providers` | `GET` and `HEAD` |
/// | `/v2/link/token` | `POST`, with the user's id as `user_id` in the body |
///
/// A team API key could act for every user, so only this policy protects the other users.
struct ApiPolicy {
    let userId: String

    /// Words of the API that can stand in the place of an id. A user with such an id would get access to other
    /// resources.
    private static let reserved: Set<String> = ["providers", "refresh", "resolve", "undo_delete"]

    /// The resource that only the backend may use. The comparison ignores case, because a server might.
    private static let ofTheBackend = "sign_in_token"

    /// Returns the request in normal form, with the id in lower case.
    func validate(_ request: ApiRequest) throws(SessionError) -> ApiRequest {
        if request.path.hasPrefix("/v2/link/provider/") { throw Self.takesLinkToken }
        let admitted = try request.normalForm(like: "/v2/user/{id}…") { segments, method in
            guard segments.first == "v2" else { return nil }
            return owned(Array(segments.dropFirst()), method).map { ["v2"] + $0 }
        }
        if admitted.path == "/v2/link/token" { try checkLinkToken(admitted) }
        return admitted
    }

    /// Returns the segments below `/v2` with the id in its normal form, or `nil` if they are not the user's own.
    private func owned(_ segments: [String], _ method: String) -> [String]? {
        let idAt: Int
        switch (segments.first, segments.count) {
        case ("providers", 1): return method == "GET" || method == "HEAD" ? segments : nil
        case ("link", 2): return segments[1] == "token" && method == "POST" ? segments : nil
        case ("user", 3) where segments[1] == "providers" || segments[1] == "refresh": idAt = 2
        case ("user", 2...), ("timeseries", 2...): idAt = 1
        case ("summary", 3...): idAt = 2
        default: return nil
        }
        guard segments[idAt].lowercased().hasSameBytes(as: userId), !Self.reserved.contains(userId) else { return nil }
        guard segments[0] != "user" || idAt != 1 || isTheUsers(segments.dropFirst(2), method) else { return nil }
        var own = segments
        own[idAt] = userId
        return own
    }

    /// Returns whether a resource below `user/{id}` is for the user and not for the backend.
    private func isTheUsers(_ below: ArraySlice<String>, _ method: String) -> Bool {
        below.first.map { $0.lowercased() != Self.ofTheBackend } ?? (method == "GET")
    }

    /// Only Junction can tell to which user a link token belongs. The daemon may hold a team API key, so it adds no
    /// credential to a request with a link token.
    private static let takesLinkToken = SessionError(
        .permissionDenied,
        "The daemon does not send requests below /v2/link/provider, because they need a link token. Get one with "
            + "POST /v2/link/token, and send it to Junction yourself in the header x-vital-link-token",
        remedy: "call Junction directly with the link_token that 'junctionctl api POST /v2/link/token' brings"
    )

    private func checkLinkToken(_ request: ApiRequest) throws(SessionError) {
        // A compressed body cannot be checked, and could name another user.
        let isPlain = !request.headers.contains { $0.name == "content-encoding" }
        let body = isPlain ? request.body.flatMap { try? JSONValue.parse($0) } : nil
        let ids = body?.members.filter { $0.name.stringEquals("user_id") } ?? []
        guard ids.count == 1, ids[0].value.string?.lowercased().hasSameBytes(as: userId) == true else {
            throw SessionError(
                .permissionDenied,
                "A link token is for the signed-in user only: the body must be JSON with that user's user_id"
            )
        }
    }
}

extension JunctionProvider {
    package func validate(_ request: ApiRequest, for identity: Identity) throws(SessionError) -> ApiRequest {
        try ApiPolicy(userId: identity.userId).validate(request)
    }
}
