import FoundationEssentials

/// An authorization request whose client and redirect URI are valid.
struct AuthorizationRequest: Sendable {
    let client: String
    let redirectUri: String
    let state: String?
    private let form: Form

    /// Reads the client and the redirect URI.
    ///
    /// - Throws: An error that the page shows to the user. It must not be sent to a redirect URI that is not the
    ///   client's.
    init(_ form: Form, _ clients: OAuthClients) throws(TokenRefusal) {
        let client = try form.require("client_id")
        guard clients[client] != nil else {
            throw TokenError.invalidClient.because("there is no client '\(client)'")
        }
        let redirectUri = try form.require("redirect_uri")
        guard Self.isLoopback(redirectUri) else {
            throw TokenError.invalidRequest.because(
                "redirect_uri is not http://127.0.0.1 or http://[::1] with any port"
            )
        }
        self.client = client
        self.redirectUri = redirectUri
        state = form["state"]
        self.form = form
    }

    /// Returns the parameters of the request if all of them are valid.
    func checked(on settings: OAuthSettings) throws(TokenRefusal) -> OAuthRequest {
        guard form["response_type"] == "code" else {
            throw TokenError.unsupportedResponseType.because("response_type is not 'code'")
        }
        guard !settings.unauthorizedGrants.contains(.authorizationCode) else {
            throw TokenError.unauthorizedClient.because("this client may not use the authorization code grant")
        }
        let request = try OAuthRequest(form, client: client, on: settings)
        guard request.challenge != nil else {
            throw TokenError.invalidRequest.because("code_challenge is missing: PKCE with S256 is required")
        }
        return request
    }

    /// Returns the URL that redirects the browser to the client (RFC 6749 §4.1.2, RFC 9207).
    func location(_ fields: [(name: String, value: String)], issuer: String) -> String {
        let all = fields + (state.map { [(name: "state", value: $0)] } ?? []) + [(name: "iss", value: issuer)]
        return redirectUri + (redirectUri.contains("?") ? "&" : "?") + Form.text(all)
    }

    /// Returns whether a redirect URI is on loopback. RFC 8252 §7.3 allows any port there. §8.3 advises against
    /// `localhost`.
    private static func isLoopback(_ uri: String) -> Bool {
        guard let parts = URLComponents(string: uri), parts.scheme == "http", parts.fragment == nil, parts.user == nil
        else { return false }
        return ["127.0.0.1", "[::1]", "::1"].contains(parts.host)
    }
}
