import JunctionSession

/// Makes a proof from the input of a caller or a session handler.
extension SinchProvider {
    /// Returns the user of a credential and its proof. `examine` has checked the credential before, so this fails only
    /// if the caller skipped `examine`.
    func read(_ credential: Credential) throws(ExchangeFailure) -> (userId: String, proof: SinchProof) {
        do throws(CredentialRefused) {
            switch credential {
            case .registration(let userId, let token?):
                return (userId, try SinchProof(token: token, for: userId, of: application))
            case .registrationSignature(let userId, let signature, let sequence):
                return (userId, try SinchProof(signature: signature, sequence: sequence))
            case .selfSigned(let userId):
                return (userId, try SinchProof(signedBy: application, for: userId, at: clock.now().wall))
            case .registration(_, nil):
                throw .incomplete("A registration needs a registration token")
            case .signInToken, .linkCode, .apiKey, .userLogin, .device, .authorizationCode, .refreshToken,
                .tokenExchange:
                throw .unsupported("Sinch has no scheme \(credential.scheme.rawValue)")
            }
        } catch {
            throw .refused(error.reason)
        }
    }

    func read(
        _ answer: RenewalAnswer,
        for identity: Identity,
        registeredBy scheme: Scheme?
    ) throws(RenewalFailure) -> (Scheme, SinchProof) {
        do throws(CredentialRefused) {
            switch answer {
            case .authToken(let token):
                return (.registration, try SinchProof(token: token, for: identity.userId, of: application))
            case .signature(let signature, let sequence):
                return (.registrationSignature, try SinchProof(signature: signature, sequence: sequence))
            case .renew where scheme == .selfSigned:
                let now = clock.now().wall
                return (.selfSigned, try SinchProof(signedBy: application, for: identity.userId, at: now))
            case .renew:
                throw .incomplete("A registration token is needed: Sinch renews a registration with nothing else")
            }
        } catch {
            if case .renew = answer, scheme == .selfSigned {
                throw .unavailable(Unavailability(error.reason))
            }
            throw .answerRefused(error.reason)
        }
    }
}
