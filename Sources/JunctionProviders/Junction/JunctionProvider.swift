import JunctionSecret
package import JunctionSession

/// The provider for Junction: Sign-In Tokens, link codes and team API keys.
package struct JunctionProvider: IdentityProvider {
    package let name = JunctionDefinition.name
    package let schemes: [Scheme: SchemeTraits] = [
        .signInToken: SchemeTraits(renewsByRefreshToken: true),
        .linkCode: SchemeTraits(renewsByRefreshToken: true),
        .apiKey: SchemeTraits(reachesProvider: false),
    ]

    let cloud: JunctionCloud
    let http: OutgoingHTTP
    let clock: any SessionClock
    /// Whether a team API key for production is allowed.
    var takesProductionKeys = false

    package func examine(
        _ credential: Credential,
        configured: (environment: String, region: String)?
    ) throws(CredentialRefused) -> CredentialFacts {
        switch credential {
        case .signInToken(let token):
            return CredentialFacts(scheme: .signInToken, subject: .user(try SignInToken(token).identity))
        case .linkCode(let code):
            _ = try LinkCode(code)
            return CredentialFacts(scheme: .linkCode, subject: .unnamed)
        case .apiKey(let key, let userId, let environment, let region):
            let apiKey = try TeamApiKey(
                key: key,
                userId: userId,
                environment: environment,
                region: region,
                configured: configured
            )
            guard takesProductionKeys || apiKey.site.environment != .production else {
                throw .unsupported(
                    "A team API key is for evaluation in the sandbox: sign in with a Sign-In Token, or set "
                        + "junction.apiKeyInProduction to take one for production"
                )
            }
            return CredentialFacts(scheme: .apiKey, subject: apiKey.subject)
        case .userLogin, .registration, .registrationSignature, .selfSigned, .device, .authorizationCode,
            .refreshToken, .tokenExchange:
            throw .unsupported(
                "Junction has no scheme \(credential.scheme.rawValue): use signInToken, linkCode or apiKey"
            )
        }
    }

    package func host(of credential: Credential) -> String? {
        switch credential {
        case .signInToken(let token): (try? SignInToken(token)).map { cloud.auth($0.site).place }
        case .linkCode(let code): (try? LinkCode(code)).map { cloud.api($0.site).place }
        case .apiKey, .userLogin, .registration, .registrationSignature, .selfSigned, .device, .authorizationCode,
            .refreshToken, .tokenExchange:
            nil
        }
    }

    package func exchange(
        _ credential: Credential,
        expecting expected: Identity?,
        store: PartialGrantStore
    ) async throws(ExchangeFailure) -> Grant {
        // `examine` has checked the credential before, so parsing fails only if the caller skipped `examine`.
        switch credential {
        case .signInToken(let token):
            return try await exchange(
                try mappingRefusal(of: try SignInToken(token), to: ExchangeFailure.refused),
                expecting: expected
            )
        case .linkCode(let code):
            return try await exchange(
                try mappingRefusal(of: try LinkCode(code), to: ExchangeFailure.refused),
                expecting: expected,
                store
            )
        case .apiKey(let key, _, _, _):
            let facts = try mappingRefusal(of: try examine(credential, configured: nil), to: ExchangeFailure.refused)
            guard case .user(let identity) = facts.subject else {
                throw .refused("An API key without a user id signs nobody in: add the user id")
            }
            try check(identity, is: expected)
            // No request is needed: the key itself is the credential of every call.
            return Grant(identity: identity, scheme: .apiKey, token: nil, refreshToken: nil, apiKey: key)
        case .userLogin, .registration, .registrationSignature, .selfSigned, .device, .authorizationCode,
            .refreshToken, .tokenExchange:
            throw .refused("Junction has no scheme \(credential.scheme.rawValue)")
        }
    }

    package func renew(
        _ identity: Identity,
        with secrets: SessionSecrets,
        using answer: RenewalAnswer,
        sendingBy sendDeadline: Uptime?,
        // Unused: a renewal needs no partial grant.
        store _: PartialGrantStore
    ) async throws(RenewalFailure) -> Grant {
        return switch answer {
        case .renew: try await renew(identity, with: secrets, sendingBy: sendDeadline)
        case .authToken(let token): try await renew(identity, with: token)
        case .signature: throw .answerRefused("Junction has no signature scheme: answer with a Sign-In Token")
        }
    }

    /// Does nothing: Junction has no revocation, so a sign-out is local.
    package func revoke(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability) {}

    /// Renews with a new Sign-In Token from the app's server instead of the refresh token.
    private func renew(_ identity: Identity, with token: SharedSecret) async throws(RenewalFailure) -> Grant {
        let signInToken = try mappingRefusal(of: try SignInToken(token)) { _ in
            RenewalFailure.answerRefused("The session handler's Sign-In Token is malformed")
        }
        guard signInToken.identity.isSameUser(as: identity) else {
            throw .answerRefused("The session handler's Sign-In Token is for another user")
        }
        do throws(ExchangeFailure) {
            return try await grant(signInToken, expecting: identity)
        } catch {
            switch error {
            case .refused(let reason): throw .answerRefused(reason)
            case .otherUser: throw .answerRefused("The Sign-In Token is for another user")
            case .terminated(let code, let message): throw .terminated(code: code, message: message)
            case .unavailable(let unavailability): throw .unavailable(unavailability)
            }
        }
    }

    private func renew(
        _ identity: Identity,
        with secrets: SessionSecrets,
        sendingBy sendDeadline: Uptime?
    ) async throws(RenewalFailure) -> Grant {
        // Without both of them no retry can succeed.
        guard let refreshToken = secrets.refreshToken, let site = JunctionSite(of: identity) else {
            throw .reauthenticationRequired
        }
        let endpoint = TokenEndpoint(http: http, clock: clock)
        return try await endpoint.renew(refreshToken, at: cloud.auth(site), sendingBy: sendDeadline).grant(identity)
    }
}

extension JunctionProvider {
    private func exchange(
        _ code: LinkCode,
        expecting expected: Identity?,
        _ store: PartialGrantStore
    ) async throws(ExchangeFailure) -> Grant {
        let token = try await token(of: code, store)
        guard token.site == code.site else {
            throw .refused("The link code leads to another environment or region than it names: get a new one")
        }
        return try await exchange(token, expecting: expected)
    }

    /// Returns the Sign-In Token for the code. An earlier attempt may have stored it, because the code can be used only
    /// once.
    private func token(of code: LinkCode, _ store: PartialGrantStore) async throws(ExchangeFailure) -> SignInToken {
        if let found = store.found.flatMap({ try? SignInToken($0) }) { return found }
        let api = cloud.api(code.site)
        let brought = try await LinkCodeEndpoint(http: http, clock: clock).exchange(code, at: api)
        guard let token = try? SignInToken(brought) else {
            throw .unavailable(
                Unavailability("\(api.place) answered the link code with an unreadable Sign-In Token", ambiguous: true)
            )
        }
        guard await store.keep(brought) else {
            throw .unavailable(Unavailability("Nobody waits for the sign-in any more"))
        }
        return token
    }

    /// Exchanges a Sign-In Token at a sign-in. Without a usable access token the sign-in fails, because there is no
    /// session yet that could keep the refresh token.
    private func exchange(_ token: SignInToken, expecting expected: Identity?) async throws(ExchangeFailure) -> Grant {
        let grant = try await grant(token, expecting: expected)
        if var why = grant.missingAccessToken {
            why.ambiguous = true
            throw .unavailable(why)
        }
        return grant
    }

    private func grant(_ token: SignInToken, expecting expected: Identity?) async throws(ExchangeFailure) -> Grant {
        try check(token.identity, is: expected)
        let endpoint = TokenEndpoint(http: http, clock: clock)
        return try await endpoint.exchange(token.userToken, at: cloud.auth(token.site)).grant(token.identity)
    }

    private func check(_ identity: Identity, is expected: Identity?) throws(ExchangeFailure) {
        guard let expected, !identity.isSameUser(as: expected) else { return }
        throw .otherUser(identity)
    }
}

extension TeamApiKey {
    fileprivate var subject: CredentialFacts.Subject {
        guard let userId else {
            return .nobody(environment: site.environment.rawValue, region: site.region.rawValue)
        }
        return .user(site.identity(userId: userId))
    }
}
