import JunctionJSON
import JunctionSecret
import JunctionSession

/// The sessions endpoint of social.plus. The same call signs a user in and renews, and may be repeated without harm.
struct SessionsEndpoint: Sendable {
    let api: HTTPOrigin
    let device: SocialDevice
    let http: OutgoingHTTP
    let clock: any SessionClock

    /// Requests a session for this user on this device.
    func open(_ login: UserLogin, apiKey: SharedSecret) async throws(Unavailability) -> SessionsAnswer {
        let call = HTTPCall(
            method: "POST",
            origin: api,
            target: "/api/v5/sessions",
            headers: [("content-type", "application/json"), ("accept", "application/json")],
            credentials: [("x-api-key", apiKey)],
            body: .secret(body(of: login)),
            patience: HTTPCall.tokenResponseTimeout
        )
        let sent = clock.now()
        let answer = try await http.answer(to: call)
        let received = clock.now()
        let sentAt = sent.read(by: received)

        if let verdict = SocialVerdict(refusal: answer) { return .verdict(verdict) }
        guard answer.isSuccess else { throw unavailability(answer, now: received.wall) }
        let serverClock = ServerClock(answer, sentAt: sentAt.wall, receivedAt: received.wall)
        guard let read = SessionsAnswer(answer.body, for: login.userId, clock: serverClock, sentAt: sentAt) else {
            throw answer.unreadable("an access token and its times")
        }
        return read
    }

    /// Ends the session of the token. If the token is no longer valid, there is no session to end.
    func close(_ accessToken: SharedSecret) async throws(Unavailability) {
        let call = HTTPCall(
            method: "DELETE",
            origin: api,
            target: "/api/v4/sessions",
            headers: [("accept", "application/json")],
            credentials: [BearerToken.header(accessToken)],
            patience: .seconds(5)
        )
        let answer = try await http.answer(to: call)
        guard answer.isSuccess || SocialVerdict.settlesSignOut(answer) else {
            throw unavailability(answer, now: clock.now().wall)
        }
    }

    private static let tooManyCalls: Int64 = 400_311

    private func body(of login: UserLogin) -> SharedSecret {
        SharedSecret.jsonObject { text in
            text.member("userId", login.userId)
            text.member("deviceId", device.id)
            if let name = login.displayName { text.member("displayName", name) }
            if let token = login.authToken { text.member("authToken", secret: token) }
            text.object("deviceInfo") { text in
                text.member("kind", device.kind)
                text.member("model", device.model)
                text.member("sdkVersion", device.version)
            }
        }
    }

    private func unavailability(_ answer: HTTPAnswer, now: WallTime) -> Unavailability {
        var why = answer.unavailability(now: now)
        guard (400..<500).contains(answer.status), let code = answer.socialCode else { return why }
        why.detail =
            code == Self.tooManyCalls
            ? "\(answer.place) asks to wait (400311)"
            : "\(answer.place) answered with its error \(code): check social.plus's API key and region if it stays"
        return why
    }
}
