import JunctionProtocol
import JunctionSession

extension JunctionSession.Credential {
    init(_ credential: WireCredential) {
        self =
            switch credential {
            case .signInToken(let token): .signInToken(token.box)
            case .linkCode(let code): .linkCode(code.box)
            case .apiKey(let key, let userId, let environment, let region):
                .apiKey(key: key?.box, userId: userId, environment: environment, region: region)
            case .userLogin(let userId, let displayName, let authToken):
                .userLogin(userId: userId, displayName: displayName, authToken: authToken?.box)
            case .registration(let userId, let token):
                .registration(userId: userId, token: token?.box)
            case .registrationSignature(let userId, let signature, let sequence):
                .registrationSignature(userId: userId, signature: signature.box, sequence: sequence)
            case .selfSigned(let userId): .selfSigned(userId: userId)
            case .device: .device
            case .authorizationCode(let code, let redirectUri, let codeVerifier):
                .authorizationCode(code.box, redirectUri: redirectUri, codeVerifier: codeVerifier.box)
            case .refreshToken(let token): .refreshToken(token.box)
            case .tokenExchange(let token, let type): .tokenExchange(subjectToken: token.box, subjectTokenType: type)
            }
    }
}

extension AccessToken {
    init(_ served: ServedToken) {
        self.init(
            accessToken: SecretText(served.secret),
            expiresAt: Timestamp(served.facts.expiresAt),
            userId: served.userId
        )
    }
}
