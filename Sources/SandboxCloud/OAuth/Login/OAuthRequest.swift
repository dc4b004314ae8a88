import FoundationEssentials

/// What a client asks to be granted, on behalf of a user who may not be known yet.
struct OAuthRequest: Codable, Sendable {
    let clientId: String
    let scopes: [String]
    let resources: [String]
    /// What an id_token repeats for the client that asked.
    let nonce: String?
    /// What the client proves to be the same by (RFC 7636).
    let challenge: String?

    init(_ form: Form, client: String, on settings: OAuthSettings) throws(TokenRefusal) {
        clientId = client
        challenge = try PKCE.challenge(in: form)
        scopes = try settings.granted(form.scopes ?? [])
        resources = form.all("resource")
        nonce = form["nonce"]
    }

    /// The login that it becomes.
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
