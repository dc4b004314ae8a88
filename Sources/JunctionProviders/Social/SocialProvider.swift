import JunctionSecret
package import JunctionSession

/// The provider for social.plus. The app chooses the user ids, and a session lasts 30 days.
package struct SocialProvider: IdentityProvider {
    package let name = SocialDefinition.name
    package let schemes: [Scheme: SchemeTraits] = [.userLogin: SchemeTraits()]

    let cloud: SocialCloud
    let apiKey: SharedSecret?
    let device: SocialDevice
    let http: OutgoingHTTP
    let clock: any SessionClock
    private let secureMode: SecureMode

    init(
        cloud: SocialCloud,
        apiKey: SharedSecret?,
        device: SocialDevice,
        http: OutgoingHTTP,
        clock: any SessionClock,
        memory: any ProviderMemory
    ) {
        self.cloud = cloud
        self.apiKey = apiKey
        self.device = device
        self.http = http
        self.clock = clock
        secureMode = SecureMode(of: cloud, apiKey: apiKey, remembering: memory)
    }

    package func examine(
        _ credential: Credential,
        configured: (environment: String, region: String)?
    ) throws(CredentialRefused) -> CredentialFacts {
        let login = try UserLogin(credential)
        guard apiKey != nil else { throw .misconfigured(Self.keyIsMissing) }
        return CredentialFacts(scheme: .userLogin, subject: .user(login.identity))
    }

    package func host(of credential: Credential) -> String? { cloud.api.place }

    package func exchange(
        _ credential: Credential,
        expecting expected: Identity?,
        // Unused: an exchange needs no partial grant.
        store _: PartialGrantStore
    ) async throws(ExchangeFailure) -> Grant {
        let login = try mappingRefusal(of: try UserLogin(credential), to: ExchangeFailure.refused)
        guard let apiKey else { throw .refused(Self.keyIsMissing) }
        if let expected, !login.identity.isSameUser(as: expected) { throw .otherUser(login.identity) }

        let answer = try await mappingUnavailability(
            of: await sessions.open(login, apiKey: apiKey),
            to: ExchangeFailure.unavailable
        )
        switch answer {
        case .granted(let token):
            secureMode.granted(login)
            return Grant(identity: login.identity, scheme: .userLogin, token: token, refreshToken: nil)
        case .verdict(.unauthorized):
            throw .refused("social.plus refused the user (400100): \(secureMode.refused(login))")
        case .verdict(let verdict):
            throw .terminated(code: verdict.code, message: verdict.message)
        }
    }

    package func renew(
        _ identity: Identity,
        with secrets: SessionSecrets,
        using answer: RenewalAnswer,
        // Unused: a renewal has no send deadline.
        sendingBy _: Uptime?,
        // Unused: a renewal needs no partial grant.
        store _: PartialGrantStore
    ) async throws(RenewalFailure) -> Grant {
        switch answer {
        case .renew: try await renew(identity, proving: nil, known: secrets)
        case .authToken(let token): try await renew(identity, proving: token, known: secrets)
        case .signature: throw .answerRefused("social.plus has no signature scheme: answer with an auth token")
        }
    }

    /// Ends the session at social.plus, too, if its token is still valid.
    package func revoke(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability) {
        guard let token = secrets.accessToken else { return }
        try await sessions.close(token)
    }

    /// - Parameter secrets: the session's secrets, with its access token while that is valid.
    private func renew(
        _ identity: Identity,
        proving token: SharedSecret?,
        known secrets: SessionSecrets
    ) async throws(RenewalFailure) -> Grant {
        let login = try mappingRefusal(
            of: try UserLogin(userId: identity.userId, displayName: nil, authToken: token),
            to: RenewalFailure.answerRefused
        )
        guard let apiKey else { throw .unavailable(Unavailability(Self.keyIsMissing)) }

        let answer = try await mappingUnavailability(
            of: await sessions.open(login, apiKey: apiKey),
            to: RenewalFailure.unavailable
        )
        switch answer {
        case .granted(let granted):
            secureMode.granted(login)
            return Grant(identity: identity, scheme: .userLogin, token: granted, refreshToken: nil)
        case .verdict(.unauthorized):
            try await judge(identity, knownBy: secrets, didProve: token != nil)
            throw .answerRefused(
                token != nil
                    ? "social.plus refused the session handler's auth token (400100)"
                    : "social.plus wants an auth token for this user (400100), and the renewal had none"
            )
        case .verdict(let verdict):
            throw .terminated(code: verdict.code, message: verdict.message)
        }
    }

    /// Finds out why the provider refused a renewal with 400100. That code means either a deleted user or a refused auth
    /// token, so this function requests the user with the present access token. It returns if the auth token was
    /// refused or missing, and throws if there is a verdict on the user.
    ///
    /// The provider gives the same code for an expired access token. So a refusal counts only if the token is certainly
    /// still valid.
    private func judge(
        _ identity: Identity,
        knownBy secrets: SessionSecrets,
        didProve: Bool
    ) async throws(RenewalFailure) {
        var verdict: SocialVerdict?
        if let accessToken = secrets.accessToken {
            let users = UserEndpoint(api: cloud.api, http: http, clock: clock)
            verdict = try await mappingUnavailability(
                of: await users.look(at: identity.userId, with: accessToken),
                to: RenewalFailure.unavailable
            )
            if verdict == nil, !didProve { secureMode.authTokenWasMissing() }
            let livesOn = secrets.accessTokenEndsAt.map { clock.now().uptime < $0 } ?? false
            if verdict == .unauthorized, !livesOn { verdict = nil }
        } else {
            verdict = didProve ? nil : .unauthorized
        }
        guard let verdict else { return }
        let message = verdict == .unauthorized ? secureMode.endOfSession() : verdict.message
        throw .terminated(code: verdict.code, message: message)
    }

    private var sessions: SessionsEndpoint {
        SessionsEndpoint(api: cloud.api, device: device, http: http, clock: clock)
    }

    private static let keyIsMissing =
        "social.plus's API key is missing: set social.apiKeyFile or the service manager's credential social.apiKey"
}

extension UserLogin {
    fileprivate init(_ credential: Credential) throws(CredentialRefused) {
        guard case .userLogin(let userId, let displayName, let authToken) = credential else {
            throw .unsupported("social.plus has no scheme \(credential.scheme.rawValue): use userLogin")
        }
        try self.init(userId: userId, displayName: displayName, authToken: authToken)
    }
}
