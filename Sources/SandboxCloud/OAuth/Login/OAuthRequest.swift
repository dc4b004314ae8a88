import FoundationEssentials

/// The parameters of a client's request for a grant. The user may still be unknown.
struct OAuthRequest: Codable, Sendable {
    let clientId: String
    let scopes: [String]
    let resources: [String]
    let nonce: String?
    /// The PKCE code challenge (RFC 7636).
    let challenge: String?

    init(_ form: Form, client: String, on settings: OAuthSettings) throws(TokenRefusal) {
        clientId = client
        challenge = try PKCE.challenge(in: form)
        scopes = try settings.granted(form.scopes ?? [])
        resources = form.all("resource")
        nonce = form["nonce"]
    }

    func login(of user: String, openedBy grant: GrantType, now: Date) -> Login {
        Login(
            vendor: .oauth,
            userId: user,
            clientId: clientId,
            openedBy: grant,
            openedAt: now,
            scopes: scopes,
            resources: resources
        )
    }
}
