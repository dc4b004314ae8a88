import JunctionJSON
import JunctionSecret
import JunctionSession

/// The userinfo endpoint of OpenID Connect (Core §5.3), which names the user of a token.
///
/// Only a success can make a sign-in fail permanently. Other statuses and errors do not: a replica may not know a new
/// token yet, and a gateway may answer instead of the server.
struct UserinfoEndpoint: Sendable {
    let url: HTTPURL
    let http: OutgoingHTTP
    let clock: any SessionClock

    func subject(with accessToken: SharedSecret) async throws(SignInFailure) -> String {
        let call = HTTPCall(
            method: "GET",
            origin: url.origin,
            target: url.target,
            headers: [("accept", "application/json")],
            credentials: [BearerToken.header(accessToken)],
            patience: HTTPCall.tokenResponseTimeout
        )
        let answer = try await mappingUnavailability(of: await http.answer(to: call), to: SignInFailure.unavailable)
        let members = OAuthMembers(answer.body)
        let error = OAuthError(answer, members)
        guard !answer.mayBeVerdict, error == nil else {
            throw .unavailable(
                Unavailability(
                    "\(answer.place) does not tell who has signed in (\(error?.word ?? "\(answer.status)")): if that does "
                        + "not pass, put openid among oauth.scopes",
                    retryAfter: answer.retryAfter(now: clock.now().wall)
                )
            )
        }
        guard answer.isSuccess else { throw .unavailable(answer.unavailability(now: clock.now().wall)) }
        guard let members else {
            throw .unavailable(answer.unreadable("a JSON text that tells who has signed in"))
        }
        guard let subject = members.json("sub")?.string, Subject.isValid(subject) else {
            throw .refused("\(answer.place) told of a user without an id (sub): it is no OpenID Connect server")
        }
        return subject
    }
}
