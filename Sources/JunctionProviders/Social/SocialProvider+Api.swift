package import JunctionSession

/// Calls social.plus's API as the signed-in user.
extension SocialProvider {
    package func validate(_ request: ApiRequest, for identity: Identity) throws(SessionError) -> ApiRequest {
        try SocialApiPolicy(userId: identity.userId).validate(request)
    }

    package func send(
        _ request: ApiRequest,
        for identity: Identity,
        with secrets: SessionSecrets
    ) async throws(Unavailability) -> ApiAnswer {
        guard let token = secrets.accessToken else {
            throw Unavailability("The session has no credential for social.plus's API: sign in again")
        }
        let api = ProviderApi(origin: cloud.api, http: http, clock: clock)
        return try await api.send(request, credential: BearerToken.header(token))
    }

    /// Returns a verdict if the answer reports a global ban. An unauthorized answer is not a verdict: it may be about
    /// the token only.
    package func verdict(in answer: ApiAnswer) -> Verdict? {
        guard HttpAnswer.mayBeVerdict(status: answer.status),
            answer.body.withUnsafeBytes({ HttpAnswer.socialCode(in: $0) }) == SocialVerdict.globalBan
        else { return nil }
        return SocialVerdict.banned.ofUser
    }
}

/// Decides which requests lead to the signed-in user's own resources.
///
/// | path, with `v3`, `v4` or `v5` | |
/// |---|---|
/// | `/api/v3/users/{id}…` | the user, and everything below |
/// | `/api/v3/me…` | the same, without the id |
///
/// Channels, communities, posts and other users are not included: the daemon manages a login and is not a chat client.
struct SocialApiPolicy {
    let userId: String

    private static let versions: Set<String> = ["v3", "v4", "v5"]
    /// Words of the API that can stand in the place of an id. A user with such an id would get access to other
    /// resources.
    private static let reserved: Set<String> = ["list", "search"]

    /// Returns the request in normal form.
    func validate(_ request: ApiRequest) throws(SessionError) -> ApiRequest {
        try request.normalForm(headers: CallerHeaders.usual, like: "/api/v3/users/{id}…", allowing: .id(userId)) {
            segments,
            _ in
            guard segments.count >= 3, segments[0] == "api", Self.versions.contains(segments[1]) else { return nil }
            switch segments[2] {
            case "me": return segments
            case "users": return owned(segments)
            default: return nil
            }
        }
    }

    private func owned(_ segments: [String]) -> [String]? {
        guard segments.count >= 4, segments[3].hasSameBytes(as: userId),
            !Self.reserved.contains(userId.lowercased())
        else { return nil }
        return segments
    }
}
