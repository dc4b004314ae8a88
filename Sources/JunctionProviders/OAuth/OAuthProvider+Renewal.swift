import JunctionSecret
package import JunctionSession

/// Renews a session with its refresh token, or with a subject token of the app's server.
extension OAuthProvider {
    package func renew(
        _ identity: Identity,
        with secrets: SessionSecrets,
        using answer: RenewalAnswer,
        sendingBy sendDeadline: Uptime?,
        store: PartialGrantStore
    ) async throws(RenewalFailure) -> Grant {
        // A token is sent only to the server that issued it.
        guard setup.issuer.isNamed(identity.issuer) else {
            throw .unavailable(
                Unavailability(
                    "The session is of \(identity.issuer ?? "no issuer"), and oauth.issuer is \(setup.issuer.text): set it "
                        + "back, or sign out",
                    cause: .configuration
                )
            )
        }
        return switch answer {
        case .renew: try await renew(identity, with: secrets, sendingBy: sendDeadline)
        case .authToken(let token): try await renew(identity, with: secrets, exchanging: token, store)
        case .signature: throw .answerRefused("An OAuth server takes no signature: answer with a subject token")
        }
    }

    private func renew(
        _ identity: Identity,
        with secrets: SessionSecrets,
        sendingBy sendDeadline: Uptime?
    ) async throws(RenewalFailure) -> Grant {
        guard let refreshToken = secrets.refreshToken else { throw .reauthenticationRequired }
        let fields = OAuthSignIn.renewal(refreshToken)
        let reply = try await mappingUnavailability(
            of: await reply(to: fields, at: secrets.endpointOrigins, sendingBy: sendDeadline),
            to: RenewalFailure.unavailable
        )
        switch reply {
        case .granted(let tokens):
            notes.granted(tokens, askedFor: setup.scopes, isSignIn: false)
            var grant = Grant(
                identity: owner(by: tokens.idToken, after: identity),
                scheme: .refreshToken,
                // If the answer has no refresh token, the session keeps its present one.
                token: tokens.token(isRenewable: true),
                refreshToken: tokens.refreshToken
            )
            grant.endpointOrigins = tokens.origins
            return grant
        case .unusable(let unusable):
            guard let successor = unusable.refreshToken else { throw .unavailable(unusable.why) }
            var grant = Grant(
                identity: owner(by: unusable.idToken, after: identity),
                scheme: .refreshToken,
                token: nil,
                refreshToken: successor
            )
            grant.missingAccessToken = unusable.why
            return grant
        case .trouble(let why):
            throw .unavailable(why)
        case .error(let error, let why):
            notes.received(error)
            switch error {
            case .grant, .codeExpired:
                throw .reauthenticationRequired
            case .unexplained, .unknown, .client, .pending, .slowDown, .denied, .badCode:
                throw .unavailable(why)
            }
        }
    }

    /// Returns the identity in a renewal's answer. The answer need not name the user, because the refresh token belongs
    /// to the session. If its id_token names a user, it must be the same user (OpenID Connect Core §12.2), and the
    /// session refuses another one. An id_token with another issuer name is ignored: some servers use two names.
    private func owner(by idToken: SharedSecret?, after identity: Identity) -> Identity {
        guard let idToken = idToken.flatMap(IdToken.init), setup.issuer.isNamed(idToken.issuer) else {
            return identity
        }
        return self.identity(idToken.subject)
    }

    /// Renews by token exchange. The app's server could make a token for any user, so the answer must name the user at
    /// a renewal, too.
    private func renew(
        _ identity: Identity,
        with secrets: SessionSecrets,
        exchanging token: SharedSecret,
        _ store: PartialGrantStore
    ) async throws(RenewalFailure) -> Grant {
        guard let type = secrets.subjectTokenType else {
            throw .answerRefused("The session was not signed in by token exchange: it takes no subject token")
        }
        let signIn = try mappingRefusal(
            of: try OAuthSignIn(.tokenExchange(subjectToken: token, subjectTokenType: type))
        ) { _ in RenewalFailure.answerRefused("The session handler's subject token is malformed") }
        do throws(SignInFailure) {
            var grant = try await session(of: signIn, at: secrets.endpointOrigins, store)
            // The session keeps its refresh token if the answer has none, so a token without a life is renewed soon.
            if secrets.refreshToken != nil, grant.token?.life.end == nil {
                grant.token?.life.end = clock.now().uptime + OAuthTokens.assumedLife
            }
            return grant
        } catch {
            switch error {
            case .refused(let words): throw .answerRefused(words)
            case .unavailable(var why):
                // The handler's next token may be taken.
                why.isUnexplainedRefusal = false
                throw .unavailable(why)
            }
        }
    }

    /// Revokes the session's token at the server (RFC 7009), if the server has a revocation endpoint.
    ///
    /// The revocation is complete after a success, or after an error that is about the token. A status alone may come
    /// from a gateway, and an error about the client can be corrected, so both are retried.
    package func revoke(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability) {
        guard setup.issuer.isNamed(identity.issuer) else { return }
        let (refreshToken, accessToken) = (secrets.refreshToken, secrets.accessToken)
        try await revoke(
            Revocable(refreshToken: refreshToken, accessToken: accessToken, origins: secrets.endpointOrigins)
        )
    }

    func revoke(_ tokens: Revocable) async throws(Unavailability) {
        guard !tokens.fields.isEmpty, let endpoint = try await server.optional(.revocation, at: tokens.origins) else {
            return
        }
        let (answer, _) = try await server.post(tokens.fields, to: endpoint, patience: Self.revocationPatience)
        let now = clock.now().wall
        guard let error = OAuthError(answer, OAuthMembers(answer.body)) else {
            if !answer.isSuccess { throw answer.unavailability(now: now) }
            return
        }
        notes.received(error)
        if !error.settlesRevocation { throw answer.unavailability(saying: error, now: now) }
    }

    private static let revocationPatience: Duration = .seconds(5)
}
