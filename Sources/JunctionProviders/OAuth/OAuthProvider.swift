import JunctionSecret
package import JunctionSession

/// A server that speaks OAuth 2.0 or OpenID Connect: sign-ins by device, by browser, with another tool's login, and with
/// what an app's own server makes.
package struct OAuthProvider: IdentityProvider {
    package let name = OAuthVendor.name
    package let schemes: [Scheme: SchemeTraits] = [
        .device: SchemeTraits(renewsByRefreshToken: true, demandMayPass: true, proofOutlivesToken: true),
        .authorizationCode: SchemeTraits(renewsByRefreshToken: true, demandMayPass: true, proofOutlivesToken: true),
        .refreshToken: SchemeTraits(renewsByRefreshToken: true, demandMayPass: true, proofOutlivesToken: true),
        .tokenExchange: SchemeTraits(),
    ]

    let server: OAuthServer
    let kept: KeptTokens
    /// The first pause before a server is told again of tokens that nobody wants.
    let pause: Duration
    let notes = ServerNotes()

    package init(setup: OAuthSetup, http: OutgoingHttp, clock: any SessionClock) {
        self.init(setup: setup, http: http, clock: clock, keepingFor: KeptTokens.longest, pause: .seconds(30))
    }

    init(setup: OAuthSetup, http: OutgoingHttp, clock: any SessionClock, keepingFor time: Duration, pause: Duration) {
        server = OAuthServer(setup: setup, http: http, clock: clock)
        kept = KeptTokens(for: time)
        self.pause = pause
    }

    var setup: OAuthSetup { server.setup }
    var clock: any SessionClock { server.clock }

    package func examine(
        _ credential: Credential,
        configured: (environment: String, region: String)?
    ) throws(CredentialRefused) -> CredentialFacts {
        expireKept()
        if case .device = credential {
            return CredentialFacts(scheme: .device, subject: .unnamed, awaitsApproval: true)
        }
        return CredentialFacts(scheme: try OAuthSignIn(credential).scheme, subject: .unnamed)
    }

    package func exchange(
        _ credential: Credential,
        expecting expected: Identity?
    ) async throws(ExchangeFailure) -> Grant {
        let signIn: OAuthSignIn
        do throws(CredentialRefused) {
            signIn = try OAuthSignIn(credential)
        } catch {
            throw .refused(error.reason)
        }
        do throws(SignInFailure) {
            // For whomever it is: it is told only now, and the session revokes what it does not want.
            return try await session(of: signIn, at: nil)
        } catch {
            switch error {
            case .refused(let words): throw .refused(words)
            case .unavailable(let why): throw .unavailable(why)
            }
        }
    }

    /// - Parameter origins: where the session that stands has its endpoints, if one does.
    func session(of signIn: OAuthSignIn, at origins: EndpointOrigins?) async throws(SignInFailure) -> Grant {
        let era = kept.era
        let tokens: OAuthTokens
        switch kept.grant(of: signIn.secret) {
        case .tokens(let before): tokens = before
        case .refreshToken(let left, let fixed):
            tokens = try await redeem(left, at: fixed, leftBy: signIn.secret, since: era)
        case nil: tokens = try await redeem(signIn, at: origins, of: signIn.secret, since: era)
        }
        return try await grant(tokens, of: signIn.secret, signIn.granted, since: era)
    }

    /// Goes on with the refresh token that a credential brought earlier, when no usable access token came with it.
    func redeem(
        _ refreshToken: SharedSecret,
        at origins: EndpointOrigins?,
        leftBy credential: SharedSecret,
        since era: KeptTokens.Era
    ) async throws(SignInFailure) -> OAuthTokens {
        let signIn: OAuthSignIn
        do throws(CredentialRefused) {
            signIn = try OAuthSignIn(.refreshToken(refreshToken))
        } catch {
            kept.forget(credential)
            throw .refused(error.reason)
        }
        do throws(SignInFailure) {
            return try await redeem(signIn, at: origins, of: credential, since: era)
        } catch {
            if case .refused = error { kept.forget(credential) }
            throw error
        }
    }

    private func redeem(
        _ signIn: OAuthSignIn,
        at origins: EndpointOrigins?,
        of credential: SharedSecret,
        since era: KeptTokens.Era
    ) async throws(SignInFailure) -> OAuthTokens {
        if origins == nil { await server.prepareOrigins(before: .token) }
        switch try await ask(signIn.fields(setup), at: origins) {
        case .granted(let tokens):
            notes.granted(tokens, askedFor: setup.scopes, isSignIn: true)
            return tokens
        case .unusable(let unusable):
            throw await keep(unusable, of: credential, since: era)
        case .trouble(let why):
            throw .unavailable(why)
        case .error(let error, let why):
            notes.heard(error)
            switch error {
            case .grant, .denied, .codeExpired, .badCode:
                throw .refused("\(setup.issuer.place) refused \(signIn.words) (\(error.word)): get a new one")
            // What is wrong with a subject token has no word of its own (RFC 8693 §2.2.2).
            case .unexplained(_?) where signIn.scheme == .tokenExchange:
                throw .refused("\(setup.issuer.place) refused \(signIn.words) (\(error.word)): get a new one")
            case .client, .unexplained, .pending, .slowDown, .unknown:
                throw .unavailable(why)
            }
        }
    }

    /// One form to the token endpoint.
    private func ask(
        _ fields: [FormBody.Field],
        at origins: EndpointOrigins?
    ) async throws(SignInFailure) -> OAuthReply {
        do throws(Unavailability) {
            return try await reply(to: fields, at: origins)
        } catch {
            throw .unavailable(error)
        }
    }

    func reply(
        to fields: [FormBody.Field],
        at origins: EndpointOrigins?,
        departingBy departure: Uptime? = nil
    ) async throws(Unavailability) -> OAuthReply {
        let endpoint = try await server.required(.token, at: origins)
        let (answer, sentAt) = try await server.post(fields, to: endpoint, departingBy: departure)
        return OAuthReply(answer, sentAt: sentAt, now: clock.now(), origins: origins ?? server.origins(token: endpoint))
    }
}

/// Why a sign-in brought no session.
enum SignInFailure: Error, Equatable {
    case refused(String)
    case unavailable(Unavailability)
}
