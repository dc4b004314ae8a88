package import JunctionSession
import RegistrationToken

/// The provider for Sinch. The daemon registers a user on this device with a proof of the app's own server.
package struct SinchProvider: IdentityProvider {
    package let name = SinchDefinition.name
    package let schemes: [Scheme: SchemeTraits] = [
        .registration: SchemeTraits(asksApps: .always, mayBeForgotten: true),
        .registrationSignature: SchemeTraits(asksApps: .always, mayBeForgotten: true),
        .selfSigned: SchemeTraits(asksApps: .never, mayBeForgotten: true),
    ]

    let cloud: SinchCloud
    let application: SinchApplication
    /// The id of this installation, on which users register.
    let deviceId: String
    let http: OutgoingHTTP
    let clock: any SessionClock
    let memory: any ProviderMemory
    private let forgotten = ForgottenInstance()

    package func examine(
        _ credential: Credential,
        configured: (environment: String, region: String)?
    ) throws(CredentialRefused) -> CredentialFacts {
        let userId: String
        var needsHandler = false
        switch credential {
        case .registration(let user, let token?):
            userId = user
            _ = try SinchProof(token: token, for: user, of: application)
        case .registration(let user, nil):
            userId = user
            needsHandler = true
        case .registrationSignature(let user, let signature, let sequence):
            userId = user
            _ = try SinchProof(signature: signature, sequence: sequence)
        case .selfSigned(let user):
            userId = user
            guard application.secret != nil else { throw .incomplete(SinchProof.secretIsMissing) }
        case .signInToken, .linkCode, .apiKey, .userLogin, .device, .authorizationCode, .refreshToken, .tokenExchange:
            throw .unsupported(
                "Sinch has no scheme \(credential.scheme.rawValue): use registration, registrationSignature or selfSigned"
            )
        }
        guard RegistrationToken.isUserId(userId) else {
            throw .misdescribed("The user id must have 1 to 40 printable ASCII characters, without spaces")
        }
        return CredentialFacts(
            scheme: credential.scheme,
            subject: .user(Identity(userId: userId)),
            needsHandler: needsHandler
        )
    }

    package func host(of credential: Credential) -> String? { cloud.registration.place }

    package func exchange(
        _ credential: Credential,
        expecting expected: Identity?,
        // Unused: an exchange needs no partial grant.
        store _: PartialGrantStore
    ) async throws(ExchangeFailure) -> Grant {
        let (userId, proof) = try read(credential)
        let identity = Identity(userId: userId)
        if let expected, !identity.isSameUser(as: expected) { throw .otherUser(identity) }
        if let fault = proof.fault(at: clock.now().wall) { throw .refused(fault) }

        do throws(InstanceEndpoint.Failure) {
            let instance = try await register(userId, proving: proof, extending: nil)
            return grant(identity, credential.scheme, instance, proof, after: nil)
        } catch {
            switch error {
            case .refused, .forgotten: throw .refused(proof.refusal)
            case .spent(let reason): throw .refused(reason)
            case .unavailable(let why): throw .unavailable(why)
            }
        }
    }

    package func renew(
        _ identity: Identity,
        with secrets: SessionSecrets,
        using answer: RenewalAnswer,
        // Unused: a proof has no send deadline.
        sendingBy _: Uptime?,
        // Unused: a renewal needs no partial grant.
        store _: PartialGrantStore
    ) async throws(RenewalFailure) -> Grant {
        let registration = secrets.registration
        let (scheme, proof) = try read(answer, for: identity, registeredBy: registration?.scheme)
        if let fault = proof.fault(at: clock.now().wall) { throw .answerRefused(fault) }

        let instanceId = forgotten.known(registration?.instanceId)
        do throws(InstanceEndpoint.Failure) {
            let instance = try await register(identity.userId, proving: proof, extending: instanceId)
            return grant(identity, scheme, instance, proof, after: registration)
        } catch {
            switch error {
            case .forgotten:
                // A request without an instance id was refused as a registration, so no instance was forgotten by it.
                if let instanceId { forgotten.remember(instanceId) }
                throw .registrationForgotten
            case .refused where scheme == .selfSigned:
                // No session handler has a better answer, but a corrected clock or file helps.
                throw .unavailable(Unavailability("\(proof.refusal) (self-signed): check the clock and the secret"))
            case .refused:
                throw .answerRefused(proof.refusal)
            case .spent(let reason):
                throw .answerRefused(reason)
            case .unavailable(let why):
                throw .unavailable(why)
            }
        }
    }

    /// Checks the registration. If the service no longer knows the instance, the next registration asks for a new one.
    package func knows(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability) -> Bool {
        guard let registration = secrets.registration else { return true }
        let isKnown = try await endpoint.knows(registration.instanceId, credential: secrets.accessToken)
        if !isKnown { forgotten.remember(registration.instanceId) }
        return isKnown
    }

    /// Removes the registration at Sinch, too.
    package func revoke(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability) {
        guard let registration = secrets.registration else { return }
        try await endpoint.delete(registration.instanceId, credential: secrets.accessToken)
    }

    var endpoint: InstanceEndpoint {
        InstanceEndpoint(cloud: cloud, application: application, deviceId: deviceId, http: http, clock: clock)
    }
}
