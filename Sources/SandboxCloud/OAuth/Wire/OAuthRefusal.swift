import Hummingbird

/// The names of errors, as RFC 6749 §5.2, RFC 8628 §3.5 and their kin have them.
enum OAuthError: String, Codable, Sendable {
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case unsupportedResponseType = "unsupported_response_type"
    case unsupportedTokenType = "unsupported_token_type"
    case invalidScope = "invalid_scope"
    case accessDenied = "access_denied"
    case authorizationPending = "authorization_pending"
    case slowDown = "slow_down"
    case expiredToken = "expired_token"

    /// The error with words for whoever reads the log of the client.
    func because(_ description: String) -> OAuthRefusal {
        OAuthRefusal(error: self, description: description)
    }
}

/// An answer of the OAuth server that says no.
struct OAuthRefusal: Error, Equatable, Sendable {
    let error: OAuthError
    let description: String
    /// Whether it is this very request that ended the family.
    var endsFamily = false

    /// The status that RFC 6749 §5.2 wants.
    var status: HTTPResponse.Status { error == .invalidClient ? .unauthorized : .badRequest }

    /// Its name in the counters.
    var outcome: String { endsFamily ? "family_revoked" : error.rawValue }

    var members: [String: JSONValue] {
        ["error": .string(error.rawValue), "error_description": .string(description)]
    }
}
