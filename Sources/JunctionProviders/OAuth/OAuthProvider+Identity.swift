import JunctionSecret
import JunctionSession

/// Finds the user of granted tokens. The id_token or the userinfo endpoint names the user.
extension OAuthProvider {
    /// Returns the grant for tokens, after it has found their user.
    ///
    /// If that needs a second request, the tokens are stored first, because the credential is already spent. The next
    /// attempt continues with them. If the id_token is refused, the tokens are stored so that the session revokes them.
    ///
    /// - Parameter areKept: the tokens come from an earlier attempt and are stored already.
    func grant(
        _ tokens: OAuthTokens,
        _ granted: OAuthSignIn.Granted,
        _ store: PartialGrantStore,
        areKept: Bool = false
    ) async throws(SignInFailure) -> Grant {
        let subject = try await subject(of: tokens, areKept ? nil : store)
        var grant = Grant(
            identity: identity(subject),
            // A session with its own refresh token no longer needs the app's server.
            scheme: granted.subjectTokenType != nil && tokens.refreshToken != nil ? .refreshToken : granted.scheme,
            token: tokens.token(isRenewable: tokens.refreshToken != nil),
            refreshToken: tokens.refreshToken,
            subjectTokenType: granted.subjectTokenType
        )
        grant.endpointOrigins = tokens.origins ?? server.remembered(.token).flatMap(server.origins)
        return grant
    }

    func identity(_ subject: String) -> Identity { Identity(userId: subject, issuer: setup.issuer.text) }

    /// - Parameter store: stores the tokens; `nil` if they are stored already.
    private func subject(
        of tokens: OAuthTokens,
        _ store: PartialGrantStore?
    ) async throws(SignInFailure) -> String {
        switch setup.identity {
        case .idToken:
            guard let token = tokens.idToken else { return try await userinfo(tokens, store) }
            do throws(SignInFailure) {
                return try subject(of: token, by: tokens.clock)
            } catch {
                if let store { try await keep(.tokens(tokens), with: store) }
                throw error
            }
        case .userinfo:
            let subject = try await userinfo(tokens, store)
            // OpenID Connect Core §5.3.2.
            if let idToken = tokens.idToken.flatMap(IdToken.init), !idToken.subject.hasSameBytes(as: subject) {
                throw .refused("\(setup.issuer.place) names one user in the id_token and another in its userinfo")
            }
            return subject
        }
    }

    private func subject(of token: SharedSecret, by serverClock: ServerClock) throws(SignInFailure) -> String {
        guard let idToken = IdToken(token) else {
            throw .refused(
                "\(setup.issuer.place) gave an id_token that cannot be read: turn its encryption off for this client, or "
                    + "set oauth.identity = \"userinfo\""
            )
        }
        let fault = idToken.fault(from: setup.issuer, for: setup.client.id, by: serverClock, now: clock.now().wall)
        if let fault { throw .refused("\(setup.issuer.place) gave an id_token that \(fault)") }
        return idToken.subject
    }

    private func userinfo(
        _ tokens: OAuthTokens,
        _ store: PartialGrantStore?
    ) async throws(SignInFailure) -> String {
        if let store { try await keep(.tokens(tokens), with: store) }
        let endpoint = try await mappingUnavailability(
            of: await server.optional(.userinfo, at: tokens.origins),
            to: SignInFailure.unavailable
        )
        guard let endpoint else { throw .refused(Self.nobody(setup.issuer)) }
        return try await UserinfoEndpoint(url: endpoint, http: server.http, clock: clock).subject(
            with: tokens.accessToken
        )
    }

    private static func nobody(_ issuer: OAuthIssuer) -> String {
        "\(issuer.place) returned no id_token and has no userinfo endpoint, so the user is unknown: add openid to "
            + "oauth.scopes, or set oauth.userinfoEndpoint"
    }
}
