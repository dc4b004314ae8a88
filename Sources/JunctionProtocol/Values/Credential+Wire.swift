package import JunctionJSON

extension Credential: WireParams {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let scheme = try Members(value, at: "").required("scheme", Self.schemeExpectation) { value in
            Scheme.allCases.first { value.stringEquals($0.name) }
        }
        let members = try Members(
            params: value,
            allowing: scheme.members,
            because: "scheme, \(scheme.name)"
        )
        self =
            switch scheme {
            case .signInToken:
                .signInToken(try members.secret("token"))
            case .linkCode:
                .linkCode(try members.secret("code"))
            case .apiKey:
                .apiKey(
                    try members.optionalSecret("apiKey"),
                    userId: try members.optionalText("userId"),
                    environment: try members.optionalText("environment"),
                    region: try members.optionalText("region")
                )
            case .userLogin:
                .userLogin(
                    userId: try members.text("userId"),
                    displayName: try members.optionalString("displayName"),
                    authToken: try members.optionalSecret("authToken")
                )
            case .registration:
                .registration(userId: try members.text("userId"), token: try members.optionalSecret("token"))
            case .registrationSignature:
                .registrationSignature(
                    userId: try members.text("userId"),
                    signature: try members.secret("signature"),
                    sequence: try members.sequence("sequence")
                )
            case .selfSigned:
                .selfSigned(userId: try members.text("userId"))
            }
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("scheme", scheme)
            switch self {
            case .signInToken(let token):
                writer.member("token", secret: token.box)
            case .linkCode(let code):
                writer.member("code", secret: code.box)
            case .apiKey(let apiKey, let userId, let environment, let region):
                writer.member("apiKey", ifPresent: apiKey)
                writer.member("userId", ifPresent: userId)
                writer.member("environment", ifPresent: environment)
                writer.member("region", ifPresent: region)
            case .userLogin(let userId, let displayName, let authToken):
                writer.member("userId", userId)
                writer.member("displayName", ifPresent: displayName)
                writer.member("authToken", ifPresent: authToken)
            case .registration(let userId, let token):
                writer.member("userId", userId)
                writer.member("token", ifPresent: token)
            case .registrationSignature(let userId, let signature, let sequence):
                writer.member("userId", userId)
                writer.member("signature", secret: signature.box)
                writer.member("sequence", String(sequence))
            case .selfSigned(let userId):
                writer.member("userId", userId)
            }
        }
    }

    /// Every scheme there is.
    package static let schemes = Scheme.allCases.map { "\($0.name)" }

    private static let schemeExpectation = "must be one of \(schemes.joined(separator: ", "))"

    /// Every member of every scheme, for callers who think in parameters.
    package static let members: [Member] = [
        Member("scheme", .word(schemes), "decides which of the other members there are"),
        Member("token", .secret, "signInToken, registration: the token", optional: true),
        Member("code", .secret, "linkCode: its twelve characters", optional: true),
        Member("apiKey", .secret, "apiKey: the team's key", optional: true),
        Member("userId", .string, "every scheme but signInToken and linkCode: the user", optional: true),
        Member("environment", .string, "apiKey: sandbox or production", optional: true),
        Member("region", .string, "apiKey: us or eu", optional: true),
        Member("displayName", .string, "userLogin: the name that others see", optional: true),
        Member("authToken", .secret, "userLogin: where the network is in secure mode", optional: true),
        Member("signature", .secret, "registrationSignature: the signature", optional: true),
        Member("sequence", .string, "registrationSignature: a decimal string", optional: true),
    ]

    package static let schema = Schema.reference("Credential")
    static let choiceSchema = Schema.oneOf(Scheme.allCases.map { .closedObject($0.members) })
}

extension Members {
    /// The sequence number of a signature: 64 bits, as a decimal string because JSON numbers lose digits.
    package func sequence(_ name: StaticString) throws(WireMismatch) -> UInt64 {
        try required(name, "must be a string of decimal digits") { value in
            guard let text = value.string, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return UInt64(text)
        }
    }
}
