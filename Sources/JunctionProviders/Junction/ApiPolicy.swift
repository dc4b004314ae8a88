import JunctionJSON
package import JunctionSession

/// Which requests are the signed-in user's own business.
///
/// | path | |
/// |---|---|
/// | `/v2/user/{id}…` | the user, and everything below |
/// | `/v2/user/providers/{id}`, `/v2/user/refresh/{id}` | |
/// | `/v2/summary/*/{id}…`, `/v2/timeseries/{id}…` | |
/// | `/v2/providers` | `GET` and `HEAD` |
/// | `/v2/link/token` | `POST`, with the user's id as `user_id` in the body |
///
/// With a team API key the credential could do anything to anybody, so this is the only fence there is.
struct ApiPolicy {
    let userId: String

    static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    static let headers = CallerHeaders.usual.union(["x-vital-link-token"])
    /// What one line on the socket can carry is less than that anyway.
    static let longestBody = 8 << 20
    static let longestQuery = 8_192

    /// Words of the API that stand where an id stands. No user is called so; one who were would open other doors.
    private static let reserved: Set<String> = ["providers", "refresh", "resolve", "undo_delete"]

    /// The request in normal form: method in capitals, plain path with the id in lower case, headers in lower case.
    func admit(_ request: ApiRequest) throws(Refusal) -> ApiRequest {
        let method = request.method.uppercased()
        guard Self.methods.contains(method) else {
            throw Refusal(
                .invalidParameters,
                "The method must be one of \(Self.methods.sorted().joined(separator: ", "))"
            )
        }
        let path = try PlainPath(request.path)
        guard path.segments.first == "v2", let own = owned(Array(path.segments.dropFirst()), method) else {
            throw Refusal(
                .permissionDenied,
                "The path is not one of the signed-in user's own resources: expected /v2/user/{id}… and the like"
            )
        }
        var admitted = request
        admitted.method = method
        admitted.path = (["", "v2"] + own).joined(separator: "/")
        admitted.headers = try CallerHeaders.admit(request.headers, allowed: Self.headers)
        guard request.query.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.longestQuery else {
            throw Refusal(.invalidParameters, "The query is longer than \(Self.longestQuery) bytes")
        }
        guard request.body?.count ?? 0 <= Self.longestBody else {
            throw Refusal(.invalidParameters, "The body is longer than \(Self.longestBody) bytes")
        }
        if own == ["link", "token"] { try checkLinkToken(admitted) }
        return admitted
    }

    /// The segments below `/v2` with the id in its normal form, or `nil` when they are not the user's own.
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
        guard segments[idAt].lowercased() == userId, !Self.reserved.contains(userId) else { return nil }
        var own = segments
        own[idAt] = userId
        return own
    }

    private func checkLinkToken(_ request: ApiRequest) throws(Refusal) {
        // A body that we cannot read as the server does might name anybody.
        let isPlain = !request.headers.contains { $0.name == "content-encoding" }
        let body = isPlain ? request.body.flatMap { try? JSONValue.parse($0) } : nil
        let ids = body?.members.filter { $0.name.stringEquals("user_id") } ?? []
        guard ids.count == 1, ids[0].value.string?.lowercased() == userId else {
            throw Refusal(
                .permissionDenied,
                "A link token is for the signed-in user only: the body must be JSON with that user's user_id"
            )
        }
    }
}

extension JunctionProvider {
    package func admit(_ request: ApiRequest, for identity: Identity) throws(Refusal) -> ApiRequest {
        try ApiPolicy(userId: identity.userId).admit(request)
    }
}
