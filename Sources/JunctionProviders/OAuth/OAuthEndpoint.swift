import JunctionSession

/// An endpoint of the server. Its URL comes from the metadata (RFC 8414) or from the configuration.
enum OAuthEndpoint: CaseIterable, Sendable {
    case token
    case deviceAuthorization
    case revocation
    case userinfo
    case authorization

    /// The key in the configuration.
    var setting: String {
        switch self {
        case .token: "tokenEndpoint"
        case .deviceAuthorization: "deviceAuthorizationEndpoint"
        case .revocation: "revocationEndpoint"
        case .userinfo: "userinfoEndpoint"
        case .authorization: "authorizationEndpoint"
        }
    }

    /// The name in messages.
    var words: String {
        switch self {
        case .token: "token endpoint"
        case .deviceAuthorization: "device authorization endpoint"
        case .revocation: "revocation endpoint"
        case .userinfo: "userinfo endpoint"
        case .authorization: "authorization endpoint"
        }
    }
}

extension EndpointOrigins {
    /// Whether the server named this endpoint at the sign-in.
    func names(_ endpoint: OAuthEndpoint) -> Bool {
        switch endpoint {
        case .token: true
        case .deviceAuthorization: deviceAuthorization != nil
        case .revocation: revocation != nil
        case .userinfo: userinfo != nil
        case .authorization: false
        }
    }

    /// Returns the origin that an endpoint must have: its origin at the sign-in or, if the server named no such
    /// endpoint then, the origin of the token endpoint. Returns `nil` for the authorization page, which gets no secret
    /// of a session.
    func origin(of endpoint: OAuthEndpoint) -> String? {
        switch endpoint {
        case .token: token
        case .deviceAuthorization: deviceAuthorization ?? token
        case .revocation: revocation ?? token
        case .userinfo: userinfo ?? token
        case .authorization: nil
        }
    }
}
