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
        let answer = try await api.send(request, credential: BearerToken.header(token))
        guard let stream = answer.stream, HTTPAnswer.mayBeVerdict(status: answer.status) else { return answer }
        http.schedule(in: Self.verdictPatience) { stream.endWait() }
        let body = await withTaskCancellationHandler {
            await stream.whole(atMost: Self.longestVerdict)
        } onCancel: {
            stream.endWait()
        }
        guard let body else { return answer }
        return ApiAnswer(status: answer.status, headers: answer.headers, body: body)
    }

    /// The largest body in which the daemon looks for a verdict, and the longest wait for it. A body that is longer or
    /// slower is passed on as it arrives.
    private static let longestVerdict = 1 << 16
    private static let verdictPatience: Duration = .seconds(5)

    /// Returns a verdict if the answer reports a global ban. An unauthorized answer is not a verdict: it may be about
    /// the token only.
    package func verdict(in answer: ApiAnswer) -> Verdict? {
        guard HTTPAnswer.mayBeVerdict(status: answer.status),
            answer.body.withUnsafeBytes({ HTTPAnswer.socialCode(in: $0) }) == SocialVerdict.globalBan
        else { return nil }
        return Verdict(code: SocialVerdict.banned.code, message: SocialVerdict.banned.message)
    }
}

/// Decides which requests lead to the signed-in user's own resources.
///
/// | path, with `v3`, `v4` or `v5` | |
/// |---|---|
/// | `/api/v3/users/{id}` | the user, with `GET`, `HEAD` and `PUT` |
/// | `/api/v3/users/{id}/…` | everything below except `ban` and `unban` |
/// | `/api/v3/me…` | the same, without the id |
///
/// Channels, communities, posts and other users are not included: the daemon manages a login and is not a chat client.
struct SocialApiPolicy {
    let userId: String

    private static let versions: Set<String> = ["v3", "v4", "v5"]
    /// Words of the API that can stand in the place of an id. A user with such an id would get access to other
    /// resources.
    private static let reserved: Set<String> = ["list", "search"]

    /// The resources below a user that only the backend may use. The comparison ignores case, because a server might.
    private static let ofTheBackend: Set<String> = ["ban", "unban"]

    /// Returns the request in normal form.
    func validate(_ request: ApiRequest) throws(SessionError) -> ApiRequest {
        try request.normalForm(like: "/api/v3/users/{id}…", allowing: .id(userId)) { segments, method in
            guard segments.count >= 3, segments[0] == "api", Self.versions.contains(segments[1]) else { return nil }
            switch segments[2] {
            case "me": return isTheUsers(segments.dropFirst(3), method) ? segments : nil
            case "users": return isOwned(segments) && isTheUsers(segments.dropFirst(4), method) ? segments : nil
            default: return nil
            }
        }
    }

    private func isOwned(_ segments: [String]) -> Bool {
        segments.count >= 4 && segments[3].hasSameBytes(as: userId) && !Self.reserved.contains(userId.lowercased())
    }

    /// Returns whether a request is for the user and not for the backend: a user may change the own profile, and neither
    /// delete the own account nor ban it.
    private func isTheUsers(_ below: ArraySlice<String>, _ method: String) -> Bool {
        below.first.map { !Self.ofTheBackend.contains($0.lowercased()) } ?? ["GET", "HEAD", "PUT"].contains(method)
    }
}
