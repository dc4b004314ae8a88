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
    let spent = SpentToken()

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
            return try await session(of: signIn)
        } catch {
            switch error {
            case .refused(let words): throw .refused(words)
            case .unavailable(let why): throw .unavailable(why)
            }
        }
    }

    func session(of signIn: OAuthSignIn) async throws(SignInFailure) -> Grant {
        let era = kept.era
        let tokens: OAuthTokens
        if let before = kept.tokens(of: signIn.secret) {
            tokens = before
        } else {
            tokens = try await redeem(signIn)
        }
        return try await grant(tokens, of: signIn.secret, signIn.granted, since: era)
    }

    private func redeem(_ signIn: OAuthSignIn) async throws(SignInFailure) -> OAuthTokens {
        switch try await ask(signIn.fields(setup)) {
        case .granted(let tokens):
            notes.granted(tokens, askedFor: setup.scopes, isSignIn: true)
            return tokens
        case .unusable(let tokens, let words):
            await giveUp(tokens)
            throw .refused(words)
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
    func ask(_ fields: [FormBody.Field]) async throws(SignInFailure) -> OAuthReply {
        do throws(Unavailability) {
            return try await reply(to: fields)
        } catch {
            throw .unavailable(error)
        }
    }

    func reply(
        to fields: [FormBody.Field],
        departingBy departure: Uptime? = nil
    ) async throws(Unavailability) -> OAuthReply {
        let endpoint = try await server.required(.token)
        let (answer, sentAt) = try await server.post(fields, to: endpoint, departingBy: departure)
        return OAuthReply(answer, sentAt: sentAt, now: clock.now())
    }
}

/// Why a sign-in brought no session.
enum SignInFailure: Error, Equatable {
    case refused(String)
    case unavailable(Unavailability)
}
