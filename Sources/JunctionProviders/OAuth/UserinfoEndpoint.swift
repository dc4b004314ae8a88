import JunctionJSON
import JunctionSecret
import JunctionSession

/// Who has signed in, as OpenID Connect's userinfo endpoint tells it (Core §5.3).
struct UserinfoEndpoint: Sendable {
    let url: HttpUrl
    let http: OutgoingHttp
    let clock: any SessionClock

    func subject(with accessToken: SharedSecret) async throws(SignInFailure) -> String {
        let call = HttpCall(
            method: "GET",
            origin: url.origin,
            target: url.target,
            headers: [BearerToken.header(accessToken), ("accept", "application/json")],
            patience: HttpCall.tokenPatience
        )
        let answer: HttpAnswer
        do throws(Unavailability) {
            answer = try await http.answerOrDelay(to: call)
        } catch {
            throw .unavailable(error)
        }
        guard !answer.mayBeVerdict else {
            throw .refused(
                "\(answer.place) does not tell who has signed in (\(answer.status)): put openid among oauth.scopes"
            )
        }
        guard answer.isSuccess else { throw .unavailable(answer.unavailability(now: clock.now().wall)) }
        guard let members = OAuthMembers(answer.body) else {
            throw .unavailable(answer.unreadable("a JSON text that tells who has signed in"))
        }
        guard let subject = members.json("sub")?.string, Subject.isValid(subject) else {
            throw .refused("\(answer.place) told of a user without an id (sub): it is no OpenID Connect server")
        }
        return subject
    }
}
