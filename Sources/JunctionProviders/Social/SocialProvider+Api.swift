package import JunctionSession

/// social.plus's API, called as the signed-in user.
extension SocialProvider {
    package func admit(_ request: ApiRequest, for identity: Identity) throws(SessionError) -> ApiRequest {
        try SocialApiPolicy(userId: identity.userId).admit(request)
    }

    package func send(
        _ request: ApiRequest,
        for identity: Identity,
        with secrets: SessionSecrets
    ) async throws(Unavailability) -> ApiAnswer {
        guard let token = secrets.accessToken else {
            throw Unavailability("The session has no credential for social.plus's API: sign in again")
        }
        let api = VendorApi(origin: cloud.api, http: http, clock: clock)
        return try await api.send(request, credential: BearerToken.header(token))
    }

    /// A ban is one in the answer to any request. What is refused as unauthorized may be the token's business alone.
    package func verdict(in answer: ApiAnswer) -> Verdict? {
        guard HttpAnswer.mayBeVerdict(status: answer.status),
            answer.body.withUnsafeBytes({ HttpAnswer.socialCode(in: $0) }) == SocialVerdict.globalBan
        else { return nil }
        return SocialVerdict.banned.ofUser
    }
}

/// Which requests are the signed-in user's own business.
///
/// | path, with `v3`, `v4` or `v5` | |
/// |---|---|
/// | `/api/v3/users/{id}…` | the user, and everything below |
/// | `/api/v3/me…` | the same, without the id |
///
/// Channels, communities, posts and other users are not in it: this daemon keeps a login, it is no chat client.
struct SocialApiPolicy {
    let userId: String

    private static let versions: Set<String> = ["v3", "v4", "v5"]
    /// Words of the API that stand where an id stands. No user is called so; one who were would open other resources.
    private static let reserved: Set<String> = ["list", "search"]

    /// The request in normal form.
    func admit(_ request: ApiRequest) throws(SessionError) -> ApiRequest {
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
