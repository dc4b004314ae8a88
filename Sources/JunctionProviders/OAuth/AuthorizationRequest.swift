import JunctionText

/// The authorization request of a browser sign-in (RFC 6749 §4.1.1, RFC 7636 §4.3).
struct AuthorizationRequest: Sendable {
    var clientId: String
    var redirectUri: String
    var scopes: [String]
    var audience: String?
    var resources: [String]
    var state: String
    /// The SHA-256 of the code verifier.
    var codeChallenge: String

    /// Returns the URL of the authorization page. A query that the endpoint already has is kept.
    func url(at endpoint: HTTPURL) -> String {
        var pairs = [
            ("response_type", "code"), ("client_id", clientId), ("redirect_uri", redirectUri), ("state", state),
            ("code_challenge", codeChallenge), ("code_challenge_method", "S256"),
        ]
        if !scopes.isEmpty { pairs.append(("scope", scopes.joined(separator: " "))) }
        if let audience { pairs.append(("audience", audience)) }
        pairs += resources.map { ("resource", $0) }
        let query = pairs.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
        return endpoint.text + (endpoint.hasQuery ? "&" : "?") + query
    }
}
