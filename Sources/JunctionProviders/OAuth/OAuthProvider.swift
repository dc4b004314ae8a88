import JunctionSecret
package import JunctionSession

/// The provider for any OAuth 2.0 or OpenID Connect server. It has sign-ins by device, by browser, with the refresh
/// token of another program, and by token exchange.
package struct OAuthProvider: IdentityProvider {
    package let name = OAuthDefinition.name
    package let schemes: [Scheme: SchemeTraits] = [
        .device: SchemeTraits(renewsByRefreshToken: true, mayRetryAfterDemand: true, isRevocableAfterExpiry: true),
        .authorizationCode: SchemeTraits(
            renewsByRefreshToken: true,
            mayRetryAfterDemand: true,
            isRevocableAfterExpiry: true
        ),
        .refreshToken: SchemeTraits(
            renewsByRefreshToken: true,
            mayRetryAfterDemand: true,
            isRevocableAfterExpiry: true
        ),
        .tokenExchange: SchemeTraits(),
    ]

    let server: OAuthServer
    let notes = ServerNotes()

    init(setup: OAuthSetup, http: OutgoingHTTP, clock: any SessionClock) {
        server = OAuthServer(setup: setup, http: http, clock: clock)
    }

    var setup: OAuthSetup { server.setup }
    var clock: any SessionClock { server.clock }

    package func examine(
        _ credential: Credential,
        configured: (environment: String, region: String)?
    ) throws(CredentialRefused) -> CredentialFacts {
        if case .device = credential {
            return CredentialFacts(scheme: .device, subject: .unnamed)
        }
        return CredentialFacts(scheme: try OAuthSignIn(credential).scheme, subject: .unnamed)
    }

    package func host(of credential: Credential) -> String? { setup.issuer.place }

    package func exchange(
        _ credential: Credential,
        expecting expected: Identity?,
        store: PartialGrantStore
    ) async throws(ExchangeFailure) -> Grant {
        let signIn = try mappingRefusal(of: try OAuthSignIn(credential), to: ExchangeFailure.refused)
        do throws(SignInFailure) {
            // The user is known only after the exchange. The session revokes the tokens if it expected another user.
            return try await session(of: signIn, at: nil, store)
        } catch {
            switch error {
            case .refused(let words): throw .refused(words)
            case .unavailable(let why): throw .unavailable(why)
            }
        }
    }

    /// - Parameter origins: the endpoint origins of the present session, if there is one.
    func session(
        of signIn: OAuthSignIn,
        at origins: EndpointOrigins?,
        _ store: PartialGrantStore
    ) async throws(SignInFailure) -> Grant {
        let tokens: OAuthTokens
        switch partialGrant(store) {
        case .tokens(let before): return try await grant(before, signIn.granted, store, areKept: true)
        case .refreshToken(let left, let fixed): tokens = try await redeem(left, at: fixed, store)
        case .accessToken, nil: tokens = try await redeem(signIn, at: origins, store)
        }
        return try await grant(tokens, signIn.granted, store)
    }

    /// Returns the partial grant of an earlier attempt. If its access token has expired, only the refresh token is
    /// used.
    func partialGrant(_ store: PartialGrantStore) -> OAuthPartialGrant? {
        let now = clock.now()
        let found = store.found.flatMap { OAuthPartialGrant($0, grantedBy: setup.issuer, now: now) }
        guard case .tokens(let tokens)? = found, tokens.hasEnded(now), let refreshToken = tokens.refreshToken else {
            return found
        }
        return .refreshToken(refreshToken, tokens.origins)
    }

    /// Redeems the refresh token of an earlier attempt that brought no usable access token.
    func redeem(
        _ refreshToken: SharedSecret,
        at origins: EndpointOrigins?,
        _ store: PartialGrantStore
    ) async throws(SignInFailure) -> OAuthTokens {
        let signIn = try mappingRefusal(of: try OAuthSignIn(.refreshToken(refreshToken)), to: SignInFailure.refused)
        return try await redeem(signIn, at: origins, store)
    }

    private func redeem(
        _ signIn: OAuthSignIn,
        at origins: EndpointOrigins?,
        _ store: PartialGrantStore
    ) async throws(SignInFailure) -> OAuthTokens {
        if origins == nil { await server.prepareOrigins(before: .token) }
        let reply = try await mappingUnavailability(
            of: await reply(to: signIn.fields(setup), at: origins),
            to: SignInFailure.unavailable
        )
        switch reply {
        case .granted(var tokens):
            notes.granted(tokens, askedFor: setup.scopes, isSignIn: true)
            // If the answer has no refresh token, the old one stays valid (RFC 6749 §6).
            tokens.refreshToken = tokens.refreshToken ?? signIn.refreshToken
            return tokens
        case .unusable(let unusable):
            throw await keep(unusable, with: store)
        case .trouble(let why):
            throw .unavailable(why)
        case .error(let error, let why):
            notes.received(error)
            switch error {
            case .grant, .denied, .codeExpired, .badCode:
                throw .refused("\(setup.issuer.place) refused \(signIn.words) (\(error.word)): get a new one")
            // Servers report an invalid subject token as `invalid_request` (RFC 8693 §2.2.2).
            case .unexplained(_?) where signIn.scheme == .tokenExchange:
                throw .refused("\(setup.issuer.place) refused \(signIn.words) (\(error.word)): get a new one")
            case .client, .unexplained, .pending, .slowDown, .unknown:
                throw .unavailable(why)
            }
        }
    }

    /// Posts one form to the token endpoint.
    func reply(
        to fields: [FormBody.Field],
        at origins: EndpointOrigins?,
        sendingBy sendDeadline: Uptime? = nil
    ) async throws(Unavailability) -> OAuthReply {
        let endpoint = try await server.required(.token, at: origins)
        let (answer, sentAt) = try await server.post(fields, to: endpoint, sendingBy: sendDeadline)
        return OAuthReply(answer, sentAt: sentAt, now: clock.now(), origins: origins ?? server.origins(token: endpoint))
    }
}

/// The reason why a sign-in failed.
enum SignInFailure: Error, Equatable {
    case refused(String)
    case unavailable(Unavailability)
}
