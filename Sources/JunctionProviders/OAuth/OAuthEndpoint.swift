import JunctionSession

/// Where a server does what; each is in its metadata (RFC 8414), or in the configuration.
enum OAuthEndpoint: CaseIterable, Sendable {
    case token
    case deviceAuthorization
    case revocation
    case userinfo
    case authorization

    /// The key of the configuration.
    var setting: String {
        switch self {
        case .token: "tokenEndpoint"
        case .deviceAuthorization: "deviceAuthorizationEndpoint"
        case .revocation: "revocationEndpoint"
        case .userinfo: "userinfoEndpoint"
        case .authorization: "authorizationEndpoint"
        }
    }

    /// What people call it.
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
    /// Where an endpoint has to be: where it was at the sign-in or, if the server named none then, at the token endpoint's
    /// origin. Nothing for the page to sign in on: no secret of a session is sent there.
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
