import FoundationEssentials

/// The authorization codes (RFC 6749 §4.1, with PKCE).
struct AuthorizationCodes: Codable, Sendable {
    private struct Code: Codable {
        let request: OAuthRequest
        let user: String
        let redirectUri: String
        let expiresAt: Date
        var login: String?
    }

    /// The lifetime in seconds. A browser and a client on one machine need no more.
    static let lifetime = 60.0

    /// The codes by fingerprint.
    private var codes: [String: Code] = [:]

    mutating func open(_ request: OAuthRequest, for user: String, redirectUri: String, now: Date) -> String {
        let code = TokenText.fresh("oac_")
        codes[TokenText.fingerprint(code)] = Code(
            request: request,
            user: user,
            redirectUri: redirectUri,
            expiresAt: now + Self.lifetime
        )
        return code
    }

    func request(
        _ code: String,
        by client: String,
        redirectUri: String?,
        verifier: String?,
        now: Date
    ) throws(TokenRefusal) -> (request: OAuthRequest, user: String) {
        guard let known = codes[TokenText.fingerprint(code)], known.request.clientId == client, known.login == nil,
            now < known.expiresAt
        else { throw TokenError.invalidGrant.because("the code is unknown, used, expired or another client's") }
        guard redirectUri == known.redirectUri else {
            throw TokenError.invalidGrant.because("redirect_uri is not the one that the code was made for")
        }
        try PKCE.require(verifier, for: known.request.challenge ?? "")
        return (known.request, known.user)
    }

    /// Returns the login that a code opened before. A second use means that the code was stolen (§4.1.2).
    func login(of code: String) -> String? {
        codes[TokenText.fingerprint(code)]?.login
    }

    mutating func spend(_ code: String, login: String) {
        codes[TokenText.fingerprint(code)]?.login = login
    }
}
