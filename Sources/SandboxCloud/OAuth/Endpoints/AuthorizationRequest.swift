import FoundationEssentials

/// What a client wants of the authorize page, once it is known where the answer goes.
struct AuthorizationRequest: Sendable {
    let client: String
    let redirectUri: String
    let state: String?
    private let form: Form

    /// Reads a request as far as the page needs it to answer the client at all.
    ///
    /// - Throws: what only the person can be told: nobody may be sent to an address that is not the client's.
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

    /// What the client asks for, where the request is all right.
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

    /// The address that takes the browser back to the client (RFC 6749 §4.1.2, RFC 9207).
    func location(_ fields: [(name: String, value: String)], issuer: String) -> String {
        let all = fields + (state.map { [(name: "state", value: $0)] } ?? []) + [(name: "iss", value: issuer)]
        return redirectUri + (redirectUri.contains("?") ? "&" : "?") + Form.text(all)
    }

    /// RFC 8252 §7.3: a client that listens on this machine does so on whichever port is free; §8.3: not by name.
    private static func isLoopback(_ uri: String) -> Bool {
        guard let parts = URLComponents(string: uri), parts.scheme == "http", parts.fragment == nil, parts.user == nil
        else { return false }
        return ["127.0.0.1", "[::1]", "::1"].contains(parts.host)
    }
}
