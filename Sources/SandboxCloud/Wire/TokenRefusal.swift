import Hummingbird

/// The error codes of Junction, RFC 6749 §5.2 and RFC 8628 §3.5.
enum TokenError: String, Codable, Sendable {
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case unsupportedResponseType = "unsupported_response_type"
    case unsupportedTokenType = "unsupported_token_type"
    case invalidScope = "invalid_scope"
    case invalidToken = "invalid_token"
    case reauthenticationRequired = "reauthentication_required"
    case accessDenied = "access_denied"
    case authorizationPending = "authorization_pending"
    case slowDown = "slow_down"
    case expiredToken = "expired_token"

    /// Returns the error with a description for the client's log.
    func because(_ description: String, endsLogin: Bool = false) -> TokenRefusal {
        TokenRefusal(error: self, description: description, endsLogin: endsLogin)
    }
}

/// An error answer of a token endpoint.
struct TokenRefusal: Error, Equatable, Sendable {
    let error: TokenError
    let description: String
    /// Whether this request ended the login.
    let endsLogin: Bool

    /// The HTTP status of RFC 6749 §5.2.
    var status: HTTPResponse.Status { error == .invalidClient ? .unauthorized : .badRequest }

    /// The name of the outcome in the counters.
    var outcome: String { endsLogin ? "family_revoked" : error.rawValue }

    var members: [String: JSONValue] {
        ["error": .string(error.rawValue), "error_description": .string(description)]
    }
}
