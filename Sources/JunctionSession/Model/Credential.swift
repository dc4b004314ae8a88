package import JunctionSecret

/// The credential of a sign-in. Its secret parts stay in their `SharedSecret`.
package enum Credential: Sendable {
    case signInToken(SharedSecret)
    case linkCode(SharedSecret)
    case apiKey(key: SharedSecret?, userId: String?, environment: String?, region: String?)
    case userLogin(userId: String, displayName: String?, authToken: SharedSecret?)
    case registration(userId: String, token: SharedSecret?)
    case registrationSignature(userId: String, signature: SharedSecret, sequence: UInt64)
    case selfSigned(userId: String)
    /// No credential: a person approves on another screen (RFC 8628).
    case device
    /// RFC 6749 §4.1, with the verifier of RFC 7636.
    case authorizationCode(SharedSecret, redirectUri: String, codeVerifier: SharedSecret)
    /// The refresh token of another tool's login, which this daemon takes over.
    case refreshToken(SharedSecret)
    /// RFC 8693. The type is a URI of its §3.
    case tokenExchange(subjectToken: SharedSecret, subjectTokenType: String)

    package var scheme: Scheme {
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

    /// The secret that the first request of a sign-in spends. `nil` if the credential may be sent again.
    package var oneTimeSecret: SharedSecret? {
        switch self {
        case .linkCode(let code): code.ofLinkCode
        case .authorizationCode(let secret, _, _), .refreshToken(let secret), .tokenExchange(let secret, _): secret
        case .signInToken, .apiKey, .userLogin, .registration, .registrationSignature, .selfSigned, .device: nil
        }
    }
}

extension SharedSecret {
    /// The link code in normal form: without spaces and dashes, in lower case. A person may write it differently, or
    /// copy it with a dash or a space that is not ASCII. A code itself is ASCII.
    package var ofLinkCode: SharedSecret {
        withUnsafeBytes { typed in
            SharedSecret(
                Secret(capacity: typed.count) { room in
                    var count = 0
                    for byte in typed where (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "-") {
                        room[count] = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
                        count += 1
                    }
                    return count
                }
            )
        }
    }
}

/// The claims of a credential, read before any request.
package struct CredentialFacts: Hashable, Sendable {
    package var scheme: Scheme
    package var subject: Subject
    /// The name of the API key in the credential, if there is one. The owner has stored the key.
    package var key: SecretRef?
    /// Whether the credential names its user without a secret, so that a session handler has to be asked.
    package var needsHandler = false
    /// Whether a person has to approve the sign-in on another screen.
    var awaitsApproval: Bool { scheme == .device }

    /// The user of a credential, as far as it can be read.
    package enum Subject: Hashable, Sendable {
        case user(Identity)
        /// The user is known only after the exchange, as with a link code.
        case unnamed
        /// A team API key without a user. It configures the installation and signs no user in.
        case nobody(environment: String, region: String)
    }

    package init(scheme: Scheme, subject: Subject, needsHandler: Bool = false) {
        self.scheme = scheme
        self.subject = subject
        self.needsHandler = needsHandler
    }
}
