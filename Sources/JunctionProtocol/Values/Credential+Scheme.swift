extension Credential {
    /// The schemes by name, with the members that each of them has.
    package enum Scheme: CaseIterable, Sendable {
        case signInToken
        case linkCode
        case apiKey
        case userLogin
        case registration
        case registrationSignature
        case selfSigned

        /// The word that decides which members the wire form has, and that a snapshot shows.
        package var name: StaticString {
            switch self {
            case .signInToken: "signInToken"
            case .linkCode: "linkCode"
            case .apiKey: "apiKey"
            case .userLogin: "userLogin"
            case .registration: "registration"
            case .registrationSignature: "registrationSignature"
            case .selfSigned: "selfSigned"
            }
        }

        var members: [Member] {
            let scheme = Member("scheme", .word(["\(name)"]), "decides which of the other members there are")
            let user = Member("userId", .string, "the user as the provider names them")
            return switch self {
            case .signInToken:
                [scheme, Member("token", .secret, "from the app's backend")]
            case .linkCode:
                [scheme, Member("code", .secret, "twelve characters")]
            case .apiKey:
                [
                    scheme,
                    Member("apiKey", .secret, "the team's key, for evaluation only", optional: true),
                    Member("userId", .string, "left out: only configures", optional: true),
                    Member("environment", .string, "sandbox or production", optional: true),
                    Member("region", .string, "us or eu", optional: true),
                ]
            case .userLogin:
                [
                    scheme, user,
                    Member("displayName", .string, "the name that others see", optional: true),
                    Member("authToken", .secret, "where the network is in secure mode", optional: true),
                ]
            case .registration:
                [scheme, user, Member("token", .secret, "left out: a session handler is asked", optional: true)]
            case .registrationSignature:
                [
                    scheme, user,
                    Member("signature", .secret, "the legacy signature"),
                    Member("sequence", .string, "the number that was signed, in decimal"),
                ]
            case .selfSigned:
                [scheme, user]
            }
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
        }
    }
}
