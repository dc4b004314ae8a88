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

/// A successful exchange or renewal, as the provider granted it.
package struct Grant: Sendable {
    package var identity: Identity
    /// The scheme of the resulting session (a link code results in `signInToken`).
    package var scheme: Scheme
    /// `nil` if the provider's session has no bearer token (an API key), or if a renewal brought no usable one.
    package var token: Token?
    /// `nil` in a renewal's answer if the old one stays valid.
    package var refreshToken: SharedSecret?
    /// The reason why a renewal that brought a refresh token brought no usable access token.
    package var missingAccessToken: Unavailability?
    package var apiKey: SharedSecret?
    /// The type of the token that an app gives for a renewal (RFC 8693 §3), if the sign-in set one.
    package var subjectTokenType: String?
    /// The origins to which the session is bound from now on.
    package var endpointOrigins: EndpointOrigins?

    package struct Token: Sendable {
        /// `nil` if the provider's session has an end but no bearer token.
        package var secret: SharedSecret?
        package var life: Life

        package init(secret: SharedSecret?, life: Life) {
            self.secret = secret
            self.life = life
        }
    }

    package init(
        identity: Identity,
        scheme: Scheme,
        token: Token?,
        refreshToken: SharedSecret?,
        apiKey: SharedSecret? = nil,
        subjectTokenType: String? = nil
    ) {
        self.identity = identity
        self.scheme = scheme
        self.token = token
        self.refreshToken = refreshToken
        self.apiKey = apiKey
        self.subjectTokenType = subjectTokenType
    }
}

/// The origins of a provider's endpoints, such as `https://id.example.com`. An origin is `nil` if the provider has no
/// such endpoint.
///
/// A sign-in fixes them in the sealed record, and the session's secrets are sent nowhere else.
package struct EndpointOrigins: Hashable, Sendable {
    package var token: String
    package var deviceAuthorization: String?
    package var revocation: String?
    package var userinfo: String?

    package init(
        token: String,
        deviceAuthorization: String? = nil,
        revocation: String? = nil,
        userinfo: String? = nil
    ) {
        self.token = token
        self.deviceAuthorization = deviceAuthorization
        self.revocation = revocation
        self.userinfo = userinfo
    }
}

/// The secrets of one session. The owner keeps them, and the machine never sees them.
package struct SessionSecrets: Sendable {
    package var accessToken: SharedSecret?
    package var refreshToken: SharedSecret?
    package var apiKey: SharedSecret?
    /// The type of the token that an app's server gives for a renewal (RFC 8693 §3), if the sign-in set one. It is not
    /// secret, and is kept beside the secret that it describes.
    package var subjectTokenType: String?
    /// The origins to which these secrets may be sent. `nil` in a record of a release that did not fix them. Not
    /// secret.
    package var endpointOrigins: EndpointOrigins?
    /// The codes of a device sign-in. They are sealed in the same record, and do not belong to the session.
    package var codes: DeviceCodes?
    /// The grants of incomplete sign-ins and renewals. They are sealed in the same record, and do not belong to the
    /// session.
    package var partialGrants: [PartialGrant] = []
    /// The end of the access token on the monotonic clock, for the provider's code that sends it. Not stored. `nil`:
    /// unknown.
    package var accessTokenEndsAt: Uptime?

    package init(
        accessToken: SharedSecret? = nil,
        refreshToken: SharedSecret? = nil,
        apiKey: SharedSecret? = nil,
        subjectTokenType: String? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.apiKey = apiKey
        self.subjectTokenType = subjectTokenType
    }
}
