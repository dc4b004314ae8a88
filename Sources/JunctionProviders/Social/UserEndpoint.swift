import JunctionJSON
import JunctionSecret
import JunctionSession
import JunctionText

/// social.plus's user endpoint. The user's own entry shows whether the provider refused a session because of the user.
struct UserEndpoint: Sendable {
    let api: HTTPOrigin
    let http: OutgoingHTTP
    let clock: any SessionClock

    /// Returns the verdict on the user, or `nil` if the user is neither banned nor deleted.
    ///
    /// - Parameter accessToken: a valid token. With an expired one the provider answers as for a deleted user.
    func look(at userId: String, with accessToken: SharedSecret) async throws(Unavailability) -> SocialVerdict? {
        let call = HTTPCall(
            method: "GET",
            origin: api,
            target: "/api/v3/users/\(PercentEncoding.encode(userId))",
            headers: [("accept", "application/json")],
            credentials: [BearerToken.header(accessToken)],
            patience: HTTPCall.tokenResponseTimeout
        )
        let answer = try await http.answer(to: call)
        if let verdict = SocialVerdict(refusal: answer) { return verdict }
        guard answer.isSuccess else { throw answer.unavailability(now: clock.now().wall) }
        let users = answer.body.json?["users"]
        guard users?.elements.contains(where: { $0["userId"]?.string?.hasSameBytes(as: userId) == true }) == true else {
            throw answer.unreadable("the user who was asked for")
        }
        return SocialVerdict(users: users, userId: userId)
    }
}
