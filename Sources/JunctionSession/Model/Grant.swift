package import JunctionSecret

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

/// A grant as the machine sees it: the user, the token's lifetime, and the name of its secrets.
package struct Granted: Hashable, Sendable {
    package var identity: Identity
    package var scheme: Scheme
    /// `nil` if the session has no bearer token (an API key).
    package var life: Life?
    package var secrets: SecretRef
    /// The reason why a renewal brought only a new refresh token. The other secrets are then the session's own.
    package var missingAccessToken: Unavailability?

    package init(
        identity: Identity,
        scheme: Scheme,
        life: Life?,
        secrets: SecretRef,
        missingAccessToken: Unavailability? = nil
    ) {
        self.identity = identity
        self.scheme = scheme
        self.life = life
        self.secrets = secrets
        self.missingAccessToken = missingAccessToken
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

/// The name of secrets that the owner keeps. The machine never sees the secrets themselves.
package struct SecretRef: Hashable, Sendable {
    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
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
