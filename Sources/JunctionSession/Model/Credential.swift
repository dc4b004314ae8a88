package import JunctionSecret

/// What a caller hands in to sign a user in. Secret parts stay in their box.
package enum Credential: Sendable {
    case signInToken(SharedSecret)
    case linkCode(SharedSecret)
    case apiKey(key: SharedSecret?, userId: String?, environment: String?, region: String?)
    case userLogin(userId: String, displayName: String?, authToken: SharedSecret?)
    case registration(userId: String, token: SharedSecret?)
    case registrationSignature(userId: String, signature: SharedSecret, sequence: UInt64)
    case selfSigned(userId: String)
    /// Nothing is brought: a person approves on another screen (RFC 8628).
    case device
    /// RFC 6749 §4.1, with the verifier of RFC 7636.
    case authorizationCode(SharedSecret, redirectUri: String, codeVerifier: SharedSecret)
    /// Another tool's login, which this daemon takes over.
    case refreshToken(SharedSecret)
    /// RFC 8693; the type is a URI of its §3.
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

    /// What is good once, and spent by the first request of a sign-in; nothing where that may be sent again.
    package var oneTimeSecret: SharedSecret? {
        switch self {
        case .linkCode(let code): code.ofLinkCode
        case .authorizationCode(let secret, _, _), .refreshToken(let secret), .tokenExchange(let secret, _): secret
        case .signInToken, .apiKey, .userLogin, .registration, .registrationSignature, .selfSigned, .device: nil
        }
    }
}

extension SharedSecret {
    /// The characters of a link code as a person may write it: without spaces and dashes, in lower case.
    package var ofLinkCode: SharedSecret {
        withUnsafeBytes { typed in
            SharedSecret(
                Secret(capacity: typed.count) { room in
                    var count = 0
                    for byte in typed where byte != UInt8(ascii: "-") && byte != 0x20 && !(0x09...0x0D).contains(byte) {
                        room[count] = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
                        count += 1
                    }
                    return count
                }
            )
        }
    }
}

/// What a credential says about itself before anything is sent anywhere.
package struct CredentialFacts: Hashable, Sendable {
    package var scheme: Scheme
    package var subject: Subject
    /// The API key that came with it, where one did: the owner has put it aside under this name.
    package var key: SecretRef?
    /// It names its user but brings nothing to sign in with: a session handler has to be asked.
    package var needsHandler = false
    /// It brings nothing yet: a person has to approve it on another screen.
    package var awaitsApproval = false

    /// Whom a credential is for, as far as it can be read.
    package enum Subject: Hashable, Sendable {
        /// It names its user.
        case user(Identity)
        /// A link code, and whatever else says whom it is for only after it has been exchanged.
        case unnamed
        /// A team API key without a user: it configures the installation and signs nobody in.
        case nobody(environment: String, region: String)
    }

    package init(scheme: Scheme, subject: Subject, needsHandler: Bool = false, awaitsApproval: Bool = false) {
        self.scheme = scheme
        self.subject = subject
        self.needsHandler = needsHandler
        self.awaitsApproval = awaitsApproval
    }
}

/// A successful exchange or renewal, as the provider granted it.
package struct Grant: Sendable {
    package var identity: Identity
    /// The scheme of the session that results (a link code results in `signInToken`).
    package var scheme: Scheme
    /// Absent where the provider's session has no bearer token (an API key), and where a renewal brought none that can be used.
    package var token: Token?
    /// Absent in a renewal's answer: the old one stays valid.
    package var refreshToken: SharedSecret?
    /// Why a renewal that brought a refresh token brought no usable access token.
    package var shortfall: Unavailability?
    package var apiKey: SharedSecret?
    /// What a renewal by an app's answer has to say of that answer (RFC 8693 §3), where the sign-in said so.
    package var subjectTokenType: String?
    /// Where the provider's endpoints are, for a session that is fixed to them from now on.
    package var endpointOrigins: EndpointOrigins?

    /// An access token and its life.
    package struct Token: Sendable {
        /// Absent where the provider's session has an end, and no bearer token.
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

/// The origins of a provider's endpoints, such as `https://id.example.com`; those that it had none of are absent.
///
/// They are fixed in the sealed record at a sign-in, and the session's secrets are sent nowhere else.
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

/// The secrets of one session. The machine never sees them; the owner keeps them beside it.
package struct SessionSecrets: Sendable {
    package var accessToken: SharedSecret?
    package var refreshToken: SharedSecret?
    package var apiKey: SharedSecret?
    /// What an app's server gives for a renewal is of this type (RFC 8693 §3), where the sign-in said so. No secret: it is
    /// kept beside what it describes.
    package var subjectTokenType: String?
    /// Where these secrets may be sent; `nil` in a record of a release that did not fix it. No secret either.
    package var endpointOrigins: EndpointOrigins?
    /// The codes of a sign-in that awaits approval. They are sealed with the session that stands, and are not its own.
    package var codes: DeviceCodes?
    /// What sign-ins that are not complete have been granted: sealed with the session that stands, and not its own.
    package var partialGrants: [PartialGrant] = []
    /// When the access token ends, by the clock that never steps: told to whoever shows it. Not stored; `nil`: nobody knows.
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
