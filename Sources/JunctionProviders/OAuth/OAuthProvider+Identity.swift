import JunctionSecret
import JunctionSession

/// Whose tokens they are. A server tells that with the tokens or, asked with them, a moment later.
extension OAuthProvider {
    /// What tokens come to: a session, once it is known whose.
    ///
    /// Where that cannot be learnt now, the tokens wait for the same credential's next try: it is spent already.
    func grant(
        _ tokens: OAuthTokens,
        of credential: SharedSecret,
        _ granted: OAuthSignIn.Granted,
        since era: KeptTokens.Era
    ) async throws(SignInFailure) -> Grant {
        do throws(SignInFailure) {
            let subject = try await subject(of: tokens)
            kept.forget(credential)
            var grant = Grant(
                identity: identity(subject),
                // What has a refresh token of its own needs no app's server any more.
                scheme: granted.subjectTokenType != nil && tokens.refreshToken != nil ? .refreshToken : granted.scheme,
                token: tokens.token(isRenewable: tokens.refreshToken != nil),
                refreshToken: tokens.refreshToken,
                subjectTokenType: tokens.refreshToken == nil ? granted.subjectTokenType : nil
            )
            grant.endpointOrigins = tokens.origins ?? server.remembered(.token).flatMap(server.origins)
            return grant
        } catch {
            switch error {
            case .refused:
                kept.forget(credential)
                await giveUp(tokens.revocation)
            case .unavailable:
                await keep(.tokens(tokens), of: credential, since: era)
            }
            throw error
        }
    }

    func identity(_ subject: String) -> Identity { Identity(userId: subject, issuer: setup.issuer.text) }

    private func subject(of tokens: OAuthTokens) async throws(SignInFailure) -> String {
        switch setup.identity {
        case .idToken:
            guard let token = tokens.idToken else { return try await userinfo(tokens) }
            guard let idToken = IdToken(token) else {
                throw .refused(
                    "\(setup.issuer.place) gave an id_token that cannot be read: turn its encryption off for this client, or "
                        + "set oauth.identity = \"userinfo\""
                )
            }
            let fault = idToken.fault(from: setup.issuer, for: setup.client.id, by: tokens.clock, now: clock.now().wall)
            if let fault { throw .refused("\(setup.issuer.place) gave an id_token that \(fault)") }
            return idToken.subject
        case .userinfo:
            let subject = try await userinfo(tokens)
            // OpenID Connect Core §5.3.2.
            if let idToken = tokens.idToken.flatMap(IdToken.init), !idToken.subject.hasSameBytes(as: subject) {
                throw .refused("\(setup.issuer.place) names one user in the id_token and another in its userinfo")
            }
            return subject
        }
    }

    private func userinfo(_ tokens: OAuthTokens) async throws(SignInFailure) -> String {
        let endpoint: HttpUrl?
        do throws(Unavailability) {
            endpoint = try await server.optional(.userinfo, at: tokens.origins)
        } catch {
            throw .unavailable(error)
        }
        guard let endpoint else { throw .refused(Self.nobody(setup.issuer)) }
        return try await UserinfoEndpoint(url: endpoint, http: server.http, clock: clock).subject(
            with: tokens.accessToken
        )
    }

    private static func nobody(_ issuer: OAuthIssuer) -> String {
        "\(issuer.place) tells neither by an id_token nor by a userinfo endpoint who has signed in: put openid among "
            + "oauth.scopes, or set oauth.userinfoEndpoint"
    }
}
