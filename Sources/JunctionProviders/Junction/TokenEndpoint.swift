import JunctionSecret
import JunctionSession

/// Junction's token endpoint. Each call posts one form and reads one answer, without a retry.
struct TokenEndpoint: Sendable {
    let http: OutgoingHTTP
    let clock: any SessionClock

    /// Exchanges the JWT of a Sign-In Token.
    func exchange(_ userToken: SharedSecret, at auth: HTTPOrigin) async throws(ExchangeFailure) -> Granted {
        let form = FormBody([
            .text(name: "grant_type", value: "urn:ietf:params:oauth:grant-type:token-exchange"),
            .text(name: "subject_token_type", value: "urn:junction:sign-in-token"),
            .secret(name: "subject_token", value: userToken),
        ])
        let (answer, sentAt) = try await mappingUnavailability(
            of: await post(form, to: auth),
            to: ExchangeFailure.unavailable
        )
        guard answer.isSuccess else { throw refusal(answer) }
        guard let granted = TokenAnswer(answer.body, sentAt: sentAt), granted.refreshToken != nil else {
            throw .unavailable(answer.unreadable("an access token, its life and a refresh token"))
        }
        return Granted(granted, of: answer)
    }

    /// Renews with a refresh token, which may be valid only once.
    ///
    /// - Parameter sendDeadline: the time by which the request must leave, if there is one.
    func renew(
        _ refreshToken: SharedSecret,
        at auth: HTTPOrigin,
        sendingBy sendDeadline: Uptime?
    ) async throws(RenewalFailure) -> Granted {
        let form = FormBody([
            .text(name: "grant_type", value: "refresh_token"),
            .secret(name: "refresh_token", value: refreshToken),
        ])
        let (answer, sentAt) = try await mappingUnavailability(
            of: await post(form, to: auth, sendingBy: sendDeadline),
            to: RenewalFailure.unavailable
        )
        guard answer.isSuccess else { throw verdict(answer) }
        guard let granted = TokenAnswer(answer.body, sentAt: sentAt) else {
            throw .unavailable(answer.unreadable("an access token and its life"))
        }
        return Granted(granted, of: answer)
    }

    /// The tokens of a success. Without a usable access token, `missingAccessToken` says why.
    struct Granted: Sendable {
        let answer: TokenAnswer
        let missingAccessToken: Unavailability?

        fileprivate init(_ answer: TokenAnswer, of http: HTTPAnswer) {
            self.answer = answer
            missingAccessToken =
                answer.token == nil ? http.missingAccessToken("a usable access token and its life") : nil
        }

        func grant(_ identity: Identity) -> Grant {
            var grant = Grant(
                identity: identity,
                scheme: .signInToken,
                token: answer.token,
                refreshToken: answer.refreshToken
            )
            grant.missingAccessToken = missingAccessToken
            return grant
        }
    }

    private func post(
        _ form: FormBody,
        to auth: HTTPOrigin,
        sendingBy sendDeadline: Uptime? = nil
    ) async throws(Unavailability) -> (answer: HTTPAnswer, sentAt: Moment) {
        let sentAt = clock.now()
        let call = HTTPCall(
            method: "POST",
            origin: auth,
            target: "/v1/token",
            headers: [("content-type", FormBody.contentType), ("accept", "application/json")],
            body: .secret(form.encoded),
            patience: HTTPCall.tokenResponseTimeout,
            sendDeadline: sendDeadline.map { $0 - sentAt.uptime }
        )
        return (try await http.answer(to: call), sentAt)
    }

    private func refusal(_ answer: HTTPAnswer) -> ExchangeFailure {
        switch JunctionVerdict(answer) {
        case .invalidToken:
            .refused("Junction refused the Sign-In Token as invalid: get a new one from your backend")
        case .reauthenticationRequired:
            .refused("Junction wants another Sign-In Token for this user: get a new one from your backend")
        case nil:
            .unavailable(answer.unavailability(now: clock.now().wall))
        }
    }

    private func verdict(_ answer: HTTPAnswer) -> RenewalFailure {
        switch JunctionVerdict(answer) {
        case .invalidToken:
            .terminated(code: "invalid_token", message: "Junction no longer knows this user: deleted or disabled")
        case .reauthenticationRequired:
            .reauthenticationRequired
        case nil:
            .unavailable(answer.unavailability(now: clock.now().wall))
        }
    }
}
