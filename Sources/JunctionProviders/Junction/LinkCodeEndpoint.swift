import JunctionJSON
import JunctionSecret
import JunctionSession

/// Junction's endpoint that exchanges a link code for a Sign-In Token. It needs no other credential.
struct LinkCodeEndpoint: Sendable {
    let http: OutgoingHTTP
    let clock: any SessionClock

    /// Exchanges the code, which can be used only once.
    func exchange(_ code: LinkCode, at api: HTTPOrigin) async throws(ExchangeFailure) -> SharedSecret {
        let call = HTTPCall(
            method: "POST",
            origin: api,
            target: "/v2/link/code/exchange?code=\(code.text)&grant_type=sign_in_token",
            headers: [("accept", "application/json")]
        )
        let answer = try await mappingUnavailability(of: await http.answer(to: call), to: ExchangeFailure.unavailable)

        let body = answer.body.json
        guard answer.isSuccess else {
            guard answer.mayBeVerdict, body?.kind == .object else {
                throw .unavailable(answer.unavailability(now: clock.now().wall))
            }
            throw .refused("Junction refused the link code: it may be mistyped, used or expired; get a new one")
        }
        guard let token = body?["sign_in_token"]?.secret else {
            throw .unavailable(answer.unreadable("a Sign-In Token"))
        }
        return token
    }
}
