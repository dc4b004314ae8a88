extension Credential {
    /// The schemes, with their members. The word on the wire determines the members. A snapshot also shows it.
    package enum Scheme: String, CaseIterable, Sendable {
        case signInToken
        case linkCode
        case apiKey
        case userLogin
        case registration
        case registrationSignature
        case selfSigned
        case device
        case authorizationCode
        case refreshToken
        case tokenExchange

        /// All members of the scheme's wire form.
        var members: [Member] {
            [Member("scheme", .word([rawValue]), "decides which of the other members there are")] + fields.members
        }

        /// The members in addition to the scheme's name. They read, write and describe a credential.
        var fields: Fields<Credential> {
            switch self {
            case .signInToken:
                Fields(of: Credential.signInToken, Field("token", .secret, "from the app's backend")) {
                    if case .signInToken(let token) = $0 { token } else { nil }
                }
            case .linkCode:
                Fields(of: Credential.linkCode, Field("code", .secret, "twelve characters")) {
                    if case .linkCode(let code) = $0 { code } else { nil }
                }
            case .apiKey:
                Fields(
                    of: Credential.apiKey,
                    Field("apiKey", ifPresent: .secret, "the team's key, for evaluation only"),
                    Field("userId", ifPresent: .name, "left out: only configures"),
                    Field("environment", ifPresent: .name, "sandbox or production"),
                    Field("region", ifPresent: .name, "us or eu")
                ) {
                    if case .apiKey(let key, let userId, let environment, let region) = $0 {
                        (key, userId, environment, region)
                    } else {
                        nil
                    }
                }
            case .userLogin:
                Fields(
                    of: Credential.userLogin,
                    Self.user,
                    Field("displayName", ifPresent: .anyName, "the name that others see"),
                    Field("authToken", ifPresent: .secret, "where the network is in secure mode")
                ) {
                    if case .userLogin(let userId, let name, let token) = $0 { (userId, name, token) } else { nil }
                }
            case .registration:
                Fields(
                    of: Credential.registration,
                    Self.user,
                    Field("token", ifPresent: .secret, "left out: a session handler is asked")
                ) {
                    if case .registration(let userId, let token) = $0 { (userId, token) } else { nil }
                }
            case .registrationSignature:
                Fields(
                    of: Credential.registrationSignature,
                    Self.user,
                    Field("signature", .secret, "the legacy signature"),
                    Field("sequence", .decimal, "the number that was signed, in decimal")
                ) {
                    if case .registrationSignature(let userId, let signature, let sequence) = $0 {
                        (userId, signature, sequence)
                    } else {
                        nil
                    }
                }
            case .selfSigned:
                Fields(of: Credential.selfSigned, Self.user) {
                    if case .selfSigned(let userId) = $0 { userId } else { nil }
                }
            case .device:
                Fields { Credential.device }
            case .authorizationCode:
                Fields(
                    of: Credential.authorizationCode,
                    Field("code", .secret, "what the browser brought back"),
                    Field("redirectUri", .name, "where it came back to, as in the request"),
                    Field("codeVerifier", .secret, "of RFC 7636")
                ) {
                    if case .authorizationCode(let code, let uri, let verifier) = $0 {
                        (code, uri, verifier)
                    } else {
                        nil
                    }
                }
            case .refreshToken:
                Fields(of: Credential.refreshToken, Field("refreshToken", .secret, "of another tool's login")) {
                    if case .refreshToken(let token) = $0 { token } else { nil }
                }
            case .tokenExchange:
                Fields(
                    of: Credential.tokenExchange,
                    Field("subjectToken", .secret, "somebody else's token for the user"),
                    Field("subjectTokenType", .name, "a URI of RFC 8693 §3")
                ) {
                    if case .tokenExchange(let token, let type) = $0 { (token, type) } else { nil }
                }
            }
        }

        private static var user: Field<String, String> {
            Field("userId", .name, "the user as the provider names them")
        }
    }

    var kind: Scheme {
        switch self {
        case .signInToken: .signInToken
        case .linkCode: .linkCode
        case .apiKey: .apiKey
        case .userLogin: .userLogin
        case .registration: .registration
        case .registrationSignature: .registrationSignature
        case .selfSigned: .selfSigned
        case .device: .device
        case .authorizationCode: .authorizationCode
        case .refreshToken: .refreshToken
        case .tokenExchange: .tokenExchange
        }
    }
}
