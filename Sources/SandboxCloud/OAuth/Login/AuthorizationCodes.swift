import FoundationEssentials

/// The codes that a browser carries from the authorize page to a client (RFC 6749 §4.1, with PKCE).
struct AuthorizationCodes: Codable, Sendable {
    private struct Code: Codable {
        let login: OAuthLogin
        let redirectUri: String
        let challenge: String
        let expiresAt: Date
        /// The family that it opened.
        var family: String?
    }

    /// Seconds: a browser and a client on one machine need no longer.
    static let lifetime = 60.0

    /// By the fingerprint of the code.
    private var codes: [String: Code] = [:]

    mutating func open(_ login: OAuthLogin, redirectUri: String, challenge: String, now: Date) -> String {
        let code = TokenText.fresh("oac_")
        codes[TokenText.fingerprint(code)] = Code(
            login: login,
            redirectUri: redirectUri,
            challenge: challenge,
            expiresAt: now + Self.lifetime
        )
        return code
    }

    /// What a code stands for.
    func login(
        _ code: String,
        by client: String,
        redirectUri: String?,
        verifier: String?,
        now: Date
    ) throws(OAuthRefusal) -> OAuthLogin {
        guard let known = codes[TokenText.fingerprint(code)], known.login.client == client, known.family == nil,
            now < known.expiresAt
        else { throw OAuthError.invalidGrant.because("the code is unknown, used, expired or another client's") }
        guard redirectUri == known.redirectUri else {
            throw OAuthError.invalidGrant.because("redirect_uri is not the one that the code was made for")
        }
        try PKCE.require(verifier, for: known.challenge)
        return known.login
    }

    /// The family that a code opened before: somebody holds a code that is not theirs (§4.1.2).
    func family(of code: String) -> String? {
        codes[TokenText.fingerprint(code)]?.family
    }

    /// The code is used from now on.
    mutating func spend(_ code: String, family: String) {
        codes[TokenText.fingerprint(code)]?.family = family
    }
}
