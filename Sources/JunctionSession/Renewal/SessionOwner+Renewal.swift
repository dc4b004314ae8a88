/// Renewals: sends the request and handles the provider's answer.
extension SessionOwner {
    func renew(_ attempt: AttemptID, _ identity: Identity, with ref: SecretRef, using handlerSecret: SecretRef?) {
        let own = secretStore.session(ref) ?? SessionSecrets()
        var secrets = own
        secrets.accessTokenEndsAt = machine.installation.session?.endsAt
        // The provider's answer to an expired token says nothing about the user.
        if let end = secrets.accessTokenEndsAt, end <= now.uptime { secrets.accessToken = nil }
        let answer = secretStore.answer(handlerSecret) ?? .renew
        let (shown, sendDeadline) = (secrets, machine.renewal.sendDeadline)
        let store = partialGrantStore(attempt, of: answer.authToken)
        observer.reached(.intentNoted)
        start { owner in
            do throws(RenewalFailure) {
                let grant = try await owner.provider.renew(
                    identity,
                    with: shown,
                    using: answer,
                    sendingBy: sendDeadline,
                    store: store
                )
                owner.observer.reached(.answered)
                // Another user's grant gets none of this session's secrets, because the daemon may revoke it.
                let isOfUser = grant.identity.isSameUser(as: identity)
                owner.renewed(attempt, grant, keeping: isOfUser ? own : SessionSecrets())
            } catch {
                owner.handle { $0.renewalFailed(attempt, error, now: $1) }
            }
        }
    }

    func checkRegistration(_ attempt: AttemptID, _ identity: Identity, with ref: SecretRef) {
        let secrets = secretStore.session(ref) ?? SessionSecrets()
        start { owner in
            let isKnown = try? await owner.provider.knows(identity, with: secrets)
            owner.handle { $0.registrationChecked(attempt, isKnown: isKnown, now: $1) }
        }
    }

    private func renewed(_ attempt: AttemptID, _ grant: Grant, keeping own: SessionSecrets) {
        guard grant.token != nil else { return succeededWithoutAccessToken(attempt, grant, keeping: own) }
        var grant = grant
        // An answer without a refresh token keeps the old one (RFC 6749 §6).
        grant.refreshToken = grant.refreshToken ?? own.refreshToken
        grant.subjectTokenType = grant.subjectTokenType ?? own.subjectTokenType
        // The origins of the sign-in stay. A record of an earlier release has none until its first renewal.
        grant.endpointOrigins = own.endpointOrigins ?? grant.endpointOrigins
        let granted = put(grant)
        handle { $0.renewalSucceeded(attempt, granted, now: $1) }
    }

    /// Handles an answer without a usable access token. Its refresh token replaces the session's own. Without a refresh
    /// token, the effect at the provider is unknown.
    private func succeededWithoutAccessToken(_ attempt: AttemptID, _ grant: Grant, keeping own: SessionSecrets) {
        var failure =
            grant.missingAccessToken ?? Unavailability("The provider's answer to the renewal holds no access token")
        guard let refreshToken = grant.refreshToken else {
            failure.ambiguous = true
            return handle { $0.renewalFailed(attempt, .unavailable(failure), now: $1) }
        }
        var secrets = own
        secrets.refreshToken = refreshToken
        let granted = Granted(
            identity: grant.identity,
            scheme: grant.scheme,
            life: nil,
            secrets: secretStore.put(.session(secrets)),
            missingAccessToken: failure
        )
        handle { $0.renewalSucceeded(attempt, granted, now: $1) }
    }

    /// Stores the secrets of a grant, and returns the grant as the machine sees it.
    func put(_ grant: Grant) -> Granted {
        var secrets = SessionSecrets(
            accessToken: grant.token?.secret,
            refreshToken: grant.refreshToken,
            apiKey: grant.apiKey,
            subjectTokenType: grant.subjectTokenType
        )
        secrets.endpointOrigins = grant.endpointOrigins
        return Granted(
            identity: grant.identity,
            scheme: grant.scheme,
            life: grant.token?.life,
            secrets: secretStore.put(.session(secrets))
        )
    }
}
